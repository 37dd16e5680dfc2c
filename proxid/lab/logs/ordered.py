"""A log in order of time, whatever the order of its file (AOL's files are in order of users; 002 §3.4.2.2).

The mechanisms work on streams: what matters is who came when. A file in disorder is sorted on disk: runs of codes,
each sorted, then merged block by block; the texts stay in the dictionaries. Records without a time keep the time of
the record before them.
"""

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import fields
from itertools import chain
from pathlib import Path
from typing import Final

import numpy as np

from proxid.lab.logs.base import LogReader
from proxid.lab.logs.batch import LogBatch
from proxid.lab.logs.jit import Reals
from proxid.lab.logs.whole import write_errors

_RUN: Final = 1 << 20
"""Records of a run, sorted in memory."""
_DISORDER: Final = 0.001
"""Share of steps back in time in the first batches from which on a file counts as not in order of time."""
_SAMPLE: Final = 200_000


class Ordered:
    """Batches of a log; `steps_back` counts the records whose time is before the one before them.

    `holds_codes`: records were read that have not been given out, so texts must not be numbered anew.
    """

    def __init__(
        self, batches: Iterator[LogBatch] | LogReader, *, head: Sequence[LogBatch] = (), sorted_here: bool = False
    ) -> None:
        self._batches, self._head, self.sorted_here = batches, head, sorted_here
        self.steps_back, self._last = 0, -np.inf
        self.holds_codes = sorted_here or bool(head)

    def __iter__(self) -> Iterator[LogBatch]:
        yield from self._noted(self._head)
        self._head, self.holds_codes = (), self.sorted_here
        yield from self._noted(self._batches)

    def _noted(self, batches: Iterable[LogBatch]) -> Iterator[LogBatch]:
        for batch in batches:
            time = batch.time[~np.isnan(batch.time)]
            if len(time):
                self.steps_back += int((np.diff(time, prepend=self._last) < 0).sum())
                self._last = float(time[-1])
            yield batch


def in_time_order(log: LogReader, order: str, stack: ExitStack) -> Ordered:
    """A log in order of time: `time` sorts, `auto` sorts where the first records are out of order.

    The temporary files live until the stack closes.
    """
    batches = iter(log)
    head: list[LogBatch] = []
    if order == "auto":
        while sum(map(len, head)) < _SAMPLE and (batch := next(batches, None)) is not None:
            head.append(batch)
        if not _is_disordered(head):
            return Ordered(batches, head=head)
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="proxid-sort-")))
    return Ordered(_merged(_write_runs(chain(head, batches), folder)), sorted_here=True)


def _is_disordered(head: list[LogBatch]) -> bool:
    time = np.concatenate([batch.time for batch in head]) if head else np.empty(0)
    time = time[~np.isnan(time)]
    return bool((np.diff(time) < 0).sum() > _DISORDER * len(time))


def _write_runs(batches: Iterator[LogBatch], folder: Path) -> list[dict[str, np.memmap]]:
    """Sorted runs on disk, a file a column."""
    runs: list[dict[str, np.memmap]] = []
    held: list[LogBatch] = []
    last = 0.0

    def flush() -> None:
        nonlocal last
        batch = LogBatch.concatenate(held)
        held.clear()
        key = _filled(batch.time, last)
        last = float(key[-1])
        chosen = np.argsort(key, kind="stable")
        run = {"key": _save(folder / f"{len(runs)}.key", key[chosen])}
        for f in fields(batch):
            run[f.name] = _save(folder / f"{len(runs)}.{f.name}", getattr(batch, f.name)[chosen])
        runs.append(run)

    for batch in batches:
        held.append(batch)
        if sum(map(len, held)) >= _RUN:
            flush()
    if held:
        flush()
    return runs


def _filled(time: Reals, last: float) -> Reals:
    """Times with the missing ones set to the time before them."""
    known = ~np.isnan(time)
    at = np.maximum.accumulate(np.where(known, np.arange(len(time)), -1))
    return np.where(at >= 0, time[np.maximum(at, 0)], last)


def _save(path: Path, column: np.ndarray) -> np.memmap:
    with write_errors():
        column.tofile(path)
    return np.memmap(path, column.dtype, "r", shape=column.shape)


def _merged(runs: list[dict[str, np.memmap]]) -> Iterator[LogBatch]:
    """Records of all runs by time, ties in the order of the file: everything up to the earliest block's end at once."""
    step = max(1024, _RUN // max(1, len(runs)) // 8)
    at = [0] * len(runs)
    while True:
        live = [i for i, run in enumerate(runs) if at[i] < len(run["key"])]
        if not live:
            return
        limit = min(runs[i]["key"][min(at[i] + step, len(runs[i]["key"])) - 1] for i in live)
        cuts = {i: int(np.searchsorted(runs[i]["key"], limit, "right")) for i in live}
        keys = np.concatenate([runs[i]["key"][at[i] : cuts[i]] for i in live])
        order = np.argsort(keys, kind="stable")
        yield LogBatch(
            *(np.concatenate([runs[i][f.name][at[i] : cuts[i]] for i in live])[order] for f in fields(LogBatch))
        )
        for i in live:
            at[i] = cuts[i]
