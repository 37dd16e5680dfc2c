"""Keeps a number of worker processes running until it is told to stop.

Each worker's standard input is a pipe from the parent: when the parent is killed the pipe ends, and the worker stops
by itself (`stop_with_parent`). A worker that dies is started again, more slowly if it dies at once; one that cannot
start in the first place (its status says an error, not a signal) ends them all, as it would alone.
"""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import structlog
from prometheus_client.multiprocess import mark_process_dead

from proxid.errors import ChildError
from proxid.runtime.observability.metrics import FOLDER_VARIABLE

_POLL_SECONDS: Final = 0.05
_FIRST_DELAY: Final = 0.1
_MAX_DELAY: Final = 5.0
_STABLE_SECONDS: Final = 10.0

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Worker:
    process: subprocess.Popen[bytes]
    started: float
    delay: float = _FIRST_DELAY
    again_at: float | None = None
    first: bool = False


class Supervisor:
    """Workers 0 … count − 1.

    Args:
        command: the arguments of a worker by its index. count: how many. environment: of the workers.
        grace: seconds between SIGTERM and SIGKILL.
    """

    def __init__(
        self, command: Callable[[int], Sequence[str]], count: int, environment: Mapping[str, str], grace: float
    ) -> None:
        self._command = command
        self._count = count
        self._environment = dict(environment)
        self._grace = grace
        self._workers: dict[int, _Worker] = {}

    @property
    def pids(self) -> list[int]:
        """Process ids of the workers."""
        return [worker.process.pid for worker in self._workers.values()]

    async def run(self, stop: asyncio.Event) -> None:
        """Start the workers and keep them running until `stop` is set; then end them, gently first.

        Raises:
            ChildError: a worker cannot start; it has said why.
        """
        try:
            for index in range(self._count):
                self._start(index, _FIRST_DELAY)
                self._workers[index].first = True
            while not stop.is_set():
                self._revive()
                await _wait(stop, _POLL_SECONDS)
        finally:
            await asyncio.shield(asyncio.to_thread(self._end))

    def _start(self, index: int, delay: float) -> None:
        process = subprocess.Popen(
            self._command(index), stdin=subprocess.PIPE, env=self._environment, start_new_session=True
        )
        self._workers[index] = _Worker(process, time.monotonic(), delay)
        _log.info("worker started", worker=index, pid=process.pid)

    def _revive(self) -> None:
        now = time.monotonic()
        for index, worker in self._workers.items():
            if worker.again_at is None and worker.process.poll() is not None:
                _log.warning("worker died", worker=index, status=worker.process.returncode)
                if FOLDER_VARIABLE in self._environment:
                    mark_process_dead(worker.process.pid, self._environment[FOLDER_VARIABLE])  # type: ignore[no-untyped-call]
                stable = now - worker.started > _STABLE_SECONDS
                if worker.first and not stable and worker.process.returncode > 0:
                    raise ChildError(f"worker {index} cannot start")
                worker.delay = _FIRST_DELAY if stable else min(2 * worker.delay, _MAX_DELAY)
                worker.again_at = now + worker.delay
        for index in [i for i, worker in self._workers.items() if worker.again_at and worker.again_at <= now]:
            self._start(index, self._workers[index].delay)

    def _end(self) -> None:
        processes = [worker.process for worker in self._workers.values()]
        for process in processes:
            if process.poll() is None:
                process.terminate()
        deadline = time.monotonic() + self._grace
        for process in processes:
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stdin is not None:
                process.stdin.close()


async def _wait(event: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return


def stop_with_parent() -> None:
    """Send this process SIGTERM when its standard input ends: its parent is gone."""

    def watch() -> None:
        while os.read(sys.stdin.fileno(), 1):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True, name="stop-with-parent").start()
