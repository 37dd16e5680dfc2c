"""How an event's payload splits into parts, one a person, and joins again (DESIGN 10.2).

Most events concern one person. A group concerns many: the owner of each text and the person it is published under
each get a part of their own, so that erasing one of them leaves the rest of the group readable.

    RELEASED   open: own, party names   ‖  n owners: E(session, PROX_ID, bodies)   ‖  n published: E(PROX_ID, records)
    DELIVERED  open: acknowledgement  ‖  n people: pair

A person is named by PROX_ID here, which the writer turns into a subject tag and the auditor never needs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from proxid.encoding import decode, decode_int, decode_text, encode
from proxid.errors import EncodingError
from proxid.evidence.events import (
    AliasedPayload,
    ConsentPayload,
    DeliveredPayload,
    EnrolledPayload,
    EventType,
    LinkedPayload,
    ReceivedPayload,
    ReleasedPayload,
    RestrictedPayload,
)

NOBODY: Final = ""
"""The person of a part that names nobody."""


@dataclass(frozen=True, slots=True)
class PlainPart:
    """A part before encryption: whose it is (PROX_ID, or NOBODY) and what it holds."""

    person: str
    data: bytes


Parts = list[PlainPart]
Opened = Sequence[bytes | None]
"""Parts as the auditor has them, None where one does not open (any more)."""


def _user_block(signed: bytes) -> str:
    """m_0 of an encoded signed message: E(header, signature, m_0, …)."""
    items = decode(signed)
    if len(items) < 3:
        raise EncodingError("a signed message has a header, a signature and blocks")
    return decode_text(items[2])


def _of_pair_to_service(pair: bytes) -> str:
    """The PROX_ID of a pair that went to MS: its new user block."""
    return decode_text(decode(pair, 3)[1])


def person_of_pair(pair: bytes) -> str:
    """The PROX_ID of a pair that came from MS: the original's user block."""
    return _user_block(decode(pair, 3)[0])


def _of_service_consent(payload: bytes) -> str:
    return _user_block(decode(payload, 3)[0])


def _of_record(payload: bytes) -> str:
    """The PROX_ID of a `BufferedPayload`, of which nothing else is decoded."""
    return decode_text(decode(payload, 10)[1])


def _of_screener_consent(payload: bytes) -> str:
    consent = ConsentPayload.decode(payload)
    if consent.message:
        return _of_pair_to_service(consent.message)
    return person_of_pair(consent.acknowledgement)


def _of_link(payload: bytes) -> str:
    from proxid.crypto.identity import Credential

    return Credential.decode(LinkedPayload.decode(payload).credential).prox_id


_SCREENER: Final[dict[EventType, Callable[[bytes], str]]] = {
    EventType.ENROLLED: lambda p: EnrolledPayload.decode(p).prox_id,
    EventType.LINKED: _of_link,
    EventType.ALIASED: lambda p: AliasedPayload.decode(p).prox_id,
    EventType.CONSENT: _of_screener_consent,
    EventType.FORWARDED: _of_pair_to_service,
    EventType.REFUSED: lambda p: decode_text(decode(p, 1)[0]),
    EventType.ANSWERED: person_of_pair,
}
_SERVICE: Final[dict[EventType, Callable[[bytes], str]]] = {
    EventType.CONSENT: _of_service_consent,
    EventType.RECEIVED: lambda p: _user_block(ReceivedPayload.decode(p).request),
    EventType.BUFFERED: _of_record,
    EventType.SUPPRESSED: _of_record,
    EventType.RESTRICTED: lambda p: RestrictedPayload.decode(p).prox_id,
}
PERSONS: Final = {"gateway": _SCREENER, "main-service": _SERVICE}
"""For each log the types whose payload concerns one person, and who it is."""


def split(log: str, kind: EventType, payload: bytes) -> Parts:
    """The parts of a payload; raises EncodingError for a payload that is not of its type."""
    if not payload:
        return []
    if kind is EventType.RELEASED:
        return _split_released(ReleasedPayload.decode(payload))
    if kind is EventType.DELIVERED:
        return _split_delivered(DeliveredPayload.decode(payload))
    person = PERSONS[log].get(kind)
    return [PlainPart(NOBODY if person is None else person(payload), payload)]


def join(kind: EventType, parts: Opened) -> bytes:
    """The payload of its parts; what does not open is left empty in a group, and empties every other payload.

    Raises:
        EncodingError: the parts are not those of this type.
    """
    if not parts or all(part is None for part in parts):
        return b""
    if kind is EventType.RELEASED:
        return _join_released(parts)
    if kind is EventType.DELIVERED:
        return DeliveredPayload(parts[0] or b"", tuple(p or b"" for p in parts[1:])).encode()
    if len(parts) != 1:
        raise EncodingError("event has too many parts")
    return parts[0] or b""


def _split_delivered(payload: DeliveredPayload) -> Parts:
    people = [PlainPart(person_of_pair(pair), pair) for pair in payload.pairs]
    return [PlainPart(NOBODY, payload.acknowledgement), *people]


def _split_released(payload: ReleasedPayload) -> Parts:
    published, parties, own = payload.published, payload.parties, not payload.owners
    owners = published if own else payload.owners
    rows = range(len(payload.records))
    issued = [
        PlainPart(owners[i], encode(payload.records[i], owners[i], encode(*(bodies[i] for _, _, bodies in parties))))
        for i in rows
    ]
    shown = [
        PlainPart(published[i], encode(published[i], encode(*(records[i] for _, records, _ in parties)))) for i in rows
    ]
    return [PlainPart(NOBODY, encode(int(own), *(name for name, _, _ in parties))), *issued, *shown]


def _join_released(parts: Opened) -> bytes:
    if len(parts) % 2 == 0 or parts[0] is None:
        raise EncodingError("RELEASED has an odd set of parts")
    own, *rest = decode(parts[0])
    names = [decode_text(name) for name in rest]
    size = len(parts) // 2
    owners = [_row(part, 3, len(names)) for part in parts[1 : size + 1]]
    published = [_row(part, 2, len(names)) for part in parts[size + 1 :]]
    parties = tuple(
        (name, tuple(row[-1][p] for row in published), tuple(row[-1][p] for row in owners))
        for p, name in enumerate(names)
    )
    return ReleasedPayload(
        records=tuple(row[0][0] for row in owners),
        published=tuple(decode_text(row[0][0]) for row in published),
        parties=parties,
        owners=() if decode_int(own) else tuple(decode_text(row[0][1]) for row in owners),
    ).encode()


def _row(part: bytes | None, count: int, parties: int) -> tuple[list[bytes], list[bytes]]:
    """The leading items of a part, and one item a party."""
    if part is None:
        return [b""] * (count - 1), [b""] * parties
    *head, items = decode(part, count)
    return head, decode(items, parties)
