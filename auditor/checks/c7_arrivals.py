"""In which order what was received is taken up (check 7 of DESIGN 10.4): who is held back may choose with whom to wait.

MS takes requests up as they came, in batches, within which the order is its own: that is the stated bound, and what it
orders otherwise within it is counted as believed (docs/adr/0023).
"""

from typing import Final, NamedTuple

from auditor.findings import COMPLETENESS, MAIN_SERVICE, Report

BOUND: Final = 256
"""Requests that may be taken up before one that came earlier: two batches."""


class ArrivalsState(NamedTuple):
    """An `Arrivals`, for storing."""

    open: dict[str, int]
    taken: int


class Arrivals:
    """Requests that were received and not taken up yet.

    For each it is known after how many others it is its turn at the latest: those that had been taken up when it came,
    and those that waited then.
    """

    def __init__(self, report: Report) -> None:
        self._report = report
        self._open: dict[str, int] = {}
        self._taken = 0

    def received(self, session: str) -> None:
        """RECEIVED."""
        self._open[session] = self._taken + len(self._open)

    def gone(self, session: str) -> None:
        """It was withheld without waiting for its turn."""
        self._open.pop(session, None)

    def taken(self, session: str, event: int) -> None:
        """It was its turn, as an event of this number says."""
        turn = self._open.pop(session, None)
        self._taken += 1
        if turn is None or self._taken - 1 <= turn:
            return
        self._report.believe(COMPLETENESS, "order")
        if self._taken - 1 - turn > BOUND:
            text = "a request was held back while others that came later were taken up"
            self._report.add(COMPLETENESS, MAIN_SERVICE, event, text)

    def finish(self) -> None:
        """At the end: nothing is held back."""
        held = sum(self._taken - turn > BOUND for turn in self._open.values())
        if held:
            text = f"{held} requests are held back while others that came later were taken up"
            self._report.add(COMPLETENESS, MAIN_SERVICE, 0, text)

    def state(self) -> ArrivalsState:
        """For storing."""
        return ArrivalsState(self._open, self._taken)

    def restore(self, state: ArrivalsState) -> None:
        """Go on from a state."""
        self._open, self._taken = state
