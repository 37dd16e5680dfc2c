"""Who is told that somebody was erased or objects (check 8 of DESIGN 10.4): each party that got records of that person.

What was SENT counts as what was delivered. ERASED and OBJECTED name a notice for each such party, or it has left by the
next epoch; and of each notice NOTICED brings the party's word that it has it. A party that is away gives none, nor does
one that keeps silent about that alone: what is open is counted, and is `unchecked` once the party has acknowledged
something else days after the notice was made, since nobody can tell who of the two keeps silent.
"""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Final, NamedTuple

from auditor.findings import ERASURE, GATEWAY, Report, Unchecked
from auditor.policies import Policies
from auditor.trust import Trust, verify_party
from proxid.errors import CredentialError, RecordMismatchError
from proxid.evidence.events import Event, EventType
from proxid.protocol.notice import NoticeAck

NOTICE_SECONDS: Final = 3 * 86_400
"""By the ends and starts of epochs, for how long a party that is there may not have acknowledged a notice: they are
spread over a day."""
_NOT_TOLD: Final = "a party that got records of the person was not told, and has not left"
LEAVING: Final = "{} times a party that got records of somebody was not told, and may be about to leave"
_OVERDUE: Final = (
    "{} notices of erasures or objections are not acknowledged by parties that acknowledged something else days later: "
    "the gateway did not send them, or the party does not say that it has them"
)


class Missing(NamedTuple):
    """A party that was not told of something, as it may have left: event and type of what it was not told of."""

    event: int
    type: str
    party: str


ToldState = tuple[
    dict[str, int], dict[int, frozenset[str]], dict[bytes, frozenset[str]], dict[str, frozenset[str]], dict[str, int],
    list[Missing], int,
]  # fmt: skip
"""The attributes of `Told` after `trust`."""


@dataclass(slots=True)
class Told:
    """Notices, and what obliges to them.

    Attributes:
        open: notices that were made and not acknowledged, `PARTY:DIGEST` → epoch that had begun last.
        named: number of ERASED or OBJECTED → parties that it says are told, or have left.
        receivers: subject tag → parties that acknowledged records. held: user → those, and parties that were sent some.
        there: party → epoch that had begun last when it acknowledged something last. missing: see `Missing`.
        epoch: that began last.
    """

    trust: Trust
    open: dict[str, int] = field(default_factory=dict)
    named: dict[int, frozenset[str]] = field(default_factory=dict)
    receivers: dict[bytes, frozenset[str]] = field(default_factory=dict)
    held: dict[str, frozenset[str]] = field(default_factory=dict)
    there: dict[str, int] = field(default_factory=dict)
    missing: list[Missing] = field(default_factory=list)
    epoch: int = -1

    def delivered(self, party: str, tags: Iterable[bytes], users: Iterable[str]) -> None:
        """A party acknowledged what is of these people, by the tags of their evidence, and as far as they are known."""
        self.there[party] = self.epoch
        for user in users:
            self._holds(party, user)
        for tag in filter(None, tags):
            self.receivers[tag] = self.receivers.get(tag, frozenset()) | {party}

    def made(self, event: Event, notices: list[str], left: Iterable[str] = ()) -> frozenset[str]:
        """ERASED or OBJECTED says which parties are told by which notices, and which have left: all of these.

        Raises:
            RecordMismatchError: a notice was made for another event.
        """
        again = self.open.keys() & notices
        self.open.update(dict.fromkeys(notices, self.epoch))
        self.named[event.number] = frozenset((*(notice.partition(":")[0] for notice in notices), *left))
        if again:
            raise RecordMismatchError("a notice was made for another event")
        return self.named[event.number]

    def objected(self, event: Event, user_id: str) -> None:
        """An objection of a user began, after `made`."""
        for party in sorted(self.held.get(user_id, frozenset()) - self.named[event.number]):
            self._misses(event.number, event.type, party)

    def erased(self, user_id: str, tags: Iterable[bytes]) -> frozenset[str]:
        """A user was erased, whose evidence had these tags: who got records."""
        got = self.held.pop(user_id, frozenset())
        return got.union(*(self.receivers.pop(tag, frozenset()) for tag in tags))

    def was_sent(self, party: str, user_id: str, sent: int, later: Iterable[int]) -> None:
        """A party was sent records of a user by an event of the gateway, and has not acknowledged them.

        Args:
            user_id: empty of who was erased. later: numbers of that user's objections, or of the ERASED.
        """
        if user_id:
            self._holds(party, user_id)
        for number in later:
            if sent < number and party not in self.named.get(number, {party}):
                self._misses(number, EventType.OBJECTED if user_id else EventType.ERASED, party)

    def _holds(self, party: str, user_id: str) -> None:
        if party not in (held := self.held.get(user_id, frozenset())):
            self.held[user_id] = held | {party}

    def _misses(self, event: int, kind: EventType, party: str) -> None:
        found = Missing(event, kind.value, party)
        if found not in self.missing:
            self.missing.append(found)

    def noticed(self, event: Event) -> None:
        """NOTICED: a party's word that it got a notice that was made for it.

        Raises:
            CredentialError: no such notice. SignatureInvalidError, KeyInvalidError: not the party's word.
        """
        ack, party = NoticeAck.decode(event.payload), str(event.fields["party"])
        if (ack.party, ack.digest.hex()) != (party, event.fields["notice"]) or ack.service != self.trust.service:
            raise RecordMismatchError("acknowledgement is of another notice than the event")
        notice = f"{party}:{ack.digest.hex()}"
        if notice not in self.open:
            raise CredentialError("a notice was acknowledged that nobody was told of")
        verify_party(self.trust, party, ack.verify)
        del self.open[notice]
        self.there[party] = self.epoch

    def finish(self, policies: Policies, report: Report) -> None:
        """At the end: who was not told has left, and who is there says that it was told."""
        missing, self.missing = self.missing, []
        leaving, begins = 0, policies.begins[GATEWAY]
        for one in missing:
            at = bisect_right(begins, one.event, key=itemgetter(0))
            over = at < len(begins)
            if at and one.party not in policies.parties_of(begins[at - 1][1]):
                continue  # it was not there when somebody objected, and may be back since
            if one.party not in (policies.parties_of(begins[at][1]) if over else policies.newest_parties()):
                continue
            self.missing.append(one)  # which is so in every audit that goes on from here
            leaving += not over
            if over:
                report.add(ERASURE, GATEWAY, one.event, f"{one.type}: {_NOT_TOLD}")
        if leaving:
            report.missing.append(Unchecked(ERASURE, GATEWAY, LEAVING.format(leaving)))
        overdue = sum(self._is_overdue(notice, epoch) for notice, epoch in self.open.items())
        if overdue:
            report.missing.append(Unchecked(ERASURE, GATEWAY, _OVERDUE.format(overdue)))
        report.counts["notices"] = len(self.open) - overdue

    def _is_overdue(self, notice: str, epoch: int) -> bool:
        """Whether its party acknowledged something long after it was made, in a log that says which epochs began."""
        there, epochs = self.there.get(notice.partition(":")[0], -1), self.trust.epochs
        return 0 <= epoch <= there and epochs.start(there) - epochs.end(epoch) >= NOTICE_SECONDS

    def state(self) -> ToldState:
        """For storing."""
        return self.open, self.named, self.receivers, self.held, self.there, self.missing, self.epoch

    def restore(self, state: ToldState) -> None:
        """Go on from a state."""
        self.open, self.named, self.receivers, self.held, self.there, self.missing, self.epoch = state
