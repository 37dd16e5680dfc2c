"""CPU time and memory of the anonymisers and the attackers (figures 3.8, 4.12-4.15, 4.17-4.19).

Time is CPU time of this process over records read, on columns in pieces; memory is the state's bytes where it is
largest. `record_cost` times the same mechanism one record at a time in plain Python, nearer to what the thesis timed.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

from proxid.anonymise.mix.cycle import CycleSource
from proxid.anonymise.mix.pairs import release_pairs
from proxid.anonymise.mix.pool import Pool
from proxid.anonymise.mix.settings import Settings
from proxid.anonymise.mix.types import Record
from proxid.lab.attacks.base import Observed
from proxid.lab.attacks.buffered import RULES, BufferedAttacker
from proxid.lab.columns.engines import MixEngine, ThesisEngine
from proxid.lab.columns.released import Released
from proxid.lab.logs import Dictionaries, LogBatch
from proxid.lab.released_log import Release
from proxid.lab.studies.thesis.plan import Cell
from proxid.lab.thesis.algorithm2 import Thesis3
from proxid.lab.thesis.algorithm4 import Thesis

PIECE = 1 << 14
SAMPLE = 20_000


@dataclass(slots=True)
class Cost:
    """CPU seconds, records, the most bytes held, what was given up."""

    seconds: float = 0.0
    records: int = 0
    most_bytes: int = 0
    suppressed: dict[str, int] | None = None

    def as_dict(self) -> dict[str, float]:
        """For JSON."""
        return {"us": 1e6 * self.seconds / max(self.records, 1), "most_bytes": self.most_bytes}


def feed_timed(engine: MixEngine | ThesisEngine, batch: LogBatch) -> tuple[list[Released], Cost]:
    """Feed a log in pieces; what left, and what it cost."""
    parts, cost = [], Cost(records=len(batch))
    for begin in range(0, len(batch), PIECE):
        piece = batch.take(slice(begin, begin + PIECE))
        started = time.process_time()
        parts.append(engine.feed(piece))
        cost.seconds += time.process_time() - started
        cost.most_bytes = max(cost.most_bytes, engine.nbytes)
    parts.append(engine.finish())
    cost.suppressed = dict(engine.suppressed)
    return parts, cost


def attacker_costs(release: Release, seed: int) -> dict[str, dict[str, float]]:
    """The papers' seven attackers on a release."""
    seen = Observed.of(release.released, release.node)
    found = {}
    for name in RULES:
        attacker = BufferedAttacker(name, k=release.mechanism.k, seed=seed, delta=release.mechanism.delta)
        cost = Cost(records=len(seen))
        for begin in range(0, len(seen), PIECE):
            piece = seen.slice(begin, begin + PIECE)
            started = time.process_time()
            attacker.feed(piece)
            cost.seconds += time.process_time() - started
            cost.most_bytes = max(cost.most_bytes, attacker.nbytes)
        found[name] = cost.as_dict()
    return found


def record_cost(batch: LogBatch, dictionaries: Dictionaries, cell: Cell, seed: int) -> float:
    """Microseconds a record, one at a time, on the first records of the log, the buffers filled by as many before."""
    part = batch.take(slice(0, 2 * SAMPLE))
    columns = (part.user, part.query, part.category)
    names = (dictionaries.user, dictionaries.query, dictionaries.category)
    records = list(zip(*(table.decode(codes) for table, codes in zip(names, columns, strict=True)), strict=True))
    feed = _feeder(cell, seed)
    half = len(records) // 2
    for user, query, category in records[:half]:
        feed(user, query, category)
    started = time.process_time()
    for user, query, category in records[half:]:
        feed(user, query, category)
    return 1e6 * (time.process_time() - started) / max(len(records) - half, 1)


def _feeder(cell: Cell, seed: int) -> Any:
    source = random.Random(seed)  # noqa: S311 (an experiment, reproducible on purpose)
    if cell.mode == "thesis":
        return Thesis(cell.k, cell.level, source).feed
    if cell.mode == "thesis3":
        return Thesis3(cell.k, cell.level, source).feed
    return _pool_feeder(Settings(k=cell.k, level=cell.level), seed)


def _pool_feeder(settings: Settings, seed: int) -> Callable[[str, str, str], None]:
    """Mode mix as a service runs it: the pool, and the pairs of each group drawn from the epoch's seed."""
    pool, source, numbers = Pool(settings), CycleSource(seed.to_bytes(32, "big")), count()

    def feed(user: str, query: str, category: str) -> None:
        record = Record(next(numbers).to_bytes(8, "big"), user, True, "all", tuple(category.split("/")), (), 0.0)
        for group in (*pool.submit(record).groups, *pool.tick(0.0).groups):
            release_pairs(group, source, settings)

    return feed
