"""The events of both services (DESIGN 10.1): names, headers and payloads.

A header is canonical JSON and says what kind of thing happened, to which opaque id; a payload is E(…) and holds
the personal part. Payloads carry the thesis's tuples: {session id, signed query, sanitised query} and
{transfer session id, signed original, signed anonymised, third parties} (002 §5.3).
"""

from proxid.evidence.events.gateway import (
    AliasedPayload,
    ConsentPayload,
    DeliveredPayload,
    EnrolledPayload,
    LinkedPayload,
    SanitizedPair,
)
from proxid.evidence.events.kinds import (
    SALT_SIZE,
    Event,
    EventType,
    Header,
    decode_header,
    encode_header,
    session_header,
)
from proxid.evidence.events.service import (
    BufferedPayload,
    EpochOpened,
    ReceivedPayload,
    ReleasedPayload,
    RestrictedPayload,
)

__all__ = [
    "SALT_SIZE",
    "AliasedPayload",
    "BufferedPayload",
    "ConsentPayload",
    "DeliveredPayload",
    "EnrolledPayload",
    "EpochOpened",
    "Event",
    "EventType",
    "Header",
    "LinkedPayload",
    "ReceivedPayload",
    "ReleasedPayload",
    "RestrictedPayload",
    "SanitizedPair",
    "decode_header",
    "encode_header",
    "session_header",
]
