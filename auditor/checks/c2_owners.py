"""Payloads are filed under the evidence of whom they are of (check 2 of DESIGN 10.4).

Else somebody's erasure would hide what another did, and leave readable what is the erased person's.
"""

from auditor.checks.c3_links import People
from proxid.errors import PayloadUnreadableError, ProxidError
from proxid.evidence.events import DeliveredPayload, Event, EventType, ReleasedPayload
from proxid.evidence.parts import PERSONS, person_of_pair

_NOT_YET = frozenset({EventType.ENROLLED, EventType.LINKED})
"""Their tags are compared with the link itself."""


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
        if filed is not None and filed.prox_id != prox_id:
            raise PayloadUnreadableError("payload is filed under another person's evidence")


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
