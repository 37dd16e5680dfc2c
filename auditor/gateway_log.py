"""The Identity Screener's log (checks 2, 3, 6, 7, 9 of DESIGN 10.4)."""

from typing import Final

from auditor.checks.c2_erasures import Erasures
from auditor.checks.c2_owners import ScreenerFiling
from auditor.checks.c3_deliveries import Deliveries
from auditor.checks.c3_links import People, Person
from auditor.checks.c3_signatures import name_of
from auditor.checks.c3_tuples import Tuples
from auditor.checks.c6_consents import Consents, verify_named
from auditor.checks.c6_split import SplitDeliveries, SplitDeliveriesState
from auditor.checks.c7_completeness import Sets
from auditor.checks.c7_limits import Limits, LimitsState
from auditor.checks.c7_shown import of_pairs
from auditor.checks.c8_obligations import Obligations
from auditor.event_log import Log, check_of, form_of, is_acknowledged
from auditor.findings import COMPLETENESS, CONSENT, ERASURE, GATEWAY, GROUPS, OPENING, SIGNATURES, Basis, Report
from auditor.policies import Policies
from auditor.rights_events import RightsEvents, RightsState
from proxid.crypto.identity import Enrolment, Link
from proxid.crypto.sansig import Role
from proxid.encoding import decode_int, decode_text
from proxid.errors import CredentialError, MessageInvalidError, RecordMismatchError
from proxid.evidence.events import (
    ConsentPayload,
    DeliveredPayload,
    EnrolledPayload,
    Event,
    EventType,
    LinkedPayload,
    SanitizedPair,
)
from proxid.evidence.ratchet import owner_commitment
from proxid.protocol import consent, response
from proxid.protocol.record import kind_and_number

PARTY_LEFT: Final = "party_left"
REASONS: Final = frozenset({PARTY_LEFT, "no_consent", "withdrawn", "objected", "erased", "late", "invalid"})
PROMISED: Final = {
    EventType.CONSENT: "message", EventType.ACCESSED: "request", EventType.OBJECTED: "request",
    EventType.ERASED: "request", EventType.DELIVERED: "ack",
}  # fmt: skip
"""Which events the gateway promises, and the field of the header that names what was asked."""

GatewayState = tuple[
    Consents, set[tuple[bytes, int]], dict[str, Person | None], set[bytes], RightsState, SplitDeliveriesState,
    LimitsState, tuple[int, bytes],
]  # fmt: skip
"""Consents, acknowledged ones, whose open requests are, expired links, rights, SENT, limits, who entered."""


class GatewayLog(Log):
    """Checks each event and fills the sets of check 7."""

    def __init__(
        self, people: People, tuples: Tuples, deliveries: Deliveries, sets: Sets, erasures: Erasures,
        obligations: Obligations, policies: Policies, report: Report,
    ) -> None:  # fmt: skip
        self._people, self._policies = people, policies
        self._tuples, self._deliveries = tuples, deliveries
        self._sets = sets
        self._erasures = erasures
        self._obligations = obligations
        self.consents = Consents()
        self.acknowledged: set[tuple[bytes, int]] = set()
        self._split = SplitDeliveries(policies, people, sets, self.consents, report)
        self._rights = RightsEvents(people, lambda: self.consents, erasures, obligations, self._split, policies, report)
        self._filing = ScreenerFiling(people, erasures, sets.filed, policies, report)
        self._limits = Limits(policies, people.of_prox, self._turned_away, report.older)
        self._asked: dict[str, Person | None] = {}
        """Whose the requests are that were not answered yet; None where that cannot be read."""
        said = self._limits.releases.said
        rules = {
            EventType.ENROLLED: (SIGNATURES, self._enrolled),
            EventType.REVOKED: (SIGNATURES, self._rights.revoked),
            EventType.LINKED: (SIGNATURES, self._linked),
            EventType.KEYED: (SIGNATURES, self._deliveries.keyed),
            EventType.ALIASED: (SIGNATURES, self._aliased),
            EventType.CONSENT: (SIGNATURES, self._consent),
            EventType.FORWARDED: (SIGNATURES, self._forwarded),
            EventType.ANSWERED: (SIGNATURES, self._answered),
            EventType.SENT: (COMPLETENESS, self._split.sent),
            EventType.DELIVERED: (SIGNATURES, self._delivered),
            EventType.DROPPED: (COMPLETENESS, self._dropped),
            EventType.UNREACHED: (COMPLETENESS, lambda e: self._sets.unreached(str(e.fields["session"]), form_of(e))),
            EventType.REFUSED: (COMPLETENESS, self._limits.refused),
            EventType.ERASED: (ERASURE, lambda e: self._deliveries.forget(self._rights.erased(e))),
            EventType.OBJECTED: (SIGNATURES, lambda e: said("objected", self._rights.objected(e))),
            EventType.ACCESSED: (SIGNATURES, self._rights.accessed),
            EventType.NOTICED: (ERASURE, self._obligations.told.noticed),
            EventType.EXPIRED: (OPENING, lambda e: self._erasures.expiry(GATEWAY, e, self.base)),
            EventType.EPOCH_OPENED: (GROUPS, self._epoch_opened),
        }
        hidden = {
            EventType.ENROLLED: self._people.enrolled_unread,
            EventType.LINKED: self._linked_unread,
            EventType.CONSENT: self._consent_unread_only,
            EventType.KEYED: self._deliveries.keyed,
            EventType.ALIASED: self._deliveries.aliased_unread,
            EventType.FORWARDED: self._forwarded_unread,
            EventType.ANSWERED: self._answered_unread,
            EventType.DELIVERED: self._delivered_unread,
            EventType.ERASED: self._rights.erased_unread,
            EventType.OBJECTED: self._rights.objected_unread,
            EventType.ACCESSED: self._rights.accessed_unread,
            EventType.EPOCH_OPENED: self._epoch_opened_unread,
        }
        super().__init__(GATEWAY, rules, hidden, report, policies)
        self.promises(PROMISED, sets.promisable.add)
        self.damage.keys = True

    def _verify_filed(self, event: Event) -> None:
        self._filing.verify(event)

    def finish(self) -> None:
        """When the main service's log was read, too."""
        self._limits.finish(self._report)
        self._rights.finish()
        self._split.finish(max(self._policies.told, default=0), self._obligations.forgotten)

    def begin(self, generation: int, base: int) -> None:
        """See `Log.begin`."""
        super().begin(generation, base)
        self._obligations.feeds.follows = self._people.lost.follows = generation > 1

    def state(self) -> GatewayState:
        """For storing."""
        own = (self.consents, self.acknowledged, self._asked, self.unlinked, self._rights.state())
        return *own, self._split.state(), self._limits.state(), self._filing.entered

    def restore(self, state: GatewayState) -> None:
        """Go on from a state."""
        self.consents, self.acknowledged, self._asked, unlinked, rights = state[:5]
        self._rights.restore(rights)
        split, limits, self._filing.entered = state[5:]
        self._limits.restore(limits)
        self._split.restore(split, self.consents)
        self.unlinked.update(unlinked)

    def _enrolled(self, event: Event) -> None:
        payload, (tag,), form = EnrolledPayload.decode(event.payload), event.tags, form_of(event)
        time = int(str(event.fields["time"])) if form > 1 else None
        enrolment = Enrolment.decode(payload.enrolment)
        if not self._people.enrolled(enrolment, event.number, time, self.base, (payload.prox_id, tag)):
            self._report.older("enrolled")
        self._limits.releases.said("enrolled", form)

    def _linked(self, event: Event) -> None:
        tag, payload = self._erasures.linked(event), LinkedPayload.decode(event.payload)
        self._people.linked(payload, tag, event.number)
        link = Link.decode(payload.link)
        if event.fields["epoch"] != link.epoch:
            raise CredentialError("event names another epoch than the link")
        if event.owner_salt and owner_commitment(link.user_id, event.owner_salt).hex() != event.fields["owner"]:
            raise CredentialError("link commits to another owner than its user")

    def _linked_unread(self, event: Event) -> None:
        tag = self._erasures.linked(event)
        self._people.lost.unread_link(int(str(event.fields["epoch"])), tag)
        if event.gone:
            self.unlinked.add(tag)

    def _aliased(self, event: Event) -> None:
        basis = self._deliveries.aliased(event)
        if basis is Basis.BELIEVED:
            self._report.believe(SIGNATURES, "aliases")
        elif basis is not None:
            self._report.rests(SIGNATURES, basis)
        self._report.counts[f"aliases.{basis or 'recomputed'}"] += 1

    def _consent(self, event: Event) -> None:
        payload = ConsentPayload.decode(event.payload)
        if is_acknowledged(event):
            pair = self._tuples.consent_acknowledged(payload.acknowledgement)
            blocks = pair.original.message.blocks
            version = decode_int(blocks[consent.ACK_VERSION])
            self._report.rests(SIGNATURES, Basis.COUNTERSIGNED)
            named = (*self._consent_unread(event), event.fields["epoch"])
            if named != (blocks[consent.ACK_HASH], version, pair.original.header.epoch):
                raise MessageInvalidError("event names another consent than it holds")
            prox_id = decode_text(blocks[consent.ACK_USER])
            if (before := self.consents.confirmed.get(prox_id)) and version <= before[0] and before[1] > self.base:
                raise MessageInvalidError("a consent was acknowledged twice, or after a later one")
            self.consents.confirmed[prox_id] = (version, event.number, b"".join(event.tags))
            self.consents.passed_on[prox_id] = name_of(pair.original, Role.SIGNER)
            with check_of(CONSENT):
                taken = self.consents.acknowledged(prox_id, version)
                self._split.took_back(*taken, *self.consents.taken_at(prox_id, version))
            return
        person, vector = self._tuples.consent(payload)
        self._rights.asked.taken(event.number, SanitizedPair.decode(payload.message).original.header.time_ms)
        self._report.checked[CONSENT] += 1
        with check_of(CONSENT):
            message = SanitizedPair.decode(payload.message).original
            verify_named(event.fields, message.session_id, vector)
            said = (event.number, (message.session_id, message.header.time_ms))
            withdrawn = self.consents.changed(person, vector, self._policies.naming, *said)
            self._split.asked_back(person.user_id)
            self._obligations.verify_grants(person.user_id, len(vector.grants))
        self._rights.exercised("consent")
        if withdrawn:
            self._rights.exercised("withdrawal")

    def _consent_unread(self, event: Event) -> tuple[bytes, int]:
        """What its header says of an acknowledged consent: receipts are looked for there."""
        fields = event.fields
        if not is_acknowledged(event):
            return b"", 0
        named = (bytes.fromhex(str(fields["message"])), int(str(fields["version"])))
        self.acknowledged.add((named[0][:16], named[1]))
        return named

    def _consent_unread_only(self, event: Event) -> None:
        self._consent_unread(event)
        if not is_acknowledged(event):
            self._report.counts["consents.unreadable"] += 1
            if event.gone:
                # What rests on it can be judged no more than what rests on a link that has expired.
                self.unlinked.update(event.tags)

    def _forwarded(self, event: Event) -> None:
        pair, session = SanitizedPair.decode(event.payload), str(event.fields["session"])
        self._sets.forwarded(session, pair.original.header.time_ms, event.number)
        if pair.original.session_id.hex() != session:
            raise MessageInvalidError("session id is not the request's hash")
        self._asked[session] = person = self._tuples.forwarded(pair)
        self._sets.vouch(session, name_of(pair.sanitized, Role.SANITIZER))
        self._people.verify_not_revoked(person, pair.original.header.time_ms)
        self._limits.forwarded(person.user_id, pair.original.header.time_ms)
        self._split.asked(pair.original.header.time_ms)

    def _forwarded_unread(self, event: Event) -> None:
        self._limits.forwarded_unread()
        session = str(event.fields["session"])
        self._sets.forwarded(session, 0, event.number)
        self._asked[session] = None

    def _answered(self, event: Event) -> None:
        session, person, (time_ms, forwarded) = self._answers(event)
        if person is None:
            return  # what it answers has expired
        pair = SanitizedPair.decode(event.payload)
        self._tuples.answered(pair, bytes.fromhex(session), person)
        self._sets.answered_heads.logged(session, name_of(pair.sanitized, Role.SANITIZER))
        self._people.answered(time_ms or 0, forwarded or 0)
        self._rights.asked.answered(time_ms or 0, forwarded or 0)
        if response.blocks_of(pair.original) == response.BLOCKS:
            self._sets.answered_heads.take(response.head_of(pair.original))
        else:
            self._report.older("answered")

    def _answered_unread(self, event: Event) -> None:
        self._answers(event)

    def _answers(self, event: Event) -> tuple[str, Person | None, tuple[int | None, int | None]]:
        session = str(event.fields["session"])
        asked = self._sets.answered(session, event.number)
        if session not in self._asked:
            raise MessageInvalidError("a session was answered that was not forwarded, or twice")
        return session, self._asked.pop(session), asked

    def _delivered_unread(self, event: Event) -> None:
        if kind_and_number((named := self._named_delivery(event))[1])[0] != "contents":
            self._split.delivered_unread(named, len(event.tags) - 1)
        self._obligations.delivered(event, ())

    def _named_delivery(self, event: Event) -> tuple[int, int, str]:
        fields = event.fields
        named = (int(str(fields["epoch"])), int(str(fields["group"])), str(fields["party"]))
        with check_of(COMPLETENESS):
            self._sets.delivered(named, event.number)
            self._split.verify_sent(named, bool(fields.get("ack")))
        with check_of(ERASURE):
            self._rights.verify_form(fields.get("v") == 2)
        return named

    def _delivered(self, event: Event) -> None:
        named = self._named_delivery(event)
        self._report.rests(SIGNATURES, Basis.COUNTERSIGNED)
        payload = DeliveredPayload.decode(event.payload)
        pairs = [SanitizedPair.decode(data) if data else None for data in payload.pairs]
        if pairs.count(None) > event.hidden:
            raise RecordMismatchError("a record is missing that nothing hides")
        ack = self._deliveries.delivered(payload.acknowledgement, pairs)
        if (ack.epoch, ack.group, ack.party) != named:
            raise RecordMismatchError("acknowledgement is of another group than the event")
        if self._split.delivered(named, pairs, ack.digest):
            return
        self._sets.shown.delivered(named, of_pairs(pairs, kind_and_number(ack.group)[0] == "entries"))
        self._report.checked[CONSENT] += 1
        with check_of(CONSENT):
            shown = [pair for pair in pairs if pair is not None]
            people = [decode_text(pair.original.message.user_block) for pair in shown]
            sent = self._sets.sent_at(named)
            self._obligations.delivered(event, people, sent)
            if shown:
                self.consents.verify_delivery(people, (ack.party, *self._deliveries.granted(shown)), sent)

    def _dropped(self, event: Event) -> None:
        fields = event.fields
        named = (int(str(fields["epoch"])), int(str(fields["group"])), str(fields["party"]))
        entries = fields.get("entries")
        if isinstance(entries, list):
            self._sets.entries.dropped(named, [str(one) for one in entries], str(fields["reason"]), event.number)
            if fields["left"] != 0:
                self._report.believe(COMPLETENESS, "possibly_held", len(entries))
        if self._split.dropped(event):
            self._sets.dropped(named, str(fields["reason"]), event.number)
        if fields["reason"] not in REASONS:
            raise RecordMismatchError("a group was dropped for a reason that there is not")
        if fields["reason"] == PARTY_LEFT and not self._policies.may_have_left(named[2]):
            raise RecordMismatchError("a group was dropped as of a party that has not left")

    def _epoch_opened(self, event: Event) -> None:
        self._policies.given(event, self.base)
        if self._policies.has_feeds(event) is False:
            self._report.older("aliases")
        self._began(event)

    def _epoch_opened_unread(self, event: Event) -> None:
        self._policies.given_unread(event)
        self._began(event)

    def _began(self, event: Event) -> None:
        """What is held against the document of an epoch that has just begun."""
        self._rights.began(int(str(event.fields["epoch"])), listed := self._policies.newest_parties())
        with check_of(ERASURE):
            self._obligations.feeds.state(event, listed)
