"""In which order, and when, what was received is taken up (check 7 of DESIGN 10.4): who is held back waits with others.

MS takes requests up as they came, in batches, within which the order is its own: that is the stated bound, and what it
orders otherwise within it is counted as believed (docs/adr/0023). Nor does it receive anything, or go by a tick, while
something waits that it should long have taken up, whatever crashes lie in between. An earlier release did: one whose
epochs do not say that it does not is accused of nothing for it (docs/adr/0040).
"""

from bisect import bisect_left, insort
from typing import Final, NamedTuple

from auditor.checks.c7_reasons import IN_TURN, TEXTS, TOLD
from auditor.checks.c7_releases import WAITS, Releases
from auditor.event_log import check_of
from auditor.findings import COMPLETENESS, MAIN_SERVICE, Report, Unchecked
from auditor.policies import Policies
from proxid.errors import RecordMismatchError
from proxid.evidence.events import Event
from proxid.protocol.consent import TYPES
from proxid.protocol.request import ANSWERED, HELD

BOUND: Final = 256
"""Requests that may be taken up before one that came earlier: two batches."""
_SPARE: Final = 60.0
"""Seconds: what MS knows of what waits is of a moment ago."""
_AGAIN_MS: Final = 300_000
"""One of an earlier release that was away may, for moments, receive something before it has taken up what waits."""


class Within(NamedTuple):
    """When MS received a request, by its own clock, as its time and policy tell (Unix milliseconds): not before `first`
    if it was answered at once, not after `last`.
    """

    first: int
    last: int


def received_within(policies: Policies, epoch: int, time_ms: int) -> Within | None:
    """When MS received a request of an epoch and a time; None if nothing can be judged by the epoch's policy."""
    judge = policies.of(epoch)
    if judge is None:
        return None
    skew = max(judge.clock_skew, policies.trust.clock_skew)
    return Within(time_ms - int(1000 * skew), time_ms + int(1000 * (skew + ANSWERED)))


class Waiting(NamedTuple):
    """A request that was received and not taken up: how many were before it, how many are to be taken up before it
    (`Arrivals._before`), and when it had been received at the latest; 0: that is not known.
    """

    place: int
    turn: int
    last: int


class ArrivalsState(NamedTuple):
    """An `Arrivals`, for storing."""

    open: dict[str, Waiting]
    places: int
    gone: list[int]
    dropped: int
    taken: int
    newest: str
    late: str
    since: int
    doubts: int
    says: bool


class Arrivals:
    """Requests that were received and not taken up yet.

    For each it is known after how many others it is its turn at the latest: those that had been taken up when it came,
    and those that waited then. Who ends in the step in which it is received waits for no turn, and others not for it.
    """

    def __init__(self, report: Report) -> None:
        self._report = report
        self._open: dict[str, Waiting] = {}
        """In the order of their places."""
        self._places = 0
        self._gone, self._dropped = list[int](), 0
        """Places, sorted, of those that waited for no turn after all, and how many of lower ones count no more. So
        whoever leaves thousands waiting makes nobody walk through them for each that goes.
        """
        self._taken = 0
        self._newest = ""
        """Which was received last."""
        self._late, self._since, self._doubts = "", 0, 0
        """Which request was found held back last, since what time, and how many were found so once."""
        self._says = False
        """Whether the epoch that was opened last says that nothing is taken while something waits too long."""

    def opened(self, event: Event, releases: Releases) -> None:
        """EPOCH_OPENED; raises RuleBroken if it says another time than `HELD`, or less than before too often."""
        said = event.fields.get(WAITS)
        self.began(says=said is not None)
        with check_of(COMPLETENESS):
            if said not in (None, HELD):
                raise RecordMismatchError("epoch began with another time for which what was answered may wait")
            releases.said(WAITS, int(said is not None))

    def began(self, *, says: bool) -> None:
        """An epoch. says: that nothing is taken, from now on, while something waits too long."""
        if says and not self._says:
            self._late = ""  # it is judged by what comes from now on
        self._says = says

    def received(self, session: str, within: Within | None = None, event: int = 0) -> None:
        """RECEIVED."""
        last = 0
        if within is not None:
            last = within.last
            self._worked(within.first - int(1000 * (HELD + _SPARE)), event, last)
        turn = self._taken + len(self._open) + self._dropped + len(self._gone)
        self._open[session] = Waiting(self._places, turn, last)
        self._places += 1
        self._newest = session

    def ticked(self, due_ms: int, event: int) -> None:
        """A tick that was due at a time (Unix milliseconds): whatever was asked before it is taken up."""
        self._worked(due_ms - int(1000 * _SPARE), event)

    def _worked(self, until: int, event: int, latest: int = 0) -> None:
        """MS should have taken up all that was received until a time. latest: when it had surely received another."""
        if not self._open:
            return
        session, first = next(iter(self._open.items()))
        if not first.last:
            if latest:
                self._open[session] = first._replace(last=latest)
            return
        if until <= first.last:
            return
        if self._late != session:
            self._late, self._since = session, until
            self._doubts += 1
        elif 0 < self._since < until - _AGAIN_MS:
            self._since = 0
            self._doubts -= 1
            if not self._says:
                self._report.older("held")
                return
            text = "a request was held back while others were received, or a tick came, long after it"
            self._report.add(COMPLETENESS, MAIN_SERVICE, event, text)

    def withheld(self, event: Event, session: str, reason: str) -> None:
        """SUPPRESSED of what never waited for a group."""
        if event.fields.get("kind") in TYPES or reason in TEXTS or reason in IN_TURN:
            self.taken(session, event.number)
        elif reason in TOLD:
            self.gone(session, event.number)
        else:
            self.ended(session, event.number)

    def gone(self, session: str, event: int) -> None:
        """It was withheld without waiting for its turn: nobody else waits for it any more."""
        found = self._open.pop(session, None)
        if found is None:
            return
        before = self._before(found)
        insort(self._gone, found.place)
        if len(self._gone) > 2 * len(self._open):
            lowest = next(iter(self._open.values())).place if self._open else self._places
            none = bisect_left(self._gone, lowest)
            del self._gone[:none]
            self._dropped += none
        self._verify_turn(before, event)

    def _before(self, waiting: Waiting) -> int:
        """How many were taken up since it was its turn; below 0: how many are still to come."""
        return self._taken - (waiting.turn - self._dropped - bisect_left(self._gone, waiting.place))

    def ended(self, session: str, event: int) -> None:
        """It was withheld in the step in which it was received, or else it was its turn."""
        if session == self._newest:
            self._open.pop(session, None)
        else:
            self.taken(session, event)

    def taken(self, session: str, event: int) -> None:
        """It was its turn, as an event of this number says."""
        found = self._open.pop(session, None)
        if found is None:
            return
        before = self._before(found)
        self._taken += 1
        if before > 0:
            self._report.believe(COMPLETENESS, "order")
            self._verify_turn(before, event)

    def _verify_turn(self, before: int, event: int) -> None:
        if before > BOUND:
            text = "a request was held back while others that came later were taken up"
            self._report.add(COMPLETENESS, MAIN_SERVICE, event, text)

    def finish(self) -> None:
        """At the end: nothing is held back."""
        held = sum(self._before(waiting) > BOUND for waiting in self._open.values())
        if held:
            text = f"{held} requests are held back while others that came later were taken up"
            self._report.add(COMPLETENESS, MAIN_SERVICE, 0, text)
        if self._doubts:
            text = f"{self._doubts} requests waited while others were received, or a tick came, long after them"
            self._report.missing.append(Unchecked(COMPLETENESS, MAIN_SERVICE, text))

    def state(self) -> ArrivalsState:
        """For storing."""
        order = self._open, self._places, self._gone, self._dropped
        late = self._late, self._since, self._doubts
        return ArrivalsState(*order, self._taken, self._newest, *late, self._says)

    def restore(self, state: ArrivalsState) -> None:
        """Go on from a state."""
        self._open, self._places, self._gone, self._dropped = state.open, state.places, state.gone, state.dropped
        self._taken, self._newest = state.taken, state.newest
        self._late, self._since, self._doubts, self._says = state.late, state.since, state.doubts, state.says
