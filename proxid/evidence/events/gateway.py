"""Payloads of what the Identity Screener records (DESIGN 10.1): who registered, chose, asked, and was delivered."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from proxid.crypto.ed25519 import SIGNATURE_SIZE
from proxid.crypto.sansig import SignedMessage
from proxid.encoding import decode, decode_int, decode_text, encode
from proxid.errors import EncodingError

PART_SIZE: Final = 32


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
    """LINKED: who an epoch key belongs to, and what MS was told. Fields are canonical encodings.

    Attributes:
        part: a_U of the user's aliases (`record.alias`), 32 bytes, the same in every LINKED until the user is erased;
            empty, and then no such field, in one from before.
    """

    enrolment: bytes
    link: bytes
    credential: bytes
    part: bytes = b""

    def encode(self) -> bytes:
        """Canonical form."""
        return encode(self.enrolment, self.link, self.credential, *([self.part] if self.part else []))

    @classmethod
    def decode(cls, data: bytes) -> "LinkedPayload":
        """The payload of an encoding; raises EncodingError."""
        items = decode(data)
        if len(items) != 3 and (len(items) != 4 or len(items[3]) != PART_SIZE):
            raise EncodingError("LINKED has three fields, or four with the part of the user's aliases")
        return cls(*items)


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
