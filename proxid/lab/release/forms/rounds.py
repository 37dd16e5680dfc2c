"""The form `split` on a log: the library's pool, epoch by epoch, and which record stands in which round (DESIGN 8.11).

People of a file are all seasoned, and there is one audience. Rows of the result refer to the batch.
"""

import hashlib
import math
import secrets
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

from proxid.anonymise.mix.cycle import SEED_BYTES
from proxid.anonymise.split.draws import Draws
from proxid.anonymise.split.pool import SplitPool
from proxid.anonymise.split.rounds import deal
from proxid.anonymise.split.settings import SplitSettings
from proxid.anonymise.split.types import Contents, Leaving, Node, SplitRecord
from proxid.lab.logs import CategoryTree, LogBatch
from proxid.lab.logs.jit import Codes, Flags, Longs, Reals
from proxid.lab.release.forms.visible import TextsOf

AUDIENCE = "all"
NO_ROUND = -1


@dataclass(frozen=True, slots=True)
class Entries:
    """The people feed, a column each: row of the batch, node of the tree, start of the bucket, number of the round.

    A round is numbered through the log; NO_ROUND: the entry was raised, or its content is withheld. left: Unix seconds
    of the tick that it left at; contents follow when the epoch closes.
    """

    row: Longs
    node: Codes
    bucket: Reals
    round: Longs
    raised: Flags
    left: Reals

    def __len__(self) -> int:
        return len(self.row)


@dataclass(slots=True)
class SplitRelease:
    """entries: in order of the feed. contents: of each epoch, by its start in Unix seconds. suppressed: by reason."""

    entries: Entries
    contents: list[tuple[float, Contents]]
    suppressed: Counter[str] = field(default_factory=Counter)


def epoch_seeds(seed: int | None) -> Callable[[int], bytes]:
    """The seed of each epoch: fresh and secret, or derived from the given one for experiments."""
    if seed is None:
        return lambda epoch: secrets.token_bytes(SEED_BYTES)
    return lambda epoch: hashlib.sha256(f"proxid lab split {seed} {epoch}".encode()).digest()


def split_log(
    batch: LogBatch, tree: CategoryTree, settings: SplitSettings, texts_of: TextsOf, seed: int | None = None
) -> SplitRelease:
    """Release a log in the form `split`.

    Args:
        batch: in order of time; records without a time count as of the first.
    """
    time = np.nan_to_num(batch.time, nan=float(np.nanmin(batch.time)) if len(batch) else 0.0)
    epoch = np.floor(time / settings.epoch_s).astype(np.int64)
    run, seeds = _Run(batch, tree, settings, texts_of), epoch_seeds(seed)
    for number, rows in groupby(np.argsort(epoch, kind="stable").tolist(), lambda row: int(epoch[row])):
        run.epoch(number, list(rows), time, Draws(seeds(number)))
    return run.released()


class _Run:
    """A release under way."""

    def __init__(self, batch: LogBatch, tree: CategoryTree, settings: SplitSettings, texts_of: TextsOf) -> None:
        self.batch, self.settings, self.texts_of = batch, settings, texts_of
        self.tree, self.paths = tree, dict[int, Node]()
        self.parts: list[tuple[int, int, float, int, bool, float]] = []
        self.contents: list[tuple[float, Contents]] = []
        self.suppressed: Counter[str] = Counter()
        self.rounds = 0

    def epoch(self, number: int, rows: list[int], time: Reals, draws: Draws) -> None:
        """Every record of one epoch through a pool of its own."""
        pool, start = SplitPool(self.settings, draws), float(number * self.settings.epoch_s)
        left: list[tuple[Leaving, float]] = []
        ticked = 0
        for row in rows:
            due = self.settings.tick(float(time[row]) - start)
            if due > ticked:
                left += [(gone, start + due * self.settings.bucket_s) for gone in pool.tick(due).get(AUDIENCE, [])]
                ticked = due
            if (record := self._record(row)) is not None:
                pool.submit(record)
        for _, done in pool.close():
            left += [(gone, start + self.settings.epoch_s) for gone in done.leaving]
            self.suppressed.update(gone.reason.value for gone in done.suppressed)
            self.contents.append((start, done.contents))
        self._take(left, time, draws)

    def _record(self, row: int) -> SplitRecord | None:
        path = self._path(int(self.batch.category[row]))
        if not path:
            self.suppressed["no_category"] += 1
            return None
        texts = self.texts_of(int(self.batch.query[row]))
        return SplitRecord(row.to_bytes(8, "big"), str(self.batch.user[row]), AUDIENCE, path, texts)

    def _path(self, node: int) -> Node:
        if node not in self.paths:
            self.paths[node] = tuple(part for part in self.tree.paths[max(node, 0)].split("/") if part)
        return self.paths[node]

    def _take(self, left: list[tuple[Leaving, float]], time: Reals, draws: Draws) -> None:
        nodes: dict[Node, list[SplitRecord]] = defaultdict(list)
        for leaving, _ in left:
            if len(leaving.node) == self.settings.level and not leaving.raised:
                nodes[leaving.node].append(leaving.record)
        in_round: dict[bytes, int] = {}
        for node in sorted(nodes):
            for one in deal(nodes[node], self.settings, draws)[0]:
                in_round.update((record.id, self.rounds) for record in one)
                self.rounds += 1
        for leaving, when in sorted(left, key=lambda gone: draws.entry(gone[0].record.id)):
            row = int.from_bytes(leaving.record.id, "big")
            shown, bucket = self.tree.add("/".join(leaving.node)), float(self.settings.bucket(float(time[row])))
            at = in_round.get(leaving.record.id, NO_ROUND)
            self.parts.append((row, shown, bucket, at, leaving.raised, when))

    def released(self) -> SplitRelease:
        """What was released of all epochs."""
        row, node, bucket, at, raised, left = zip(*self.parts, strict=True) if self.parts else [()] * 6
        entries = Entries(
            np.array(row, np.int64),
            np.array(node, np.int32),
            np.array(bucket, np.float64),
            np.array(at, np.int64),
            np.array(raised, np.bool_),
            np.array(left, np.float64),
        )
        return SplitRelease(entries, self.contents, self.suppressed)


def split_settings(options: dict[str, object], bucket: float, epoch: float) -> SplitSettings:
    """The settings that a method's options ask for. Raises ConfigError; buckets and epochs are whole seconds."""
    return SplitSettings(
        k=int(str(options["k"])),
        margin=int(str(options["margin"])),
        level=int(str(options["level"])),
        min_text_users=int(str(options["min_text_users"])),
        max_share=float(str(options["max_share"])),
        bucket_s=math.ceil(bucket),
        epoch_s=math.ceil(epoch),
    )
