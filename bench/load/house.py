"""Services held to a share of the processor: stopped when they have had theirs and continued when there is more.

A process of its own does it: the devices' could not, since whatever its interpreter does in between would be more
share. What counts is processor time, not the time for which they may run: in that others run, too, the more of them the
more devices ask, and a house that is asked more would be held to less.
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
"""Seconds, of which a service has its share in one piece if it has much to do."""
TICK: Final = 0.001
"""Seconds after which it is looked at again."""


class Held:
    """While the block runs each service gets `share` (0 to 1) of a processor; their stores get all of it."""

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
    most = share * PERIOD
    last, used, left = time.monotonic(), {pid: _processor_time(pid) for pid in pids}, dict.fromkeys(pids, 0.0)
    stopped = set[int]()
    while share < 1 and os.getppid() == parent:
        time.sleep(TICK)
        now = time.monotonic()
        for pid in pids:
            before, used[pid] = used[pid], _processor_time(pid)
            # If this process was late, they had more, and do not pay for it with a long time of nothing.
            left[pid] = max(-most, min(most, left[pid] + share * (now - last)) - (used[pid] - before))
            if left[pid] <= 0 and pid not in stopped:
                stopped.add(pid)
                _signal([pid], signal.SIGSTOP)
            elif left[pid] >= most and pid in stopped:
                stopped.discard(pid)
                _signal([pid], signal.SIGCONT)
        last = now
    _signal(pids, signal.SIGCONT)


def _processor_time(pid: int) -> float:
    """Seconds of all of its threads so far (clock_getcpuclockid(3)); 0 of one that has ended."""
    try:
        return time.clock_gettime((~pid << 3) | 2)
    except OSError:
        return 0.0


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
