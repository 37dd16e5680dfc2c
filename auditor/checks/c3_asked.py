"""When people asked for what was carried out (check 3 of DESIGN 10.4): nothing is kept for later, or signed to spare.

The gateway takes what it finds fresh. A choice and a look at one's data are recorded as they are taken: what they say
lies near what the main service answered before and next. An objection and an erasure are recorded once they are carried
out, which takes seconds while people are answered, and days while the main service or the gateway is away. A gateway
that does it at another time had a wrong clock, or stood still, or keeps signed words until they suit it: nobody can
tell, and that is told for good.
"""

from bisect import bisect_right
from collections.abc import Callable
from typing import Final, NamedTuple

from auditor.findings import GATEWAY, SIGNATURES, Report, Unchecked

_LENIENT: Final = 3600.0
"""Seconds by which clocks may differ, at least."""
_SKEWS: Final = 2
"""A device's clock and the gateway's may each be off by one."""
_HOUR: Final = 3600
_HOURS: Final = 3
"""In so many hours people were answered behind what is carried out late: a service that comes back is in one or two."""
_KEPT: Final = 24 * 366
"""Hours that are remembered."""


class AskedState(NamedTuple):
    """An `Asked`, for storing."""

    hours: list[int]
    latest: int
    early: list[tuple[int, int]]
    doubted: int


class Asked:
    """Holds the times of rights and choices against those of requests that were answered.

    Args:
        skew: gives the seconds by which a clock may be off.
    """

    def __init__(self, skew: Callable[[], float]) -> None:
        self._skew = skew
        self._hours: list[int] = []
        """In which people were answered, rising, Unix hours."""
        self._latest = 0
        """Unix seconds of the latest that was answered so far."""
        self._early: list[tuple[int, int]] = []
        """Times that nothing which was answered later has confirmed, Unix seconds, and the events that say them."""
        self._doubted = 0

    def _are_apart(self, earlier: float, later: float) -> bool:
        """Whether by more than clocks may differ; by how much that is, every document is asked, so that comes last."""
        return later - earlier > _LENIENT and later - earlier > _SKEWS * self._skew()

    def taken(self, event: int, time_ms: int) -> None:
        """Something was asked for that is recorded as it is taken, at a time (Unix milliseconds)."""
        self._doubted += self._are_apart(time_ms / 1000, self._latest)
        self._early.append((time_ms // 1000, event))

    def carried_out(self, event: int, time_ms: int) -> None:
        """Something was asked for that is recorded once it was carried out."""
        off = max(_LENIENT, _SKEWS * self._skew())
        behind = len(self._hours) - bisect_right(self._hours, int(time_ms / 1000 + off) // _HOUR)
        self._doubted += behind >= _HOURS
        self._early.append((time_ms // 1000, event))

    def answered(self, time_ms: int, forwarded: int) -> None:
        """The main service answered what was asked at a time (Unix milliseconds, by a device's clock).

        Args:
            forwarded: number of FORWARDED.
        """
        time = time_ms // 1000
        self._latest = max(self._latest, time)
        if not self._hours or time // _HOUR > self._hours[-1]:
            self._hours = [*self._hours[1 - _KEPT :], time // _HOUR]
        if self._early:
            self._doubted += sum(self._are_apart(time, said) for said, event in self._early if event < forwarded)
            self._early = [early for early in self._early if early[1] > forwarded]

    def finish(self, report: Report) -> None:
        """At the end of an audit."""
        if self._doubted:
            text = f"{self._doubted} rights or choices say other times than what was asked before or behind them: they"
            text += " were kept back, or signed for later, or its clock was wrong"
            report.missing.append(Unchecked(SIGNATURES, GATEWAY, text))

    def state(self) -> AskedState:
        """For storing."""
        return AskedState(self._hours, self._latest, self._early, self._doubted)

    def restore(self, state: AskedState) -> None:
        """Go on from a state."""
        self._hours, self._latest, self._early, self._doubted = state
