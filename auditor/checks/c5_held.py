"""What time lets go, goes (check 5 of DESIGN 10.4): else whoever waits, waits for those with whom the service wants it.

A record moves up, a slot ends, a tick comes, a group that has formed leaves and an epoch that is over is closed within
seconds. Times are the service's own, so what is held against them is what people asked meanwhile: a service that takes
requests is there. One that was away and is back may need a moment, so what is held back is `unchecked`, and nobody's
guilt: what is done is told for good if the service was there for that long, what is not is told until it is.
"""

from bisect import bisect_left
from typing import Final, NamedTuple

from auditor.findings import GROUPS, MAIN_SERVICE, Report, Unchecked
from auditor.policies import spans

HELD_SECONDS: Final = 3600.0
"""For so long requests may come while something is due."""
_APART: Final = 1800.0
"""Seconds between two requests that are remembered, at least."""
_KEPT: Final = 4096


class HeldState(NamedTuple):
    """A `HeldBack`, for storing."""

    asked: list[float]
    latest: float
    epochs: set[int]


class HeldBack:
    """When people asked, and the epochs in which something was held back meanwhile.

    Attributes:
        latest: time of the latest request that was received, Unix seconds.
    """

    def __init__(self) -> None:
        self._asked: list[float] = []
        """Times, rising, of some requests."""
        self.latest = 0.0
        self._epochs: set[int] = set()
        self._waits: set[int] = set()

    def received(self, time_ms: int) -> None:
        """RECEIVED of a request of this time."""
        self.latest = max(self.latest, time_ms / 1000)
        if not self._asked or self.latest - self._asked[-1] >= _APART:
            self._asked = [*self._asked[1 - _KEPT :], self.latest]

    def due(self, epoch: int, since: float | None) -> None:
        """Something of an epoch is done that was due since a time (Unix seconds); None: nothing is."""
        if since is None or since >= self.latest - HELD_SECONDS:
            return
        at = bisect_left(self._asked, since)
        if at < len(self._asked) and self.latest - self._asked[at] > HELD_SECONDS:
            self._epochs.add(epoch)

    def waits(self, epoch: int, since: float | None) -> None:
        """Something of an epoch has not been done, at the end, that was due since a time; None: nothing is."""
        self.due(epoch, since)
        if since is not None and since < self.latest - HELD_SECONDS:
            self._waits.add(epoch)

    def left(self, epoch: int, due: bool) -> None:
        """Something of an epoch was given up as it ended, and something was due then by the main service's own word."""
        if due:
            self._epochs.add(epoch)

    def finish(self, report: Report) -> None:
        """At the end: what was held back, in this audit and all after it."""
        if epochs := self._epochs | self._waits:
            where = spans(sorted(epochs))
            text = "what time lets go was held back while requests came for more than an hour, or to its epoch's end"
            report.missing.append(Unchecked(GROUPS, MAIN_SERVICE, f"{text} ({where})"))

    def state(self) -> HeldState:
        """For storing."""
        return HeldState(self._asked, self.latest, self._epochs)

    def restore(self, state: HeldState) -> None:
        """Go on from a state."""
        self._asked, self.latest, self._epochs = state
