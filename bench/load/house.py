"""Services held to a share of the processor: stopped and continued, fifty times a second, by a process of its own.

The devices' process could not: whatever its interpreter does in between would be more share.
"""

import multiprocessing
import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Final

from proxid.cli.demo.trial import SERVICES, DemoTrial
from proxid.errors import InputError

PERIOD: Final = 0.02


class Held:
    """While the block runs gateway and main service get `share` (0 to 1) of the time; their stores all of it."""

    def __init__(self, trial: DemoTrial, share: float) -> None:
        self._pids = [pid for name in SERVICES for pid in processes(trial.children[name].pid)]
        context = multiprocessing.get_context("spawn")
        self._begun = context.Event()
        arguments = (self._pids, share, os.getpid(), self._begun)
        self._process = context.Process(target=_turn, args=arguments, daemon=True)

    def __enter__(self) -> "Held":
        self._process.start()
        # It takes seconds to start, in which services would do what they could not do afterwards.
        if not self._begun.wait(60):
            raise InputError("the process that holds the services does not start")
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.join()
        _signal(self._pids, signal.SIGCONT)


def _turn(pids: Sequence[int], share: float, parent: int, begun: Event) -> None:
    # Late is too much for whom it is to hold; only the superuser may be so soon.
    with suppress(PermissionError):
        os.nice(-15)
    begun.set()
    next_one = time.monotonic()
    while os.getppid() == parent:
        if share < 1:
            _signal(pids, signal.SIGSTOP)
            time.sleep(max(0.0, next_one + PERIOD * (1 - share) - time.monotonic()))
            _signal(pids, signal.SIGCONT)
        time.sleep(PERIOD * share)
        next_one = time.monotonic()
    _signal(pids, signal.SIGCONT)


def _signal(pids: Sequence[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def processes(pid: int) -> list[int]:
    """A service's process and its workers, without its store."""
    found = [pid]
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            program = (entry / "cmdline").read_bytes().split(b"\0")[0]
        except (OSError, IndexError):
            continue
        if parent == pid and b"server" not in program:
            found.append(int(entry.name))
    return found
