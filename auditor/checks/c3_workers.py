"""Signatures of the events to come, checked by other processes while this one reads (check 3 of DESIGN 10.4).

They only vouch for what holds: every finding is made by the reader, in the order of the log, so that a report does not
depend on how many processes there are.
"""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from typing import Final

from auditor.checks.c3_signatures import PROVABLE, prove
from proxid.evidence.events import Event

BATCH: Final = 128
"""Events that one process gets at a time."""

Batch = tuple[list[Event], frozenset[bytes]]


class SignatureWorkers:
    """A pool of processes.

    Args:
        workers: how many; none if 0, and then nothing is vouched for.
    """

    def __init__(self, workers: int) -> None:
        # Forking a process that holds gRPC's threads is not safe.
        self._pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn")) if workers else None
        self._depth = 2 * workers

    def batches(self, events: Iterator[Event]) -> Iterator[Batch]:
        """The events in order, with the names of the pairs in them that hold."""
        under_way: deque[tuple[list[Event], Future[frozenset[bytes]] | None]] = deque()
        while batch := list(islice(events, BATCH)):
            under_way.append((batch, self._submit(batch)))
            if len(under_way) > self._depth:
                yield _done(*under_way.popleft())
        while under_way:
            yield _done(*under_way.popleft())

    def _submit(self, batch: list[Event]) -> Future[frozenset[bytes]] | None:
        jobs = [(e.type, e.payload) for e in batch if e.type in PROVABLE and e.payload]
        return None if self._pool is None or not jobs else self._pool.submit(prove, jobs)

    def close(self) -> None:
        """End the processes."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


def _done(batch: list[Event], future: Future[frozenset[bytes]] | None) -> Batch:
    return batch, frozenset() if future is None else future.result()
