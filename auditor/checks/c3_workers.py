"""Signatures of the events to come, checked by other processes while this one reads (check 3 of DESIGN 10.4).

They only vouch for what holds: every finding is made by the reader, in the order of the log, so that a report does not
depend on how many processes there are, nor on whether they lived, or could be started.
"""

import os
import signal
from collections import deque
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from itertools import islice
from multiprocessing import get_context
from typing import Final

from auditor.checks.c3_signatures import PROVABLE, prove
from proxid.evidence.events import Event
from proxid.runtime.process.parent import end_with_parent

BATCH: Final = 128
"""Events that one process gets at a time."""
WORTH: Final = 4_096
"""New events of a log that make up for starting a process, which takes as long as some 500 of them."""

Batch = tuple[list[Event], frozenset[bytes]]


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0))


class SignatureWorkers:
    """A pool of processes, started when there is something for them.

    Args:
        workers: how many. None if 0, and then nothing is vouched for. If None, one for a part of `WORTH` events where
            there is a second processor: the reader takes longer for an event than its signatures.
    """

    def __init__(self, workers: int | None) -> None:
        self._workers = workers
        self._pool: ProcessPoolExecutor | None = None

    def batches(self, events: Iterator[Event], new: int) -> Iterator[Batch]:
        """The events (`new` of them, or fewer) in order, with the names of the pairs in them that hold."""
        workers = self._start(new)
        under_way: deque[tuple[list[Event], Future[frozenset[bytes]] | None]] = deque()
        while batch := list(islice(events, BATCH)):
            under_way.append((batch, self._submit(batch) if workers else None))
            if len(under_way) > 2 * workers:
                yield _done(*under_way.popleft())
        while under_way:
            yield _done(*under_way.popleft())

    def _start(self, new: int) -> int:
        workers = self._workers
        if workers is None:
            workers = int(new >= WORTH and processors() > 1)
        if workers and self._pool is None:
            try:
                # Forking a process that holds gRPC's threads is not safe.
                spawn = get_context("spawn")
                self._pool = ProcessPoolExecutor(workers, mp_context=spawn, initializer=end_with_parent)
            except OSError:  # no more of something may be had: the reader checks alone
                return 0
        return workers

    def _submit(self, batch: list[Event]) -> Future[frozenset[bytes]] | None:
        jobs = [(e.type, e.payload) for e in batch if e.type in PROVABLE and e.payload]
        if self._pool is None or not jobs:
            return None
        try:
            with _interrupted_later():  # it is what starts processes
                return self._pool.submit(prove, jobs)
        except (BrokenExecutor, OSError):
            return None

    def close(self) -> None:
        """End the processes."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


@contextmanager
def _interrupted_later() -> Iterator[None]:
    """Ctrl-C is the reader's, which ends its processes: those that are started in the block never hear of it.

    A process inherits what is blocked, so that it is deaf before it has read its first line.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _done(batch: list[Event], future: Future[frozenset[bytes]] | None) -> Batch:
    try:
        return batch, frozenset() if future is None else future.result()
    except BrokenExecutor:  # killed, perhaps for want of memory: the reader checks what nobody vouches for
        return batch, frozenset()
