"""A person's signed requests about the own data (DESIGN 11): access, erasure, objection, and how they stand.

    request  Sign(sk_U, E("rights", kind, USER_ID, MS, pk_IS, time, nonce))           device → IS
    receipt  Sign(sk_IS, E("rights-receipt", SHA256(request), outcome, time))         IS → device

They are signed with the user's own key, which the EA certified: IS cannot make them up.
"""

import hashlib
import os
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from proxid.crypto import ed25519
from proxid.crypto.ed25519 import KEY_SIZE, SigningKey
from proxid.encoding import decode, decode_int, decode_text, encode, label
from proxid.errors import CredentialError, EncodingError
from proxid.protocol.request import Random
from proxid.protocol.restriction import Restriction

_RIGHTS: Final = label("rights")
_RECEIPT: Final = label("rights-receipt")
_DIGEST: Final = label("rights-digest")
_ERASED: Final = label("erased-disclosure")
NONCE_SIZE: Final = 16
LIVE_SECONDS: Final = 900.0
"""After an epoch's end MS may hold something of it: its grace time, and what it needs to close the epoch."""


class Right(StrEnum):
    """What a person asks for; consent and withdrawal are messages of their own (`consent`)."""

    ACCESS = "access"
    ERASE = "erase"
    OBJECT = "object"
    RESUME = "resume"
    STATUS = "status"


@dataclass(frozen=True, slots=True)
class RightsRequest:
    """A signed request; `time_ms` in Unix milliseconds, `nonce` 16 random bytes."""

    right: Right
    user_id: str
    service: str
    screener: bytes
    time_ms: int
    nonce: bytes
    signature: bytes = b""

    def _body(self) -> bytes:
        return encode(
            _RIGHTS, self.right.value, self.user_id, self.service, self.screener, self.time_ms, self.nonce
        )  # fmt: skip

    @classmethod
    def make(
        cls, right: Right, user_id: str, key: SigningKey, to: tuple[str, bytes], now_ms: int,
        random: Random = os.urandom,
    ) -> "RightsRequest":  # fmt: skip
        """Sign a request as the user; `to` is (service, pk_IS)."""
        unsigned = cls(right, user_id, *to, now_ms, random(NONCE_SIZE))
        return replace(unsigned, signature=key.sign(unsigned._body()))

    def verify(self, user_key: bytes, service: str, screener: bytes) -> None:
        """Check it against what the verifier knows.

        Raises:
            CredentialError: for another service or screener. SignatureInvalidError, KeyInvalidError.
        """
        if (self.service, self.screener) != (service, screener):
            raise CredentialError("request is for another service or screener")
        ed25519.verify(user_key, self._body(), self.signature)

    @property
    def digest(self) -> bytes:
        """What receipts and events name it by; 32 bytes."""
        return hashlib.sha256(encode(_DIGEST, self.encode())).digest()

    def encode(self) -> bytes:
        """Canonical form."""
        return encode(
            self.right.value, self.user_id, self.service, self.screener, self.time_ms, self.nonce, self.signature
        )  # fmt: skip

    @classmethod
    def decode(cls, data: bytes) -> "RightsRequest":
        """The request of an encoding; raises EncodingError."""
        right, user_id, service, screener, time_ms, nonce, signature = decode(data, 7)
        try:
            kind = Right(decode_text(right))
        except ValueError:
            raise EncodingError("request is for an unknown right") from None
        if len(screener) != KEY_SIZE or len(nonce) != NONCE_SIZE:
            raise EncodingError("request holds a key or nonce of the wrong size")
        return cls(kind, decode_text(user_id), decode_text(service), screener, decode_int(time_ms), nonce, signature)


@dataclass(frozen=True, slots=True)
class RightsReceipt:
    """IS's word that a request was carried out at a time (Unix milliseconds)."""

    request: bytes
    right: Right
    time_ms: int
    signature: bytes = b""

    def _body(self) -> bytes:
        return encode(_RECEIPT, self.request, self.right.value, self.time_ms)

    def sign(self, key: SigningKey) -> "RightsReceipt":
        """The same receipt, signed by IS."""
        return replace(self, signature=key.sign(self._body()))

    def verify(self, screener: bytes) -> None:
        """Check IS's signature; raises SignatureInvalidError, KeyInvalidError."""
        ed25519.verify(screener, self._body(), self.signature)

    def encode(self) -> bytes:
        """Canonical form."""
        return encode(self.request, self.right.value, self.time_ms, self.signature)

    @classmethod
    def decode(cls, data: bytes) -> "RightsReceipt":
        """The receipt of an encoding; raises EncodingError."""
        request, right, time_ms, signature = decode(data, 4)
        try:
            return cls(request, Right(decode_text(right)), decode_int(time_ms), signature)
        except ValueError:
            raise EncodingError("receipt is for an unknown right") from None


@dataclass(frozen=True, slots=True)
class ErasedDisclosure:
    """What ERASED (and OBJECTED) tells the auditor alone, sealed to its key.

    Attributes:
        request, enrolment: encoded; who asked, and the EA's word that the key is that user's.
        owner_salts: subject tag and owner salt of every person-epoch that was erased: LINKED's header commits to them.
            Of OBJECTED: subject tag and `Told` of each that MS was told of.
    """

    request: bytes
    enrolment: bytes
    owner_salts: tuple[tuple[bytes, bytes], ...] = ()

    def encode(self) -> bytes:
        """Canonical form."""
        return encode(self.request, self.enrolment, *(encode(tag, salt) for tag, salt in self.owner_salts))

    @classmethod
    def decode(cls, data: bytes) -> "ErasedDisclosure":
        """The disclosure of an encoding; raises EncodingError."""
        request, enrolment, *owner_salts = [*decode(data)] if len(decode(data)) >= 2 else [b"", b""]
        pairs = [decode(item, 2) for item in owner_salts]
        return cls(request, enrolment, tuple((tag, salt) for tag, salt in pairs))


@dataclass(frozen=True, slots=True)
class Told:
    """That MS was told of an objection, or its end: IS's `Restriction`, and MS's promise that it is in its log.

    It does not say of which PROX_ID, so that nobody reads that once the person is erased.
    """

    time_ms: int
    nonce: bytes
    signature: bytes
    promise: bytes

    @classmethod
    def of(cls, word: Restriction, promise: bytes) -> "Told":
        """What OBJECTED holds of a word."""
        return cls(word.time_ms, word.nonce, word.signature, promise)

    def word(self, service: str, prox_id: str, begins: bool) -> Restriction:
        """The word, of whom it must be."""
        return Restriction(service, prox_id, begins, self.time_ms, self.nonce, self.signature)

    def encode(self) -> bytes:
        """Canonical form."""
        return encode(self.time_ms, self.nonce, self.signature, self.promise)

    @classmethod
    def decode(cls, data: bytes) -> "Told":
        """What an encoding says; raises EncodingError."""
        time_ms, nonce, signature, promise = decode(data, 4)
        return cls(decode_int(time_ms), nonce, signature, promise)


def erased_info(service: str) -> bytes:
    """The context that a disclosure is sealed in."""
    return encode(_ERASED, service)
