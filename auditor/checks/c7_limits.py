"""Whom the gateway turned away for too many requests (check 7 of DESIGN 10.4): who asked less had to be heard.

REFUSED of form 3 says of which minute it is, what the limit was, and to the auditor whose requests were too many. The
gateway counts what it forwards, so the person's own FORWARDED of that minute are at least as many as the limit; times
of requests may be off by the skew. What else it turns away for (other limits, used nonces) stays its word.
"""

from collections import Counter
from collections.abc import Callable
from math import ceil
from typing import Final, NamedTuple

from auditor.checks.c3_links import Person
from auditor.checks.c7_releases import Releases, ReleasesState
from auditor.event_log import form_of
from auditor.findings import COMPLETENESS, GATEWAY, Report, Unchecked
from auditor.policies import Policies
from auditor.skew import longest_skew
from proxid.encoding import decode, decode_text
from proxid.errors import Code, RecordMismatchError
from proxid.evidence.events import Event

_FORM: Final = 3
_KEPT: Final = 30
"""Minutes for which requests are counted, at least: a refusal is recorded when its own is over."""


class LimitsState(NamedTuple):
    """For storing: requests by minute and user, from which minute on all of them could be read, and what is told."""

    asked: dict[int, dict[str, int]]
    since: int
    blind: bool
    releases: ReleasesState
    nobody: int
    late: int


class Limits:
    """Counts requests, minute by minute, and holds refusals against that.

    Args:
        person_of: of a PROX_ID; raises RegistrationError. turned_away: is told of each REFUSED, and if it is believed.
        older: is told of those that do not say whose requests were too many (`Report.older`).

    Attributes:
        releases: of the gateway's log.
    """

    def __init__(
        self, policies: Policies, person_of: Callable[[str], Person], turned_away: Callable[[Event, bool], None],
        older: Callable[[str], None],
    ) -> None:  # fmt: skip
        self._policies, self.releases = policies, Releases(GATEWAY, policies.trust.floors.rollbacks)
        self._person_of, self._turned_away, self._told_older = person_of, turned_away, older
        self._asked: dict[int, Counter[str]] = {}
        self._since = 0
        self._blind = False
        self._nobody = self._late = 0

    def forwarded(self, user_id: str, time_ms: int) -> None:
        """A request of a user, which the gateway took."""
        minute = time_ms // 60_000
        if self._blind:
            self._blind, self._since = False, minute + 2 * self._around
        if minute not in self._asked:
            first = minute - self._kept  # once a minute: it looks at what every epoch goes by
            for old in [at for at in self._asked if at < first]:
                del self._asked[old]
        self._asked.setdefault(minute, Counter())[user_id] += 1

    def forwarded_unread(self) -> None:
        """A request whose time and person cannot be read (any more)."""
        self._blind = True

    @property
    def _around(self) -> int:
        """Minutes by which a request's own time may be off the gateway's."""
        return ceil(longest_skew(self._policies) / 60) + 1

    @property
    def _kept(self) -> int:
        return max(_KEPT, 3 * self._around)

    def refused(self, event: Event) -> None:
        """REFUSED.

        Raises:
            RecordMismatchError: who was turned away had asked less than the limit says, or that is below the floor, or
                the gateway's log has said less too often.
        """
        fields, form = event.fields, form_of(event)
        known = form >= _FORM and (fields["rule"], fields["kind"]) == (Code.RATE_LIMITED.value, "requests")
        judged = self._judged(event) if known and event.payload else None
        self._turned_away(event, judged is None)
        if form < _FORM and fields["rule"] == Code.RATE_LIMITED.value:
            self._told_older("refused")
        self.releases.said("refused", form)
        if judged is False:
            raise RecordMismatchError("a person was turned away for too many requests who had made fewer")
        if known and not event.payload:
            self._nobody += 1

    def finish(self, report: Report) -> None:
        """At the end: whose requests were too many is not said of somebody who was being erased."""
        self.releases.finish(report)
        if self._nobody:
            text = f"{self._nobody} refusals of a person's requests do not say whose"
            report.missing.append(Unchecked(COMPLETENESS, GATEWAY, text))
        if self._late:
            text = f"{self._late} refusals of a person's requests are of a minute long before they were recorded"
            report.missing.append(Unchecked(COMPLETENESS, GATEWAY, text))

    def _judged(self, event: Event) -> bool | None:
        person = self._person_of(decode_text(decode(event.payload, 1)[0]))
        return self._had_asked(person, int(str(event.fields["minute"])), int(str(event.fields["limit"])))

    def _had_asked(self, person: Person, minute: int, limit: int) -> bool | None:
        """Whether a person had asked as often; None if that cannot be told, which is the gateway's word then."""
        if limit < self._policies.trust.floors.rate_per_minute:
            raise RecordMismatchError("people are turned away at a limit below the floor")
        first, last = minute - self._around, minute + self._around
        began = int(self._policies.trust.epochs.start(person.epoch)) // 60
        if last < began or first < max(self._asked, default=0) - self._kept:
            self._late += 1  # as after an hour without a store, or so that nobody can count
            return None
        if self._blind or first <= max(self._since, began):
            return None
        return sum(self._asked.get(at, Counter())[person.user_id] for at in range(first, last + 1)) >= limit

    def state(self) -> LimitsState:
        """For storing."""
        asked = {minute: dict(users) for minute, users in self._asked.items()}
        return LimitsState(asked, self._since, self._blind, self.releases.state(), self._nobody, self._late)

    def restore(self, state: LimitsState) -> None:
        """Go on from a state."""
        asked, self._since, self._blind, releases, self._nobody, self._late = state
        self.releases.restore(releases)
        self._asked = {minute: Counter(users) for minute, users in asked.items()}
