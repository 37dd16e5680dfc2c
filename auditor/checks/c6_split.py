"""Deliveries of form `split` (checks 6 and 7 of DESIGN 10.4): entries are their own person's, contents everybody's.

Whoever has an entry at a party and is erased, objects, or in a later epoch takes the grant back, takes back the
contents of that epoch and audience which the party was not sent. What had not come yet when they went was formed
without knowing, and may still go to who is connected: as long as contents may be on their way (`coming_seconds`), and
not after an erasure, unless MS says that it had forgotten the person before it formed them. SENT says when something
was: before that nothing was delivered, after it nothing is dropped.

So does whoever had withdrawn before their entries came, which did not go: MS may have formed contents with them.
"""

from collections.abc import Sequence
from typing import Final

from auditor.checks.c3_links import People
from auditor.checks.c6_consents import Consents
from auditor.checks.c6_sent import name_of_person
from auditor.checks.c7_completeness import Sets
from auditor.checks.c7_shown import Delivery, Shown
from auditor.checks.c8_feeds import named as _named
from auditor.event_log import check_of
from auditor.findings import COMPLETENESS, CONSENT, GATEWAY, Report, Unchecked
from auditor.policies import Policies
from proxid.encoding import decode_text
from proxid.errors import ConsentError, RecordMismatchError
from proxid.evidence.events import Event, Header, SanitizedPair
from proxid.protocol.contents import LATE_SECONDS, coming_seconds
from proxid.protocol.record import kind_and_number

Lane = tuple[str, int, str]
"""Party, epoch, audience."""
Went = tuple[int, str]
"""Somebody went: the event from which that is in effect; the last release that had come, `EPOCH/GROUP/PARTY`, if one is
said: an objection is in effect before its event."""
SplitDeliveriesState = tuple[
    dict[str, set[Lane]], set[Lane], dict[Lane, Went], set[Lane], set[str], list[tuple[Delivery, Went, int]],
    list[tuple[Lane, int]], bool, bool, dict[Lane, set[bytes]], list[tuple[Delivery, set[bytes], int]], int, int,
]  # fmt: skip
"""What `SplitDeliveries` remembers, in the order of its attributes."""
_KINDS: Final = frozenset({"entries", "contents"})
_LEFT: Final = "party_left"
_WHOLE: Final = frozenset({_LEFT, "invalid"})
"""Why whole portions and contents are dropped whosever they are."""
_PERSONS: Final = frozenset({"erased", "objected", "withdrawn"})
_LENIENT: Final = 3600.0
"""Seconds by which the gateway's clock may differ."""
_SOON: Final = 2
"""Epochs within which it is said who went."""
_UNASKED: Final = "contents were dropped that nobody had taken back"
_AGAIN: Final = "contents were sent although somebody among whom they are had taken them back"


class SplitDeliveries:
    """What the gateway's log says of them."""

    def __init__(self, policies: Policies, people: People, sets: Sets, consents: Consents, report: Report) -> None:
        self._policies, self._epochs = policies, policies.trust.epochs
        self._people, self._sets, self._consents, self._report = people, sets, consents, report
        self._entered: dict[str, set[Lane]] = {}
        """Where a user has delivered entries."""
        self._barred: set[Lane] = set()
        """Where somebody with entries went, and no contents are sent any more."""
        self._went: dict[Lane, Went] = {}
        """Where somebody with entries went while contents might be on their way, first."""
        self._excused: set[Lane] = set()
        """Where somebody with entries is gone, whoever it was: contents may be dropped."""
        self._objected: set[str] = set()
        """Users who ever objected."""
        self._doubtful: list[tuple[Delivery, Went, int]] = []
        """Contents that were sent after somebody went: whether they had come before that; the event."""
        self._withheld: list[tuple[Lane, int]] = []
        """Contents that were dropped as somebody went; the event."""
        self._erases = False
        """Whether somebody was erased."""
        self._erased: dict[Lane, set[bytes]] = {}
        """Where somebody with entries was erased whom MS was to forget in the epoch: their subject tags."""
        self._without: list[tuple[Delivery, set[bytes], int]] = []
        """Contents that were sent there: it is to be seen that MS formed them without those of the tags; the event."""
        self._says = False
        """Whether the log says when groups were sent: a gateway of version 2 says it of none."""
        self._said, self._early = 0, 0
        """When contents were dropped as late, last, Unix seconds, which nothing that was asked since has confirmed; and
        of how many it was too early, by what was asked next."""

    def sent(self, event: Event) -> None:
        """SENT; raises RecordMismatchError for a second one, ConsentError for contents that were taken back."""
        fields = event.fields
        named = (int(str(fields["epoch"])), int(str(fields["group"])), str(fields["party"]))
        self._sets.sent(named, event.number)
        kind, entries = kind_and_number(named[1])[0], fields.get("entries")
        if kind not in _KINDS:
            self._says = True
            return
        lane = self._told(named, fields)
        if isinstance(entries, list) != (kind == "entries"):
            raise RecordMismatchError("event does not say which entries were sent, or says it of contents")
        if isinstance(entries, list):
            self._sets.shown.sent(named, [str(entry) for entry in entries])
            return
        if lane in self._barred:
            with check_of(CONSENT):
                raise ConsentError(_AGAIN)
        if lane in self._erased:
            self._without.append((named, set(self._erased[lane]), event.number))
        if lane in self._went:
            self._doubtful.append((named, self._went[lane], event.number))

    def _told(self, named: Delivery, fields: Header) -> Lane:
        """What the gateway says is the audience."""
        self._sets.told(named, str(fields["audience"]))
        return named[2], named[0], str(fields["audience"])

    def verify_sent(self, named: Delivery, promised: bool) -> None:
        """That what was delivered was sent before; raises RecordMismatchError.

        Args:
            promised: DELIVERED names what a promise of it names, which no gateway did before it said what it sent.
        """
        if self._sets.sent_at(named) is not None:
            return
        if self._says or promised or kind_and_number(named[1])[0] in _KINDS:
            raise RecordMismatchError("a delivery was never recorded as sent")
        self._report.older("delivered")

    def delivered(self, named: Delivery, pairs: Sequence[SanitizedPair | None], digest: bytes) -> bool:
        """DELIVERED; whether it is of contents, which name nobody.

        Args:
            digest: that the party signed.

        Raises:
            RecordMismatchError: other contents than the main service formed.
        """
        kind = kind_and_number(named[1])[0]
        if kind == "contents":
            with check_of(COMPLETENESS):
                if self._sets.vouched(named) not in (b"", digest):
                    raise RecordMismatchError("a party got other contents than the ones of the epoch and audience")
            self._sets.vouch_contents(named, digest)
        if kind == "entries":
            self._have_entries(named, pairs)
        return kind == "contents"

    def _have_entries(self, named: Delivery, pairs: Sequence[SanitizedPair | None]) -> None:
        lane = (named[2], named[0], self._sets.audience(named))
        for pair in pairs:
            if pair is None:
                self._excused.add(lane)
                continue
            user_id = self._people.of_prox(decode_text(pair.original.message.user_block)).user_id
            self._entered.setdefault(user_id, set()).add(lane)
            later = self._consents.asked_back.get(user_id, {}).get(f"{named[2]}|general", 0) > named[0]
            if later or user_id in self._objected:
                self._excused.add(lane)

    def delivered_unread(self, named: Delivery, records: int) -> None:
        """DELIVERED of which nothing can be read but of how many records it was."""
        self._sets.shown.delivered(named, Shown({}, records))
        self._excused.add((named[2], named[0], self._sets.audience(named)))

    def dropped(self, event: Event) -> bool:
        """DROPPED; whether nothing of the group, portion or contents is left.

        Raises:
            RecordMismatchError: contents that were sent before, or were not late.
        """
        fields = event.fields
        named = (int(str(fields["epoch"])), int(str(fields["group"])), str(fields["party"]))
        kind, reason, entries = kind_and_number(named[1])[0], str(fields["reason"]), fields.get("entries")
        if kind not in _KINDS or ("audience" not in fields and entries is None and reason in _WHOLE):
            return True
        if kind == "entries" and entries is None and reason == _LEFT:  # as gateways of before said it, of all of them
            return True
        if isinstance(entries, list) != (kind == "entries"):
            raise RecordMismatchError("event does not say which entries were dropped, or says it of contents")
        lane = self._told(named, fields)
        if isinstance(entries, list):
            if reason in _PERSONS or (reason == "no_consent" and self._erases):
                self._excused.add(lane)
            self._sets.shown.dropped(named, [str(entry) for entry in entries], int(str(fields["left"])))
            return fields["left"] == 0
        if self._sets.sent_at(named) is not None and reason != _LEFT:
            raise RecordMismatchError("contents were dropped after they were sent")
        if reason == "late":
            due = self._epochs.end(named[0]) + LATE_SECONDS - _LENIENT
            if (time := int(str(fields["time"]))) < due:
                raise RecordMismatchError("contents were dropped as late before they were")
            self._said = max(self._said, time)
        elif reason == "withdrawn":
            self._withheld.append((lane, event.number))
        elif reason != _LEFT:
            raise RecordMismatchError("contents were dropped for a reason that there is not")
        return True

    def asked(self, time_ms: int) -> None:
        """Something was asked that the gateway had found fresh (Unix milliseconds, by a device's clock)."""
        self._early += self._said > time_ms / 1000 + _LENIENT
        self._said = 0

    def erased(self, user_id: str, forgotten: dict[int, set[bytes]]) -> None:
        """A user was erased, who is not named if nothing of theirs was ever read.

        Args:
            forgotten: by epoch, the subject tags under which MS was to forget the user.
        """
        self._erases = True
        for lane in self._entered.pop(user_id, set()):
            if lane[1] in forgotten:
                self._erased.setdefault(lane, set()).update(forgotten[lane[1]])
            else:
                self._barred.add(lane)
        self._objected.discard(user_id)

    def objected(self, user_id: str, event: int, time_ms: int, last: str) -> None:
        """A user objects, as they signed at a time; `last` as of `Went`. Raises ValueError if it is none."""
        if last:
            _named(last)
        self._objected.add(user_id)
        self._go(self._entered.get(user_id, set()), (event, last), time_ms)

    def asked_back(self, user_id: str) -> None:
        """A user chose: whether or not MS acknowledges it, what that takes back of earlier epochs may be dropped."""
        lost = self._consents.asked_back.get(user_id, {})
        self._excused |= {
            lane for lane in self._entered.get(user_id, set()) if lost.get(f"{lane[0]}|general", 0) > lane[1]
        }

    def took_back(self, user_id: str, epoch: int, parties: frozenset[str], event: int, time_ms: int) -> None:
        """It was acknowledged to a user that in an epoch these parties are no longer allowed anything.

        Args:
            event, time_ms: since when the gateway has it in effect; when the user said so (Unix milliseconds).
        """
        entered = self._entered.get(user_id, set())
        self._go({lane for lane in entered if lane[0] in parties and lane[1] < epoch}, (event, ""), time_ms)

    def _go(self, lanes: set[Lane], went: Went, time_ms: int) -> None:
        late = coming_seconds(self._policies.longest(lambda trust: trust.epoch_grace)) + _LENIENT
        for lane in lanes:
            if time_ms / 1000 >= self._epochs.end(lane[1]) + late:
                self._barred.add(lane)
            else:
                self._went.setdefault(lane, went)

    def _had_come(self, went: Went) -> int:
        """The last release, by its place, that had come when somebody went."""
        event, last = went
        said = self._sets.place(_named(last)) if last else None
        return self._sets.order.last_handled(event) if said is None else said

    def _was_refused(self, lane: Lane) -> bool:
        """Whether somebody went, an entry of whose had not gone as they had withdrawn before it came."""
        names = self._sets.entries.refused(*lane)
        standing = self._consents.standing if names else {}
        users = {name_of_person(prox): at.user_id for prox, at in standing.items() if at.epoch == lane[1]}
        return any(
            self._erases if name is None else self._is_gone(name, users.get(name, ""), lane) for name in names
        )  # fmt: skip

    def _is_gone(self, name: bytes, user_id: str, lane: Lane) -> bool:
        if not user_id:
            return name in self._people.gone or not any(name)
        later = self._consents.asked_back.get(user_id, {}).get(f"{lane[0]}|general", 0) > lane[1]
        return later or user_id in self._objected

    def finish(self, newest: int, forgotten: dict[bytes, int]) -> None:
        """When the main service's log was read, too.

        Args:
            newest: the epoch that the gateway opened last. Whose entries are under way just then is said soon after.
            forgotten: subject tags that MS says it has forgotten → its event.
        """
        if early := self._early + (self._said > self._report.scope.started + _LENIENT):
            text = f"{early} times contents were dropped as late when it was not yet, by what was asked, or now"
            self._report.missing.append(Unchecked(COMPLETENESS, GATEWAY, f"{text}: the gateway's clock was wrong"))
        gone = {*self._barred, *self._went, *self._excused, *self._erased}
        gone |= {lane for lane in {lane for lane, _ in self._withheld} - gone if self._was_refused(lane)}
        self._withheld = [(lane, event) for lane, event in self._withheld if lane not in gone]
        for lane, event in list(self._withheld):
            if lane[1] + _SOON < newest:
                self._report.add(COMPLETENESS, GATEWAY, event, f"DROPPED: {_UNASKED}")
                self._withheld.remove((lane, event))
            else:
                self._report.missing.append(Unchecked(COMPLETENESS, GATEWAY, f"leaf {event}: {_UNASKED}"))
        pending = []
        for named, went, event in self._doubtful:
            place = self._sets.place(named)
            if place is None:
                pending.append((named, went, event))
            elif self._had_come(went) >= place:
                self._report.add(CONSENT, GATEWAY, event, f"SENT: {_AGAIN}")
        self._doubtful = pending
        waiting = []
        for named, tags, event in self._without:
            formed = self._sets.released_at(named)
            if formed is None or not tags <= forgotten.keys():  # what MS never says `Obligations` finds
                waiting.append((named, tags, event))
            elif any(forgotten[tag] > formed for tag in tags):
                self._report.add(CONSENT, GATEWAY, event, f"SENT: {_AGAIN}")
        self._without = waiting

    def state(self) -> SplitDeliveriesState:
        """For storing."""
        return (
            self._entered, self._barred, self._went, self._excused, self._objected, self._doubtful, self._withheld,
            self._erases, self._says, self._erased, self._without, self._said, self._early,
        )  # fmt: skip

    def restore(self, state: SplitDeliveriesState, consents: Consents) -> None:
        """Go on from a state."""
        self._consents = consents
        (
            self._entered, self._barred, self._went, self._excused, self._objected, self._doubtful, self._withheld,
            self._erases, self._says, self._erased, self._without, self._said, self._early,
        ) = state  # fmt: skip
