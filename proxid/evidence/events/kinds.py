"""What kinds of events there are, their headers, and an event as it is recorded (DESIGN 10.1)."""

import json
import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from proxid.errors import EncodingError
from proxid.jsontext import load_json

SALT_SIZE: Final = 16
_APART: Final = re.compile(rb'"\s+:')
"""Where a name may stand that does not look like the others."""


class EventType(StrEnum):
    """What the Identity Screener (first part), the Main Service (second part) and both (from EXPIRED on) record."""

    ENROLLED = "ENROLLED"
    REVOKED = "REVOKED"
    LINKED = "LINKED"
    KEYED = "KEYED"
    ALIASED = "ALIASED"
    CONSENT = "CONSENT"
    FORWARDED = "FORWARDED"
    REFUSED = "REFUSED"
    UNREACHED = "UNREACHED"
    ANSWERED = "ANSWERED"
    SENT = "SENT"
    DELIVERED = "DELIVERED"
    DROPPED = "DROPPED"
    ERASED = "ERASED"
    RECEIVED = "RECEIVED"
    BUFFERED = "BUFFERED"
    RAISED = "RAISED"
    RELEASED = "RELEASED"
    SUPPRESSED = "SUPPRESSED"
    TICKED = "TICKED"
    BATCHED = "BATCHED"
    WITHDRAWN = "WITHDRAWN"
    RESTRICTED = "RESTRICTED"
    EPOCH_OPENED = "EPOCH_OPENED"
    EPOCH_CLOSED = "EPOCH_CLOSED"
    OBJECTED = "OBJECTED"
    ACCESSED = "ACCESSED"
    NOTICED = "NOTICED"
    EXPIRED = "EXPIRED"
    DAMAGED = "DAMAGED"
    SUCCEEDED = "SUCCEEDED"


Header = dict[str, str | int | bool | list[str] | list[int]]
_CANONICAL: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


def encode_header(**fields: str | int | bool | list[str] | list[int]) -> bytes:
    """A header as canonical JSON: sorted keys, no spaces, ASCII."""
    return _CANONICAL.encode(fields).encode("ascii")


def session_header(session: bytes) -> bytes:
    """The header that names a session and nothing else: what `encode_header` gives, without a JSON encoder."""
    return b'{"session":"%s"}' % session.hex().encode("ascii")


def decode_header(data: bytes) -> Header:
    """The fields of a header; raises EncodingError."""
    try:
        fields = load_json(data, any_text=True)
    except ValueError:
        raise EncodingError("event header is not JSON") from None
    if not isinstance(fields, dict):
        raise EncodingError("event header is not an object")
    if data.count(b'":') != len(fields) or _APART.search(data):
        objects: list[list[tuple[str, object]]] = []
        json.loads(data, object_pairs_hook=objects.append)
        if [len(one) for one in objects] != [len(fields)]:
            raise EncodingError("event header says something twice, or holds an object")
    return fields


@dataclass(frozen=True, slots=True)
class Event:
    """One recorded event: number (from 1, gap-free), type, 16 salt bytes, header, payload.

    Attributes:
        hidden: how many of the payload's parts do not open (any more); they are left empty (`parts.join`).
        tags: subject tag of each part. gone: the payload is not there at all (it has expired).
        owner_salt: of LINKED, what its owner is committed to under; empty where that is not known.
    """

    number: int
    type: EventType
    salt: bytes
    header: bytes
    payload: bytes
    hidden: int = 0
    tags: tuple[bytes, ...] = ()
    gone: bool = False
    owner_salt: bytes = b""
    _fields: Header | None = field(default=None, repr=False, compare=False)

    @property
    def fields(self) -> Header:
        """The header's fields, decoded once; raises EncodingError."""
        if self._fields is None:
            object.__setattr__(self, "_fields", decode_header(self.header))
        return self._fields  # type: ignore[return-value]
