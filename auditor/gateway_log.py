"""The Identity Screener's log (checks 3, 7, 9 of DESIGN 10.4)."""

from auditor.completeness import Sets
from auditor.deliveries import Deliveries
from auditor.log import Log
from auditor.people import People, Person
from auditor.report import COMPLETENESS, GATEWAY, SIGNATURES, Report
from auditor.tuples import Tuples
from proxid.crypto.identity import Enrolment
from proxid.errors import MessageInvalidError, RecordMismatchError
from proxid.evidence.events import (
    ConsentPayload,
    DeliveredPayload,
    EnrolledPayload,
    Event,
    EventType,
    LinkedPayload,
    SanitizedPair,
)


class GatewayLog(Log):
    """Checks each event and fills the sets of check 7."""

    def __init__(self, people: People, tuples: Tuples, deliveries: Deliveries, sets: Sets, report: Report) -> None:
        self._people = people
        self._tuples = tuples
        self._deliveries = deliveries
        self._sets = sets
        self._asked: dict[str, Person] = {}
        rules = {
            EventType.ENROLLED: (SIGNATURES, self._enrolled),
            EventType.LINKED: (SIGNATURES, self._linked),
            EventType.ALIASED: (SIGNATURES, self._aliased),
            EventType.CONSENT: (SIGNATURES, self._consent),
            EventType.FORWARDED: (SIGNATURES, self._forwarded),
            EventType.ANSWERED: (SIGNATURES, self._answered),
            EventType.DELIVERED: (SIGNATURES, self._delivered),
            EventType.DROPPED: (COMPLETENESS, self._dropped),
            EventType.UNREACHED: (COMPLETENESS, self._unreached),
            EventType.REFUSED: (COMPLETENESS, self._refused),
        }
        super().__init__(GATEWAY, rules, report)

    def _enrolled(self, event: Event) -> None:
        self._people.enrolled(Enrolment.decode(EnrolledPayload.decode(event.payload).enrolment))

    def _linked(self, event: Event) -> None:
        self._people.linked(LinkedPayload.decode(event.payload))

    def _aliased(self, event: Event) -> None:
        self._deliveries.aliased(event.payload)

    def _consent(self, event: Event) -> None:
        payload = ConsentPayload.decode(event.payload)
        if event.fields["phase"] == "acknowledged":
            self._tuples.consent_acknowledged(payload.acknowledgement)
        else:
            self._tuples.consent(payload)

    def _forwarded(self, event: Event) -> None:
        pair = SanitizedPair.decode(event.payload)
        session = str(event.fields["session"])
        self._sets.forwarded[session] = pair.original.header.time_ms
        if pair.original.session_id.hex() != session:
            raise MessageInvalidError("session id is not the request's hash")
        self._asked[session] = self._tuples.forwarded(pair)

    def _answered(self, event: Event) -> None:
        session = str(event.fields["session"])
        self._sets.answered.add(session)
        person = self._asked.pop(session, None)
        if person is None:
            raise MessageInvalidError("a session was answered that was not forwarded, or twice")
        self._tuples.answered(SanitizedPair.decode(event.payload), bytes.fromhex(session), person)

    def _delivered(self, event: Event) -> None:
        fields = event.fields
        named = (int(str(fields["epoch"])), int(str(fields["group"])), str(fields["party"]))
        if named in self._sets.delivered:
            raise RecordMismatchError("group was delivered to a party twice")
        self._sets.delivered.add(named)
        ack = self._deliveries.delivered(DeliveredPayload.decode(event.payload))
        if (ack.epoch, ack.group, ack.party) != named:
            raise RecordMismatchError("acknowledgement is of another group than the event")

    def _dropped(self, event: Event) -> None:
        fields = event.fields
        named = (int(str(fields["epoch"])), int(str(fields["group"])), str(fields["party"]))
        self._sets.dropped[named] = str(fields["reason"])

    def _unreached(self, event: Event) -> None:
        self._sets.unreached.add(str(event.fields["session"]))

    def _refused(self, event: Event) -> None:
        str(event.fields["rule"])
