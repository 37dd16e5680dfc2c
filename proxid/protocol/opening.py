"""What the services say of time, signed: IS that an epoch has begun, MS what its clock shows (DESIGN 4.3).

opening       Sign(sk_IS, E("epoch-opening", MS, epoch, start, time_ms))       IS → MS, and into MS's log
service time  Sign(sk_MS, E("service-time", MS, time_ms, nonce))               MS → IS
"""

from dataclasses import dataclass, replace
from typing import Final

from proxid.crypto import ed25519
from proxid.crypto.ed25519 import SIGNATURE_SIZE, SigningKey
from proxid.encoding import decode, decode_int, decode_text, encode, label
from proxid.errors import CredentialError, EncodingError, EpochError
from proxid.protocol.epochs import Epochs

_OPENING: Final = label("epoch-opening")
_TIME: Final = label("service-time")
NONCE_SIZE: Final = 16


@dataclass(frozen=True, slots=True)
class EpochOpening:
    """IS's word that an epoch has begun and is current.

    Attributes:
        start: the epoch's first second (Unix). time_ms: IS's clock when it signed (Unix milliseconds).
    """

    service: str
    epoch: int
    start: int
    time_ms: int
    signature: bytes = b""

    @classmethod
    def at(cls, service: str, epochs: Epochs, now: float) -> "EpochOpening":
        """The opening of the epoch that is current by a clock, not signed yet."""
        epoch = epochs.number(now)
        return cls(service, epoch, epochs.start(epoch), int(now * 1000))

    def _body(self) -> bytes:
        return encode(_OPENING, self.service, self.epoch, self.start, self.time_ms)

    def sign(self, screener: SigningKey) -> "EpochOpening":
        """The same, signed by IS."""
        return replace(self, signature=screener.sign(self._body()))

    def verify(self, screener: bytes, service: str) -> None:
        """Check whose word it is.

        Raises:
            CredentialError: for another service. KeyInvalidError, SignatureInvalidError: not IS's.
        """
        if self.service != service:
            raise CredentialError("epoch opening is for another service")
        ed25519.verify(screener, self._body(), self.signature)

    def verify_time(self, epochs: Epochs) -> None:
        """Check that it was signed in its epoch, by its own word; raises EpochError."""
        if self.start != epochs.start(self.epoch) or epochs.number(self.time_ms / 1000) != self.epoch:
            raise EpochError("epoch opening was signed outside its epoch")

    def encode(self) -> bytes:
        """Canonical form."""
        return encode(self.service, self.epoch, self.start, self.time_ms, self.signature)

    @classmethod
    def decode(cls, data: bytes) -> "EpochOpening":
        """The opening of an encoding; raises EncodingError."""
        service, epoch, start, time_ms, signature = decode(data, 5)
        if len(signature) != SIGNATURE_SIZE:
            raise EncodingError("an epoch opening has one signature")
        return cls(decode_text(service), decode_int(epoch), decode_int(start), decode_int(time_ms), signature)


@dataclass(frozen=True, slots=True)
class ServiceTime:
    """What MS's clock shows (Unix milliseconds), in answer to a nonce."""

    service: str
    time_ms: int
    nonce: bytes
    signature: bytes = b""

    def _body(self) -> bytes:
        return encode(_TIME, self.service, self.time_ms, self.nonce)

    def sign(self, service: SigningKey) -> "ServiceTime":
        """The same, signed by MS."""
        return replace(self, signature=service.sign(self._body()))

    def verify(self, key: bytes, service: str, nonce: bytes) -> None:
        """Check that it answers a nonce.

        Raises:
            CredentialError: another service's, or an answer to something else. KeyInvalidError,
            SignatureInvalidError: not MS's.
        """
        if (self.service, self.nonce) != (service, nonce):
            raise CredentialError("time is of another service, or in answer to another question")
        ed25519.verify(key, self._body(), self.signature)

    def encode(self) -> bytes:
        """Canonical form."""
        return encode(self.service, self.time_ms, self.nonce, self.signature)

    @classmethod
    def decode(cls, data: bytes) -> "ServiceTime":
        """The time of an encoding; raises EncodingError."""
        service, time_ms, nonce, signature = decode(data, 4)
        if len(signature) != SIGNATURE_SIZE:
            raise EncodingError("a time has one signature")
        return cls(decode_text(service), decode_int(time_ms), nonce, signature)
