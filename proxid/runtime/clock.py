"""Whether a service can rely on its clock (DESIGN 4.3): held against a monotonic one and the other side's time.

A wall clock moves against the monotonic one only when it is set. So a step larger than the skew is doubted until the
clock is back, or until it agrees with the other side, whose time stood still; without that, until it has been steady
for an hour. Nothing here waits or reads a clock of its own: both are parameters.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from math import ceil
from typing import Final

from proxid.errors import ClockError

Clock = Callable[[], float]
"""Seconds."""

ALONE_SECONDS: Final = 3600.0
"""Monotonic seconds without a jump after which a service believes its clock without the other side."""
_SPARE: Final = 60
"""Seconds for which something is known again after it may have been taken for fresh last."""


def known_for(skew: float, least: float) -> int:
    """Seconds for which what was taken is known again: `least` or, if that is more, as long as it may count as fresh.

    Args:
        skew: seconds by which its time may lie ahead, and behind.
    """
    return max(int(least), ceil(2 * skew) + _SPARE)


class Doubt(StrEnum):
    """Why a clock cannot be relied on."""

    JUMPED = "jumped"
    DIFFERS = "differs"


RULES: Final = {
    Doubt.JUMPED: "the clock was set while the service ran; waiting until it is right again, or steady for an hour",
    Doubt.DIFFERS: "the clocks of gateway and main service differ by more than clock_skew: one of them is wrong",
}


def uptime() -> float:
    """Seconds since the machine started, sleep included: after a sleep no clock was set."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


@dataclass(frozen=True, slots=True)
class Clocks:
    """A wall clock (Unix seconds) and a monotonic one (seconds since whenever)."""

    wall: Clock = time.time
    monotonic: Clock = uptime


class ClockWatch:
    """One process's view of its clock.

    Clocks are compared by their offset: what the wall clock showed, or would have shown, when the monotonic one was 0.

    Args:
        skew: seconds that are no difference.
    """

    def __init__(self, clocks: Clocks, skew: float) -> None:
        self._clocks = clocks
        self._skew = skew
        self._trusted = self._last = clocks.wall() - clocks.monotonic()
        self._since = clocks.monotonic()
        """Monotonic time of the start, or of the last jump."""
        self._heard: tuple[float, float] | None = None
        self._others: float | None = None
        """The other side's offset as it was when the two agreed, or when it was first heard of."""

    def offset_of(self, time_ms: int) -> float:
        """The offset of the other side, whose clock shows this Unix time (milliseconds) now."""
        return time_ms / 1000 - self._clocks.monotonic()

    def heard(self, offset: float, at: float) -> None:
        """The other side's offset, learned at a monotonic time: of this process or another one of this machine."""
        if at > self._clocks.monotonic() or (self._heard is not None and at < self._heard[1]):
            return  # said before the machine was started, or older than what is known
        self._heard = (offset, at)
        if self._others is None:
            self._others = offset

    @property
    def wall(self) -> Clock:
        """The wall clock."""
        return self._clocks.wall

    @property
    def monotonic(self) -> float:
        """The monotonic clock."""
        return self._clocks.monotonic()

    def doubt(self) -> Doubt | None:
        """Why the clock cannot be relied on; None if it can."""
        offset, other = self._look(), self._other()
        if other is not None and self._differ(offset, other):
            return Doubt.DIFFERS
        if self._differ(offset, self._trusted):
            stood = other is not None and self._others is not None and not self._differ(other, self._others)
            if not stood and not self._steady():
                return Doubt.JUMPED
            self._trusted = offset
        if other is not None:
            self._others = other
        return None

    def require(self) -> None:
        """Raises ClockError if the clock cannot be relied on."""
        doubt = self.doubt()
        if doubt is not None:
            raise ClockError(RULES[doubt])

    def confirmed(self) -> bool:
        """Whether the clock may be gone by where nothing can be undone: the other side agrees, or it is `alone`."""
        return self.doubt() is None and (self._other() is not None or self._steady())

    def alone(self) -> bool:
        """Whether the clock may be believed although the other side is silent: steady for an hour, and no doubt."""
        return self.doubt() is None and self._steady()

    def _look(self) -> float:
        monotonic = self._clocks.monotonic()
        offset = self._clocks.wall() - monotonic
        if self._differ(offset, self._last):
            self._last, self._since = offset, monotonic
        return offset

    def _other(self) -> float | None:
        """The other side's offset; None if it has been silent for an hour."""
        if self._heard is None or self._clocks.monotonic() - self._heard[1] > ALONE_SECONDS:
            return None
        return self._heard[0]

    def _differ(self, one: float, other: float) -> bool:
        # Written so that a time that is no number differs.
        return not abs(one - other) <= self._skew

    def _steady(self) -> bool:
        return self._clocks.monotonic() - self._since >= ALONE_SECONDS
