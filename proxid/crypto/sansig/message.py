"""What is signed: a header that fixes every circumstance, and blocks (DESIGN 4.1).

hdr = E(version, suite, direction, MS id, epoch, pk_sig, pk_san, nonce16, time_ms, n, ADM, LIM)
M_F = E("FIX", hdr, (i, m_i) for i ∉ ADM)           what the sanitizer can never change
M_L = E("FULL", ρ, SHA512(M_F), σ_F, (i, m_i) for i ∈ ADM)
"""

import hashlib
import itertools
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Final

from proxid.crypto.ed25519 import KEY_SIZE, SIGNATURE_SIZE
from proxid.crypto.sansig.limits import Limit
from proxid.encoding import decode, decode_int, decode_text, encode, encode_int, label
from proxid.errors import EncodingError, MessageInvalidError
from proxid.once import once

VERSION: Final = 1
SUITE_TWO_SIGNATURES: Final = 1
NONCE_SIZE: Final = 16
USER_BLOCK: Final = 0
ADMISSIBLE: Final = (USER_BLOCK,)
MAX_BLOCKS: Final = 16

_FIX = label("FIX")
_FULL = label("FULL")
_SESSION = label("session")
_HEADER_FIELDS: Final = 12
_OF_FIXED: Final = ("fixed_input", "fixed_digest")
"""What a message remembers of M_F."""


class Direction(IntEnum):
    """What a message is for; no signature of one direction is accepted in another."""

    REQUEST = 1
    RESPONSE = 2
    RECORD = 3
    CONSENT = 4
    CONSENT_ACK = 5


_DIRECTIONS: Final = {encode_int(direction): direction for direction in Direction}
_LIMITS: Final = {encode_int(limit): limit for limit in Limit}
_ADMISSIBLE: Final = b"".join(encode_int(i) for i in ADMISSIBLE)


class Role(StrEnum):
    """ρ: who set the admissible blocks last."""

    SIGNER = "SIG"
    SANITIZER = "SAN"


class _Encoded:
    """Room for a header's encoding, outside the fields: `replace` and `==` do not see it."""

    __slots__ = ("_encoding",)
    _encoding: bytes


@dataclass(frozen=True, slots=True)
class Header(_Encoded):
    """The circumstances of a message; all of them are signed. A header that exists is well formed.

    Attributes:
        service: the Main Service's id. epoch: number of the epoch. signer, sanitizer: public keys, 32 bytes.
        nonce: 16 random bytes. time_ms: Unix milliseconds. blocks: n. admissible: ADM, strictly increasing.
    """

    direction: Direction
    service: str
    epoch: int
    signer: bytes
    sanitizer: bytes
    nonce: bytes
    time_ms: int
    blocks: int
    limit: Limit
    admissible: tuple[int, ...] = ADMISSIBLE
    version: int = VERSION
    suite: int = SUITE_TWO_SIGNATURES

    def __post_init__(self) -> None:
        self.verify_shape()

    def encode(self) -> bytes:
        """hdr, canonical; computed once."""
        try:
            return self._encoding
        except AttributeError:
            object.__setattr__(self, "_encoding", self._encode())
        return self._encoding

    def _encode(self) -> bytes:
        adm = b"".join(encode_int(i) for i in self.admissible)
        return encode(
            self.version, self.suite, int(self.direction), self.service, self.epoch, self.signer, self.sanitizer,
            self.nonce, self.time_ms, self.blocks, adm, int(self.limit),
        )  # fmt: skip

    @classmethod
    def decode(cls, data: bytes) -> "Header":
        """The header of an encoding; raises EncodingError unless it is canonical and well formed."""
        version, suite, direction, service, epoch, signer, sanitizer, nonce, time_ms, n, adm, limit = decode(
            data, _HEADER_FIELDS
        )
        try:
            header = cls(
                direction=_DIRECTIONS[direction],
                service=decode_text(service),
                epoch=decode_int(epoch),
                signer=signer,
                sanitizer=sanitizer,
                nonce=nonce,
                time_ms=decode_int(time_ms),
                blocks=decode_int(n),
                limit=_LIMITS[limit],
                admissible=_decode_admissible(adm),
                version=decode_int(version),
                suite=decode_int(suite),
            )
        except KeyError:
            raise EncodingError("header holds an unknown direction or limit") from None
        # Every item was decoded from the one form that it re-encodes to, so the whole re-encodes to `data`.
        object.__setattr__(header, "_encoding", data)
        return header

    def verify_shape(self) -> None:
        """Sizes and order of the fields; raises EncodingError."""
        if len(self.signer) != KEY_SIZE or len(self.sanitizer) != KEY_SIZE:
            raise EncodingError("header holds a key that is not 32 bytes")
        if len(self.nonce) != NONCE_SIZE:
            raise EncodingError("header holds a nonce that is not 16 bytes")
        if not 0 < self.blocks <= MAX_BLOCKS:
            raise EncodingError("header holds a number of blocks out of range")
        adm = self.admissible
        if adm != ADMISSIBLE and not _increases_within(adm, self.blocks):
            raise EncodingError("ADM is not strictly increasing within the blocks")


def _increases_within(adm: tuple[int, ...], blocks: int) -> bool:
    return all(a < b for a, b in itertools.pairwise((-1, *adm, blocks)))


def _decode_admissible(data: bytes) -> tuple[int, ...]:
    if data == _ADMISSIBLE:
        return ADMISSIBLE
    if len(data) % 8 or len(data) > 8 * MAX_BLOCKS:
        raise EncodingError("ADM is not a list of integers")
    return tuple(decode_int(data[i : i + 8]) for i in range(0, len(data), 8))


@dataclass(frozen=True)
class Message:
    """A header and its n blocks."""

    header: Header
    blocks: tuple[bytes, ...] = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.blocks) != self.header.blocks:
            raise MessageInvalidError("number of blocks differs from the header")

    @property
    def user_block(self) -> bytes:
        """m_0, the one admissible block of every direction."""
        return self.blocks[USER_BLOCK]

    @once
    def fixed_input(self) -> bytes:
        """M_F: label, header and the immutable blocks with their positions."""
        adm = self.header.admissible
        parts: list[bytes | int] = [_FIX, self.header.encode()]
        for i, block in enumerate(self.blocks):
            if i not in adm:
                parts += (i, block)
        return encode(*parts)

    @once
    def fixed_digest(self) -> bytes:
        """SHA512(M_F), 64 bytes."""
        return hashlib.sha512(self.fixed_input).digest()

    def full_input(self, role: Role, fixed_signature: bytes) -> bytes:
        """M_L: binds the admissible blocks and ρ to M_F and σ_F."""
        parts: list[bytes | int | str] = [_FULL, role.value, self.fixed_digest, fixed_signature]
        for i in self.header.admissible:
            parts += (i, self.blocks[i])
        return encode(*parts)

    def with_user_block(self, block: bytes) -> "Message":
        """The same message with another m_0; raises MessageInvalidError where ADM does not hold it."""
        if USER_BLOCK not in self.header.admissible:
            raise MessageInvalidError("the user block is not admissible")
        changed = Message(self.header, (block, *self.blocks[1:]))
        # M_F does not cover m_0, so what was computed for it still holds.
        changed.__dict__.update({name: self.__dict__[name] for name in _OF_FIXED if name in self.__dict__})
        return changed


@dataclass(frozen=True)
class SignedMessage:
    """(m, σ): σ = σ_F ‖ σ_L, 128 bytes. Wire form: `header` and `blocks` as bytes, `signature`."""

    message: Message
    signature: bytes

    def __post_init__(self) -> None:
        if len(self.signature) != 2 * SIGNATURE_SIZE:
            raise MessageInvalidError("a signature of suite 1 has 128 bytes")

    @property
    def header(self) -> Header:
        """The message's header."""
        return self.message.header

    @property
    def fixed(self) -> bytes:
        """σ_F."""
        return self.signature[:SIGNATURE_SIZE]

    @property
    def full(self) -> bytes:
        """σ_L."""
        return self.signature[SIGNATURE_SIZE:]

    @once
    def session_id(self) -> bytes:
        """SHA512(E("session", M_F, σ_F)): the same for device, IS and MS (DESIGN 5.0); 64 bytes."""
        return hashlib.sha512(encode(_SESSION, self.message.fixed_input, self.fixed)).digest()

    @once
    def _encoded(self) -> bytes:
        return encode(self.header.encode(), self.signature, *self.message.blocks)

    def encode(self) -> bytes:
        """E(hdr, σ, m_0, …): the form kept in evidence; computed once."""
        return self._encoded

    @classmethod
    def decode(cls, data: bytes) -> "SignedMessage":
        """The signed message of an encoding; raises EncodingError or MessageInvalidError."""
        items = decode(data)
        if len(items) < 3:
            raise EncodingError("a signed message has a header, a signature and blocks")
        signed = cls.from_parts(items[0], items[2:], items[1])
        # What is canonical re-encodes to itself.
        signed.__dict__["_encoded"] = data
        return signed

    @classmethod
    def from_parts(cls, header: bytes, blocks: list[bytes], signature: bytes) -> "SignedMessage":
        """The signed message of its wire parts; raises EncodingError or MessageInvalidError."""
        return cls(Message(Header.decode(header), tuple(blocks)), signature)
