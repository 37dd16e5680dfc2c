"""An event loop whose time passes faster than the machine's: whoever waits a second there waits a fraction of one.

Pauses, polls and time limits of services keep their order and their lengths to each other; only a schedule is shorter.
"""

import asyncio
import os
import selectors
from collections.abc import Callable
from typing import Final

WEDGED: Final = 20.0
"""Seconds of an idle machine after which what has not ended never will."""


def patience() -> float:
    """So many seconds of this machine, as busy as it is."""
    return WEDGED * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


class _Selector(selectors.DefaultSelector):
    def __init__(self, pace: float) -> None:
        super().__init__()
        self._pace = pace

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        return super().select(None if timeout is None else timeout / self._pace)


class PacedLoop(asyncio.SelectorEventLoop):
    """Its `time()` passes `pace` times as fast."""

    def __init__(self, pace: float) -> None:
        self._pace = pace
        super().__init__(_Selector(pace))

    def time(self) -> float:
        return super().time() * self._pace


def paced(pace: float) -> Callable[[], asyncio.AbstractEventLoop]:
    """What `asyncio.Runner` takes."""
    return lambda: PacedLoop(pace)
