"""Figures of `proxid bench stream`, one record at a time: mode mix next to Algorithm 4 of 002 written plainly.

CPU time on one core, the least of a few runs each, alternating. Moving up is off where the two are compared, since the
plain algorithm has nothing of the kind and holds what is rare; with the defaults of DESIGN 16 it is shown beside.
"""

import time
import tracemalloc
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from itertools import starmap
from typing import Any

from bench import Figure
from bench.yardsticks import load_baseline
from proxid.anonymise.mix.batch import MixStream
from proxid.anonymise.mix.pool import Pool
from proxid.anonymise.mix.settings import Settings
from proxid.anonymise.mix.types import Record

REACH = {3: 1.7, 10: None, 30: None, 190: 15.0}
LEVEL = 1
SEED = bytes(32)

Row = tuple[str, str, str]


def run(options: Mapping[str, str]) -> dict[str, Figure]:
    """Measure; options: `records` (300000), `users` (5000), `repeat` (3)."""
    records = int(options.get("records", 300_000))
    users, repeat = int(options.get("users", 5_000)), int(options.get("repeat", 3))
    rows = load_baseline("synthetic_stream").make(records, users, 1).strings()
    return per_record_figures(rows, repeat) | waiting_figures(rows) | pool_figures(rows)


def per_record_figures(rows: list[Row], repeat: int) -> dict[str, Figure]:
    """Speed at each k as a ratio to the plain algorithm, without and with moving up."""
    plain = load_baseline("plain_anonymiser").Plain
    figures: dict[str, Figure] = {}
    for k, reach in REACH.items():
        still = Settings(k=k, level=LEVEL, max_delay_records=None, max_delay_s=None, person_cap=None)
        moves = Settings(k=k, level=LEVEL)
        makers = partial(plain, k, LEVEL), partial(MixStream, still, SEED), partial(MixStream, moves, SEED)
        seconds = _least(repeat, makers, rows)
        base, alone, moving = (len(rows) / s for s in seconds)
        baseline = f"plain Algorithm 4: {base:,.0f} records/s, {len(rows)} records, level {LEVEL}, one core"
        figures[f"per_record_ratio_k{k}"] = {"value": alone / base, "unit": "x", "baseline": baseline, "reach": reach}
        figures[f"per_record_per_s_k{k}"] = {"value": alone, "unit": "records/s", "baseline": baseline}
        figures[f"per_record_moving_ratio_k{k}"] = {
            "value": moving / base,
            "unit": "x",
            "baseline": f"the same, with moving up after {Settings().max_delay_records} records and the cap",
        }
    return figures


def waiting_figures(rows: list[Row]) -> dict[str, Figure]:
    """Bytes that the mix holds for each waiting record, beside the record's own strings."""
    settings = Settings(k=190, level=LEVEL, max_delay_records=None, max_delay_s=None, person_cap=None)
    tracemalloc.start()
    stream = MixStream(settings, SEED)
    before = tracemalloc.get_traced_memory()[0]
    released = _feed(stream, rows)
    held = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    waiting = len(rows) - released
    what = f"{waiting} of {len(rows)} records waiting at k=190, level {LEVEL}; the record's own strings are not counted"
    return {"bytes_per_waiting_record": {"value": held / waiting, "unit": "bytes", "baseline": what}}


def pool_figures(rows: list[Row]) -> dict[str, Figure]:
    """Records a second through the whole pool (ids, repeats, cap, moving up), with the ladder off and on."""
    figures: dict[str, Figure] = {}
    for name, ladder in (("off", False), ("on", True)):
        records = [_record(i, row, ladder) for i, row in enumerate(rows)]
        pool = Pool(Settings(level=LEVEL))
        begin = time.process_time()
        for record in records:
            pool.submit(record)
            pool.tick(record.time)
        figures[f"pool_per_s_ladder_{name}"] = {
            "value": len(rows) / (time.process_time() - begin),
            "unit": "records/s",
            "baseline": f"defaults, k=10, level {LEVEL}, one core; digests made beforehand",
        }
    return figures


def _record(i: int, row: Row, ladder: bool) -> Record:
    user, query, category = row
    units = (sha256(query.encode()).digest()[:16],) if ladder else ()
    return Record(i.to_bytes(8, "big"), user, True, "all", tuple(category.split("/")), units, 0.0)


def _feed(anonymiser: Any, rows: Iterable[Row]) -> int:
    return sum(map(len, starmap(anonymiser.feed, rows)))


def _least(repeat: int, makers: Sequence[Callable[[], Any]], rows: list[Row]) -> list[float]:
    """The least CPU seconds that a new anonymiser of each maker takes."""
    seconds = [float("inf")] * len(makers)
    for _ in range(repeat):
        for i, make in enumerate(makers):
            anonymiser = make()
            begin = time.process_time()
            _feed(anonymiser, rows)
            seconds[i] = min(seconds[i], time.process_time() - begin)
    return seconds
