"""The Main Service's log (checks 2 to 7 of DESIGN 10.4)."""

from collections.abc import Callable
from typing import Final

from auditor.checks.c2_erasures import Erasures
from auditor.checks.c2_owners import Filing
from auditor.checks.c3_links import People
from auditor.checks.c3_records import verify_all_filled
from auditor.checks.c3_tuples import Tuples
from auditor.checks.c4_records import Records
from auditor.checks.c5_epochs import EpochTimes, TimesState
from auditor.checks.c5_groups import Groups, GroupsState
from auditor.checks.c5_shapes import verify_shape
from auditor.checks.c5_spill import Spill
from auditor.checks.c6_consents import Consents
from auditor.checks.c6_objected import Objected, ObjectedState
from auditor.checks.c6_service import ServiceConsents, ServiceConsentsState
from auditor.checks.c6_taken_back import TakenBack, TakenBackState
from auditor.checks.c7_completeness import Sets
from auditor.checks.c7_counts import HIDDEN_OWNERS
from auditor.checks.c7_dropped import Drops
from auditor.checks.c7_withheld import Withheld, WithheldState
from auditor.checks.c8_kept import STRANGERS, Kept, KeptState
from auditor.checks.c8_obligations import Obligations
from auditor.event_log import Log, check_of, form_of
from auditor.findings import COMPLETENESS, CONSENT, ERASURE, GROUPS, MAIN_SERVICE, OPENING, SIGNATURES, Report
from auditor.given_up import GivenUp
from auditor.policies import Policies
from auditor.split_events import SplitEvents
from proxid.anonymise.mix.types import Group
from proxid.anonymise.slotted.types import SlotGroup
from proxid.crypto.sansig import SignedMessage
from proxid.errors import ConsentError, GroupMismatchError, MessageInvalidError
from proxid.evidence.events import BufferedPayload, Event, EventType, Header, ReceivedPayload, ReleasedPayload
from proxid.protocol import consent
from proxid.protocol.record import kind_and_number

ServiceState = tuple[
    GroupsState, WithheldState, set[int], ServiceConsentsState, TimesState, KeptState, TakenBackState, ObjectedState,
]  # fmt: skip
"""Replays, open requests, epochs that were opened, consents, times, what waits, what is to be withdrawn, objections."""
_WAITS: Final = frozenset({EventType.BUFFERED, EventType.RELEASED})


class ServiceLog(Log):
    """Checks each event, replays the groups and fills the sets of check 7."""

    def __init__(
        self, policies: Policies, people: People, tuples: Tuples, sets: Sets, erasures: Erasures,
        obligations: Obligations, spill: Spill, report: Report, consents: Callable[[], Consents],
    ) -> None:  # fmt: skip
        self._policies = policies
        self._trust = policies.trust
        self._people = people
        self._tuples = tuples
        self._sets = sets
        self._groups = Groups(policies, spill)
        self._times = EpochTimes(policies, report)
        self._split = SplitEvents(policies, self._groups, sets, self._times, report)
        self._consents = ServiceConsents(policies, people, consents, report)
        self._withheld = Withheld(policies, people, self._consents, obligations, self._groups, report)
        self._drops = Drops(policies, people, consents, obligations, sets, report)
        self._opened: set[int] = set()
        self._kept = Kept()
        self._taken_back = TakenBack(policies, people, self._groups, obligations, report)
        self._erasures = erasures
        self._obligations = obligations
        self._filing = Filing(MAIN_SERVICE, people, erasures, sets.filed, report)
        self._objected = Objected(policies, people, obligations, report)
        self._records = Records(policies, people, self._consents, self._objected, report)
        self._given_up = GivenUp(
            sets, self._groups, self._split, self._records, self._withheld, self._kept, self._times
        )
        rules = {
            EventType.EPOCH_OPENED: (GROUPS, self._epoch_opened),
            EventType.EPOCH_CLOSED: (GROUPS, self._epoch_closed),
            EventType.CONSENT: (SIGNATURES, lambda e: self._taken_back.consented(*self._consents.changed(e))),
            EventType.RECEIVED: (SIGNATURES, self._received),
            EventType.REFUSED: (COMPLETENESS, self._refused),
            EventType.BUFFERED: (GROUPS, self._buffered),
            EventType.RAISED: (GROUPS, self._raised),
            EventType.RELEASED: (GROUPS, self._released),
            EventType.TICKED: (GROUPS, lambda e: self._split.ticked(e, self._withheld.arrivals)),
            EventType.BATCHED: (GROUPS, self._split.batched),
            EventType.SUPPRESSED: (COMPLETENESS, self._given_up.suppressed),
            EventType.WITHDRAWN: (COMPLETENESS, self._withdrawn),
            EventType.RESTRICTED: (CONSENT, self._taken_back.told),
            EventType.ERASED: (ERASURE, self._erased),
            EventType.EXPIRED: (OPENING, lambda e: erasures.expiry(MAIN_SERVICE, e, self.base)),
        }
        hidden = {
            EventType.CONSENT: self._consents.unread,
            EventType.SUPPRESSED: self._given_up.suppressed_unread,
            EventType.RESTRICTED: obligations.restrictions.heeded_unread,
            EventType.RECEIVED: self._received_unread,
            EventType.BUFFERED: self._buffered_unread,
            EventType.RELEASED: self._released_unread,
            EventType.EPOCH_OPENED: self._epoch_opened_unread,
        }
        super().__init__(MAIN_SERVICE, rules, hidden, report, policies)
        self.promises({EventType.CONSENT: "message", EventType.RESTRICTED: "word"}, sets.promisable.add)

    def take(self, event: Event) -> None:
        """See `Log.take`; whoever was forgotten neither waits nor leaves any more."""
        try:
            self._taken_back.verify_done(event)
        except ConsentError as error:
            self._report.add(CONSENT, MAIN_SERVICE, event.number, f"CONSENT: {error.rule}")
        super().take(event)
        if event.type in _WAITS and not self._obligations.forgotten.keys().isdisjoint(event.tags):
            text = "of a person whom the main service had said to have forgotten"
            self._report.add(ERASURE, MAIN_SERVICE, event.number, f"{event.type.value}: {text}")

    def _verify_filed(self, event: Event) -> None:
        if event.type is EventType.RELEASED and "close" in event.fields:
            self._times.ended(float(str(event.fields["close"])))
        self._filing.verify(event)

    def _epoch_opened(self, event: Event) -> None:
        epoch = int(str(event.fields["epoch"]))
        sealed = self._policies.began(event, self._report)
        self._opened.add(epoch)
        self._groups.opened(epoch, bytes.fromhex(str(event.fields["commitment"])), sealed)
        self._times.opened(event)
        if (feeds := self._policies.has_feeds(event)) is not None:
            self._withheld.releases.said("feeds", int(feeds))
            if not feeds:
                self._report.older("feeds")
        self._withheld.arrivals.opened(event, self._withheld.releases)

    def _epoch_opened_unread(self, event: Event) -> None:
        epoch = int(str(event.fields["epoch"]))
        self._policies.began_unread(event, self._report)
        self._groups.opened_blind(epoch)
        self._opened.add(epoch)
        with check_of(GROUPS):
            self._times.opened(event)
        self._withheld.arrivals.opened(event, self._withheld.releases)

    def _epoch_closed(self, event: Event) -> None:
        epoch = int(str(event.fields["epoch"]))
        if epoch not in self._opened:
            raise GroupMismatchError("an epoch was closed that was never opened")
        self._groups.overdue.due(epoch, self._times.over_since(epoch))
        self._groups.closed(epoch)
        self._times.closed(event)
        self._kept.verify_over(epoch, self._erasures.epochs)

    def _received(self, event: Event) -> None:
        session = str(event.fields["session"])
        payload = ReceivedPayload.decode(event.payload)
        signed = SignedMessage.decode(payload.request)
        with check_of(COMPLETENESS):
            good = self._sets.received(session, signed.header.time_ms, event.number)
        # Whatever is wrong with it, what follows in the session is compared with it: one fault is told once.
        with check_of(COMPLETENESS):
            self._withheld.received(session, signed, event)
        self._tuples.received(signed, payload.credential, good)
        with check_of(GROUPS):
            self._groups.overdue.received(signed.header.time_ms)
            self._times.verify_received(signed.header.epoch, signed.header.time_ms)
        self._objected.received(signed.header.epoch, session, signed.header.time_ms, self._groups)
        with check_of(CONSENT):
            self._taken_back.received(signed.header.epoch, signed.message.user_block.decode("utf-8", "replace"))
        if signed.session_id.hex() != session:
            raise MessageInvalidError("session id is not the request's hash")

    def _received_unread(self, event: Event) -> None:
        session = str(event.fields["session"])
        self._sets.received(session, 0, event.number)
        self._withheld.received_unread(session)

    def _refused(self, event: Event) -> None:
        self._sets.refused(str(event.fields["session"]), form_of(event))
        self._turned_away(event)

    def _buffered_unread(self, event: Event) -> None:
        self._kept.buffered(event)
        fields = event.fields
        session = str(fields["session"])
        self._sets.buffered(session)
        self._withheld.taken_unread(session, event.number)
        with check_of(GROUPS):
            self._groups.blinded(int(str(fields["epoch"])), str(fields.get("kind", "general")))

    def _buffered(self, event: Event) -> None:
        self._kept.buffered(event)
        payload = BufferedPayload.decode(event.payload)
        session = payload.session.hex()
        self._sets.buffered(session)
        received = self._withheld.taken(session, event.number)
        self._records.verify(event, payload, received)
        with check_of(CONSENT):
            self._taken_back.verify_waits(payload.prox_id)
        self._groups.buffered(int(str(event.fields.get("epoch", 0))), payload)

    def _raised(self, event: Event) -> None:
        fields = event.fields
        self._kept.verify_epoch(fields, self._erasures.epochs)
        self._given_up.timed(fields)
        nodes = (_path(fields["source"]), _path(fields["target"]))
        session = bytes.fromhex(str(fields["session"]))
        if "kind" in fields:
            epoch, kind = int(str(fields["epoch"])), str(fields["kind"])
            if not self._groups.is_blind(epoch, kind):
                self._groups.slots(epoch, kind, str(fields["close"])).verify_raised(session, nodes)
            return
        self._groups.raised(int(str(fields["epoch"])), session, nodes, float(str(fields["time"])))

    def _released(self, event: Event) -> None:
        fields = event.fields
        epoch, number = int(str(fields["epoch"])), int(str(fields["group"]))
        payload = ReleasedPayload.decode(event.payload)
        self._let_go(event, [session.hex() for session in payload.records])
        if epoch not in self._policies.keyed:
            self._report.believe(SIGNATURES, "seals", len(payload.records) * len(payload.parties))
        with check_of(COMPLETENESS):
            good = self._sets.released_to((epoch, number), payload, event.number)
        for session in payload.records:
            if session:
                self._sets.ended(session.hex(), "released", event.number)
            else:
                self._report.counts[HIDDEN_OWNERS] += 1
        kind = str(fields.get("kind", "general"))
        if kind != kind_and_number(number)[0]:
            raise GroupMismatchError("group is numbered as one of another kind")
        audience = dict(consent.parse_audience(str(fields["audience"]).partition("|")[2]))
        if kind == "entries":
            self._split.entries(event, epoch, number, payload, good)
            self._drops.portion((epoch, number), audience, payload)
            return
        self._report.counts[f"group.size.{kind}.{len(payload.records):02d}"] += 1
        if event.hidden or self._groups.is_blind(epoch, kind):
            self._report.counts["groups.partly_erased"] += 1
            verify_shape(self._policies, epoch, kind, payload)
            verify_all_filled(payload, self._trust.service, self._groups.fills(epoch))
            if not self._groups.is_blind(epoch, kind):
                self._groups.released_unread((epoch, number), kind, str(fields.get("close", "")), payload)
        elif "kind" in fields:
            close = str(fields["close"])
            _verify_stated(fields, self._groups.released_slot((epoch, number), kind, close, payload, good))
        else:
            group = self._groups.released(epoch, number, payload, good)
            _verify_stated({"raised": group.raised, **fields}, group)
        self._drops.released((epoch, number), kind, audience, payload)

    def _let_go(self, event: Event, sessions: list[str]) -> None:
        if not self._kept.released(event, sessions):
            self._report.add(OPENING, MAIN_SERVICE, event.number, f"RELEASED: {STRANGERS}")

    def _released_unread(self, event: Event) -> None:
        self._let_go(event, [])
        fields = event.fields
        place = (int(str(fields["epoch"])), int(str(fields["group"])))
        self._report.counts[HIDDEN_OWNERS] += len(event.tags) // 2  # an open part, the owners', the people's
        for party, _ in consent.parse_audience(str(fields["audience"]).partition("|")[2]):
            self._sets.released((*place, party), event.number)
        kind = str(fields.get("kind", "general"))
        if kind == "entries":
            self._split.entries_unread(event)
        elif not self._groups.is_blind(place[0], kind):
            self._groups.released_unread(place, kind, str(fields.get("close", "")), None)

    def _withdrawn(self, event: Event) -> None:
        fields = event.fields
        epoch, session = int(str(fields["epoch"])), bytes.fromhex(str(fields["session"]))
        tag = b"" if "left" in fields else self._kept.ended(str(fields["session"]))
        if "left" not in fields:
            self._sets.ended(str(fields["session"]), "withdrawn", event.number)
        with check_of(GROUPS):
            left, kind = self._split.has_left(event), str(fields.get("kind", "general"))
            self._taken_back.withdrawn(epoch, session, self._groups.withdrawn(epoch, session, kind, left), tag)

    def _erased(self, event: Event) -> None:
        tag = bytes.fromhex(str(event.fields["tag"]))
        self._obligations.forgotten.setdefault(tag, event.number)
        self._kept.erased(tag)

    def state(self) -> ServiceState:
        """For storing."""
        own = (self._withheld.state(), self._opened, self._consents.state())
        of_people = (self._taken_back.state(), self._objected.state())
        return self._groups.state(), *own, self._times.state(), self._kept.state(), *of_people

    def restore(self, state: ServiceState) -> None:
        """Go on from a state."""
        groups, withheld, self._opened, consents, times, kept, taken_back, objected = state
        self._objected.restore(objected)
        self._withheld.restore(withheld)
        self._consents.restore(consents)
        self._taken_back.restore(taken_back)
        self._kept.restore(kept)
        self._times.restore(times)
        self._groups.restore(groups)

    def finish(self, seen: int, now: float) -> None:
        """What only the whole of both logs shows: groups that formed and were never released stay pending.

        Args:
            seen: the gateway's last event before this log was read. now: Unix seconds up to which the logs were read.
        """
        self._consents.check(seen)
        self._withheld.finish(now)
        self._drops.check()
        try:
            self._report.counts["groups.pending"] = self._groups.unreleased()
        except GroupMismatchError as error:
            self._report.add(GROUPS, MAIN_SERVICE, 0, error.rule)
        self._groups.hold()
        self._times.hold(self._groups.overdue)
        self._groups.overdue.finish(self._report)
        self._times.finish()
        newest = max(self._opened, default=-1)
        self._taken_back.finish(newest, self._consents.unreadable)
        self._objected.finish(newest)


def _verify_stated(fields: Header, group: Group | SlotGroup) -> None:
    """The header of RELEASED says of its group what the replay does; raises GroupMismatchError."""
    raised = group.raised if isinstance(group, Group) else None
    if (fields["audience"], fields["node"], fields.get("raised")) != (group.audience, list(group.node), raised):
        raise GroupMismatchError("event says something else of its group than the replay")


def _path(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError("a node is a list")
    return tuple(str(part) for part in value)
