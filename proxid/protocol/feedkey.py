"""The key of a party's feed in one epoch (DESIGN 9): every body of it is encrypted under this, and nothing is drawn.

    feed key  = HMAC-SHA256(seed of the epoch, E("feed-key", service, epoch, party))
    message   = E(service, epoch, party, feed key sealed to the party by HPKE, MS's signature)
    body key  = HKDF-SHA256(feed key, info = E("feed-body", digest of the plaintext, context))
    encrypted = ChaCha20-Poly1305(body key, nonce 0, plaintext)

Whoever knows the seed, MS and the auditor, computes the same bytes. A party knows its own key alone, and IS none. A
body key belongs to one plaintext, so that its nonce may be fixed; its digest is signed beside it.
"""

import hmac
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, NoReturn

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

from proxid.crypto import ed25519
from proxid.crypto.ed25519 import SIGNATURE_SIZE, SigningKey
from proxid.crypto.hpke import OVERHEAD, OpeningKey, SealingKey
from proxid.encoding import decode, decode_int, decode_text, encode, label
from proxid.errors import EncodingError, KeyInvalidError, RecordMismatchError, SealInvalidError

KEY_SIZE: Final = 32
TAG_SIZE: Final = 16
"""Bytes by which an encrypted body is longer than its plaintext."""

_KEY: Final = label("feed-key")
_BODY: Final = label("feed-body")
_SEAL: Final = label("feed-key-seal")
_MESSAGE: Final = label("feed-key-message")
_NONCE: Final = bytes(12)


class FeedKey:
    """The secret of one party and epoch: 32 bytes; raises KeyInvalidError for another size."""

    __slots__ = ("_key",)

    def __init__(self, key: bytes) -> None:
        if len(key) != KEY_SIZE:
            raise KeyInvalidError("a feed key has 32 bytes")
        self._key = key

    @classmethod
    def of(cls, seed: bytes, service: str, epoch: int, party: str) -> "FeedKey":
        """The key of a party and epoch."""
        return cls(hmac.digest(seed, encode(_KEY, service, epoch, party), "sha256"))

    def _cipher(self, digest: bytes, context: bytes) -> ChaCha20Poly1305:
        return ChaCha20Poly1305(HKDFExpand(SHA256(), 32, encode(_BODY, digest, context)).derive(self._key))

    def encrypt(self, plaintext: bytes, digest: bytes, context: bytes) -> bytes:
        """A body, 16 bytes longer than its plaintext.

        Args:
            digest: of the plaintext, for which the body is decrypted again. context: where it stands.
        """
        return self._cipher(digest, context).encrypt(_NONCE, plaintext, None)

    def decrypt(self, encrypted: bytes, digest: bytes, context: bytes) -> bytes:
        """The plaintext; raises SealInvalidError for another key, digest or context, or any change."""
        try:
            return self._cipher(digest, context).decrypt(_NONCE, encrypted, None)
        except InvalidTag:
            raise SealInvalidError("body does not open under this feed key and context") from None

    def seal(self, to: SealingKey, service: str, epoch: int, party: str) -> "FeedKeyMessage":
        """This key sealed to its party; unsigned."""
        return FeedKeyMessage(service, epoch, party, to.seal(self._key, encode(_SEAL, service, epoch, party)))

    def __reduce__(self) -> NoReturn:
        raise KeyInvalidError("a secret key is never copied or pickled")

    def __repr__(self) -> str:
        return "FeedKey(…)"


@dataclass(frozen=True, slots=True)
class FeedKeyMessage:
    """A feed key on its way to its party, sealed to it and signed by the main service."""

    service: str
    epoch: int
    party: str
    sealed: bytes
    signature: bytes = b""

    def _body(self) -> bytes:
        return encode(_MESSAGE, self.service, self.epoch, self.party, self.sealed)

    def sign(self, key: SigningKey) -> "FeedKeyMessage":
        """The same, signed by the main service."""
        return replace(self, signature=key.sign(self._body()))

    def verify(self, service_key: bytes, service: str, epoch: int) -> None:
        """Check it against the provisioned pk_MS.

        Raises:
            RecordMismatchError: another service or epoch. SignatureInvalidError, KeyInvalidError: not MS's.
        """
        if (self.service, self.epoch) != (service, epoch):
            raise RecordMismatchError("feed key is of another service or epoch")
        ed25519.verify(service_key, self._body(), self.signature)

    def open(self, key: OpeningKey) -> FeedKey:
        """The key, as its party; raises SealInvalidError, KeyInvalidError."""
        return FeedKey(key.open(self.sealed, encode(_SEAL, self.service, self.epoch, self.party)))

    def encode(self) -> bytes:
        """Canonical form."""
        return encode(self.service, self.epoch, self.party, self.sealed, self.signature)

    @classmethod
    def decode(cls, data: bytes) -> "FeedKeyMessage":
        """The message of an encoding; raises EncodingError."""
        service, epoch, party, sealed, signature = decode(data, 5)
        if len(sealed) != KEY_SIZE + OVERHEAD or len(signature) != SIGNATURE_SIZE:
            raise EncodingError("a sealed feed key has one size")
        return cls(decode_text(service), decode_int(epoch), decode_text(party), sealed, signature)


def read_feeds(feeds: Iterable[bytes], service_key: bytes, service: str, epoch: int) -> list[tuple[str, bytes]]:
    """Party and encoding of each message of an epoch, as `EPOCH_OPENED` holds them.

    Raises:
        RecordMismatchError: another service or epoch. EncodingError. SignatureInvalidError, KeyInvalidError: not MS's.
    """
    messages = [(FeedKeyMessage.decode(data), data) for data in feeds]
    for message, _ in messages:
        message.verify(service_key, service, epoch)
    return [(message.party, data) for message, data in messages]


def verify_parties(feeds: Iterable[tuple[str, bytes]], parties: Iterable[str]) -> None:
    """Check that each party of an epoch's policy has one feed key, or none has any (before there were feed keys).

    A party that is left out would read nothing, and nobody could open what is sealed to a party that there is not.

    Raises:
        RecordMismatchError: it is not so.
    """
    names = sorted(party for party, _ in feeds)
    if names and names != sorted(parties):
        raise RecordMismatchError("feed keys are not one of each of the parties of the epoch's policy")
