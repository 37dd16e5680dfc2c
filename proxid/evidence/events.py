"""The events of both services (DESIGN 10.1): names, headers and payloads.

A header is canonical JSON and says what kind of thing happened, to which opaque id; a payload is E(…) and holds
the personal part. Payloads carry the thesis's tuples: {session id, signed query, sanitised query} and
{transfer session id, signed original, signed anonymised, third parties} (002 §5.3).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from proxid.crypto.ed25519 import SIGNATURE_SIZE
from proxid.crypto.identity import EpochKey
from proxid.crypto.sansig import SignedMessage
from proxid.encoding import decode, decode_int, decode_text, encode
from proxid.errors import EncodingError
from proxid.jsontext import load_json

SALT_SIZE: Final = 16


class EventType(StrEnum):
    """What the Identity Screener (first part), the Main Service (second part) and both (from EXPIRED on) record."""

    ENROLLED = "ENROLLED"
    LINKED = "LINKED"
    ALIASED = "ALIASED"
    CONSENT = "CONSENT"
    FORWARDED = "FORWARDED"
    REFUSED = "REFUSED"
    UNREACHED = "UNREACHED"
    ANSWERED = "ANSWERED"
    DELIVERED = "DELIVERED"
    DROPPED = "DROPPED"
    ERASED = "ERASED"
    RECEIVED = "RECEIVED"
    BUFFERED = "BUFFERED"
    RAISED = "RAISED"
    RELEASED = "RELEASED"
    SUPPRESSED = "SUPPRESSED"
    WITHDRAWN = "WITHDRAWN"
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
        fields = load_json(data)
    except ValueError:
        raise EncodingError("event header is not JSON") from None
    if not isinstance(fields, dict):
        raise EncodingError("event header is not an object")
    return fields


@dataclass(frozen=True, slots=True)
class Event:
    """One recorded event: number (from 1, gap-free), type, 16 salt bytes, header, payload.

    Attributes:
        hidden: how many of the payload's parts do not open (any more); they are left empty (`parts.join`).
        tags: subject tag of each part. gone: the payload is not there at all (it has expired).
    """

    number: int
    type: EventType
    salt: bytes
    header: bytes
    payload: bytes
    hidden: int = 0
    tags: tuple[bytes, ...] = ()
    gone: bool = False

    @property
    def fields(self) -> Header:
        """The header's fields; raises EncodingError."""
        return decode_header(self.header)


@dataclass(frozen=True, slots=True)
class SanitizedPair:
    """A signed original and what the sanitizer made of it: payload of FORWARDED, ANSWERED, and part of others."""

    original: SignedMessage
    sanitized: SignedMessage

    def encode(self) -> bytes:
        """E(original, new user block, new σ_L): the sanitised message shares everything else."""
        return encode(self.original.encode(), self.sanitized.message.user_block, self.sanitized.full)

    @classmethod
    def decode(cls, data: bytes) -> "SanitizedPair":
        """The pair of an encoding; raises EncodingError, MessageInvalidError."""
        original_bytes, user_block, full = decode(data, 3)
        original = SignedMessage.decode(original_bytes)
        if len(full) != SIGNATURE_SIZE:
            raise EncodingError("a pair holds a signature of the wrong size")
        changed = original.message.with_user_block(user_block)
        return cls(original, SignedMessage(changed, original.fixed + full))


@dataclass(frozen=True, slots=True)
class EnrolledPayload:
    """ENROLLED: the EA's word, and the PROX_ID under which the user first came."""

    enrolment: bytes
    prox_id: str

    def encode(self) -> bytes:
        """Canonical form."""
        return encode(self.enrolment, self.prox_id)

    @classmethod
    def decode(cls, data: bytes) -> "EnrolledPayload":
        """The payload of an encoding; raises EncodingError."""
        enrolment, prox_id = decode(data, 2)
        return cls(enrolment, decode_text(prox_id))


@dataclass(frozen=True, slots=True)
class AliasedPayload:
    """ALIASED: a user's name for one party and period, and the PROX_ID that it was first put in the place of."""

    user_id: str
    party: str
    period: int
    name: str
    prox_id: str

    def encode(self) -> bytes:
        """Canonical form."""
        return encode(self.user_id, self.party, self.period, self.name, self.prox_id)

    @classmethod
    def decode(cls, data: bytes) -> "AliasedPayload":
        """The payload of an encoding; raises EncodingError."""
        user, party, period, name, prox_id = decode(data, 5)
        return cls(
            decode_text(user), decode_text(party), decode_int(period), decode_text(name), decode_text(prox_id)
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class LinkedPayload:
    """LINKED: who an epoch key belongs to, and what MS was told. Fields are canonical encodings."""

    enrolment: bytes
    link: bytes
    credential: bytes

    def encode(self) -> bytes:
        """Canonical form."""
        return encode(self.enrolment, self.link, self.credential)

    @classmethod
    def decode(cls, data: bytes) -> "LinkedPayload":
        """The payload of an encoding; raises EncodingError."""
        return cls(*decode(data, 3))


@dataclass(frozen=True, slots=True)
class ConsentPayload:
    """CONSENT at IS: the vector, the message to MS (original and sanitised), MS's acknowledgement pair or empty."""

    vector: bytes
    message: bytes
    acknowledgement: bytes

    def encode(self) -> bytes:
        """Canonical form."""
        return encode(self.vector, self.message, self.acknowledgement)

    @classmethod
    def decode(cls, data: bytes) -> "ConsentPayload":
        """The payload of an encoding; raises EncodingError."""
        return cls(*decode(data, 3))


@dataclass(frozen=True, slots=True)
class ReceivedPayload:
    """RECEIVED: the sanitised request as MS got it, and the credential it was accepted under.

    Attributes:
        credential: its encoding, or `Credential.digest` where an earlier RECEIVED of the same key has the encoding: it
            is 1.6 kB, and IS signed it, so MS can show whose word it took.
    """

    request: bytes
    credential: bytes

    def encode(self) -> bytes:
        """Canonical form."""
        return encode(self.request, self.credential)

    @classmethod
    def decode(cls, data: bytes) -> "ReceivedPayload":
        """The payload of an encoding; raises EncodingError."""
        return cls(*decode(data, 2))


@dataclass(frozen=True, slots=True)
class BufferedPayload:
    """BUFFERED: the utterance, the opening of its commit, and what the pipeline made of it.

    Attributes:
        session: 64 bytes. opening: `Utterance.opening`. pipeline: version of classifier and masking.
        path: category, cell or shape. texts: the normalised masked text, then its semantic units.
    """

    session: bytes
    prox_id: str
    seasoned: bool
    audience: str
    kind: str
    opening: bytes
    pipeline: str
    path: tuple[str, ...]
    texts: tuple[str, ...]
    time_ms: int

    def at(self, time_ms: int) -> "BufferedPayload":
        """The same, counted as of another time."""
        return replace(self, time_ms=time_ms)

    def encode(self) -> bytes:
        """Canonical form."""
        return encode(
            self.session, self.prox_id, int(self.seasoned), self.audience, self.kind, self.opening, self.pipeline,
            encode(*self.path), encode(*self.texts), self.time_ms,
        )  # fmt: skip

    @classmethod
    def decode(cls, data: bytes) -> "BufferedPayload":
        """The payload of an encoding; raises EncodingError."""
        session, prox, seasoned, audience, kind, opening, pipeline, path, texts, time_ms = decode(data, 10)
        return cls(
            session, decode_text(prox), bool(decode_int(seasoned)), decode_text(audience), decode_text(kind), opening,
            decode_text(pipeline), _texts(path), _texts(texts), decode_int(time_ms),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class ReleasedPayload:
    """RELEASED: the group's records in the order shown.

    Attributes:
        records: session id of the request whose text each position shows, in the order of positions.
        published: PROX_ID that each position is published under.
        parties: for each party its name, the records MS signed, and the padded bodies (for the auditor).
        owners: PROX_ID of who issued each record, so that its part is encrypted for that person alone; empty if
            everybody issued the record that is published under their name.
    """

    records: tuple[bytes, ...]
    published: tuple[str, ...]
    parties: tuple[tuple[str, tuple[bytes, ...], tuple[bytes, ...]], ...]
    owners: tuple[str, ...] = ()

    def encode(self) -> bytes:
        """Canonical form."""
        parties = [encode(name, encode(*records), encode(*bodies)) for name, records, bodies in self.parties]
        return encode(encode(*self.records), encode(*self.published), encode(*parties), encode(*self.owners))

    @classmethod
    def decode(cls, data: bytes) -> "ReleasedPayload":
        """The payload of an encoding; raises EncodingError."""
        records, published, parties, owners = decode(data, 4)
        shown = tuple(_party(party) for party in decode(parties))
        return cls(tuple(decode(records)), _texts(published), shown, _texts(owners))


def _party(data: bytes) -> tuple[str, tuple[bytes, ...], tuple[bytes, ...]]:
    name, records, bodies = decode(data, 3)
    return decode_text(name), tuple(decode(records)), tuple(decode(bodies))


@dataclass(frozen=True, slots=True)
class EpochOpened:
    """EPOCH_OPENED: the epoch's key as MS signed it.

    The header repeats what has to stay readable: epoch, commitment to the seed, digest of the policy, opening, time.

    Attributes:
        sealed, opening, time_ms: in MS's log alone: the seed sealed to the auditor; IS's signed word that the epoch
            has begun; MS's time (Unix milliseconds).
    """

    key: bytes
    sealed: bytes = b""
    opening: bytes = b""
    time_ms: int = 0

    @property
    def header(self) -> bytes:
        """Canonical header."""
        key = EpochKey.decode(self.key)
        fields: Header = {"commitment": key.seed_commitment.hex(), "epoch": key.epoch, "policy": key.policy.hex()}
        if self.opening:
            fields |= {"opening": self.opening.hex(), "time": self.time_ms}
        return encode_header(**fields)

    @property
    def payload(self) -> bytes:
        """Canonical payload."""
        return encode(self.key, self.sealed, self.opening, self.time_ms)

    @classmethod
    def decode(cls, payload: bytes) -> "EpochOpened":
        """The event of a payload; raises EncodingError."""
        key, sealed, opening, time_ms = decode(payload, 4)
        return cls(key, sealed, opening, decode_int(time_ms))


@dataclass(frozen=True, slots=True)
class DeliveredPayload:
    """DELIVERED: the party's acknowledgement and the pairs it acknowledges, in the order of the group."""

    acknowledgement: bytes
    pairs: tuple[bytes, ...]

    def encode(self) -> bytes:
        """Canonical form."""
        return encode(self.acknowledgement, *self.pairs)

    @classmethod
    def decode(cls, data: bytes) -> "DeliveredPayload":
        """The payload of an encoding; raises EncodingError."""
        items: Sequence[bytes] = decode(data)
        if not items:
            raise EncodingError("DELIVERED holds no acknowledgement")
        return cls(items[0], tuple(items[1:]))


def _texts(data: bytes) -> tuple[str, ...]:
    return tuple(decode_text(item) for item in decode(data))
