"""Payloads are filed under the evidence of whom they are of (check 2 of DESIGN 10.4).

Else somebody's erasure would hide what another did, and leave readable what is the erased person's.
"""

from auditor.checks.c2_erasures import Erasures
from auditor.checks.c3_links import People
from auditor.findings import GATEWAY, MISFILED, OPENING, Report
from auditor.policies import Policies
from proxid.errors import PayloadUnreadableError, ProxidError
from proxid.evidence.events import DeliveredPayload, Event, EventType, ReleasedPayload
from proxid.evidence.parts import PERSONS, person_of_pair

_NOT_YET = frozenset({EventType.ENROLLED, EventType.LINKED})
"""Their tags are compared with the link itself."""
_ANOTHERS = "payload is filed under another person's evidence"
_AWAY = 30 * 86_400.0
"""Seconds for which a service may be away, and come back to what waited."""


def verify_filed(log: str, event: Event, people: People) -> None:
    """Check the subject tags of an event whose payload opens, as far as it does.

    Raises:
        PayloadUnreadableError: a part is filed under another person than it is of.
    """
    try:
        found = _persons(log, event)
    except ProxidError:
        return  # its handler says that it is malformed
    for tag, prox_id in found:
        filed = people.of_tag(tag) if prox_id else None
        # Whose link the gateway's log shows stands under no tag of nobody. MS may have had another credential, if that
        # log was begun anew.
        known = people.find(prox_id) if filed is None and prox_id and log == GATEWAY else None
        if known is not None or (filed is not None and filed.prox_id != prox_id):
            raise PayloadUnreadableError(_ANOTHERS)


class Filing:
    """Links that the gateway's events of one person are filed under, by headers alone.

    Under one that has expired, or of somebody who was erased, nobody reads what an event says, nor whose it is.
    """

    def __init__(self, erasures: Erasures, policies: Policies, report: Report) -> None:
        self._erasures, self._policies, self._report = erasures, policies, report
        self._early: set[bytes] = set()
        """Tags that nobody was linked under so far: what stands under them and is not covered ends each audit."""

    def take(self, event: Event) -> None:
        """An event of the gateway's log, in its order.

        A consent says its epoch, which the link must be of. What was recorded when the link may have been gone already,
        so that it never could be read, is counted: clocks may have been wrong.
        """
        tag = event.tags[0] if event.tags else b""
        if event.type is EventType.LINKED and tag in self._early:
            self._report.add(
                OPENING, GATEWAY, event.number, "LINKED: evidence stands under a link before there was one"
            )
        if not tag or event.type in _NOT_YET or event.type not in PERSONS[GATEWAY]:
            return
        epoch, policies = self._erasures.epochs.get(tag), self._policies
        if epoch is None:
            self._early.add(tag)
            return
        if event.type is EventType.CONSENT and event.fields.get("epoch", epoch) != epoch:
            self._report.add(OPENING, GATEWAY, event.number, f"CONSENT: {_ANOTHERS}")
        age = (max(policies.told, default=epoch) - epoch) * policies.trust.epochs.seconds
        if not event.payload and age > max(policies.trust.floors.links, _AWAY):
            self._report.counts[MISFILED] += 1


def _persons(log: str, event: Event) -> list[tuple[bytes, str]]:
    """Subject tag and PROX_ID of each part, which is empty where it cannot be read; raises EncodingError."""
    if event.type is EventType.RELEASED:
        payload = ReleasedPayload.decode(event.payload)
        return [*zip(event.tags[1:], (*(payload.owners or payload.published), *payload.published), strict=True)]
    if event.type is EventType.DELIVERED:
        pairs = DeliveredPayload.decode(event.payload).pairs
        return [*zip(event.tags[1:], [person_of_pair(pair) if pair else "" for pair in pairs], strict=True)]
    person = None if event.type in _NOT_YET else PERSONS[log].get(event.type)
    return [] if person is None else [(event.tags[0], person(event.payload))]
