"""An operator who goes back to an earlier release (ADR 0040): entries say less than those before, and accuse nobody.

Whoever lies could say less, too. So what is left open is told for good, in each audit; and a log goes back a few times
at most: a service that says less now and then is not of another release.
"""

from typing import Final, NamedTuple

from auditor.findings import COMPLETENESS, Report, Unchecked
from proxid.errors import EvidenceOlderError, RecordMismatchError

LESS: Final = "event says less than those before it, and the service has gone back to an earlier release too often"

WAITS: Final = "held"
"""What EPOCH_OPENED of MS says: for how many seconds something waits at most before nothing new is taken."""


class ReleasesState(NamedTuple):
    """A `Releases`, for storing."""

    newest: dict[str, int]
    back: set[str]
    times: dict[str, int]
    entries: int


class Releases:
    """What forms the entries of one log are of.

    Args:
        log: its name. most: how often it may go back (`floors.rollbacks`).
    """

    def __init__(self, log: str, most: int) -> None:
        self._log, self._most = log, most
        self._newest: dict[str, int] = {}
        self._back: set[str] = set()
        """What is said in an earlier form now."""
        self._times: dict[str, int] = {}
        """How often each has gone from what was said in full to less: whoever goes back by steps is in full again in
        one thing, and not yet in another."""
        self._entries = 0

    def said(self, what: str, form: int) -> None:
        """An entry says something in a form; raises RecordMismatchError if the log went back to it too often."""
        newest = self._newest.setdefault(what, form)
        if form >= newest:
            self._newest[what] = form
            self._back.discard(what)
            return
        self._times[what] = self._times.get(what, 0) + (what not in self._back)
        self._back.add(what)
        self._entries += 1
        if self._times[what] > self._most:
            raise RecordMismatchError(LESS)

    def finish(self, report: Report) -> None:
        """At the end: what is left open, in this audit and all after it."""
        if self._entries:
            most = max(self._times.values())
            times = "once" if most == 1 else f"{most} times"
            text = f"went back to an earlier release {times}: {self._entries} entries say less than those before"
            report.missing.append(
                Unchecked(COMPLETENESS, self._log, f"the service {text}", EvidenceOlderError.code.value)
            )

    def state(self) -> ReleasesState:
        """For storing."""
        return ReleasesState(self._newest, self._back, self._times, self._entries)

    def restore(self, state: ReleasesState) -> None:
        """Go on from a state."""
        self._newest, self._back, self._times, self._entries = state
