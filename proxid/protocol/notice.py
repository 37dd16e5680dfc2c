"""What a party is told when a person whose records it may hold asks for erasure or objects (DESIGN 11).

    notice           Sign(sk_IS, E("notice", kind, MS, party, name, time, nonce))          IS → party, sealed to it
    acknowledgement  Sign(sk_TP, E("notice-ack", party, MS, SHA256(notice), time))         party → IS → person

GDPR 17(2), 19 and 21 ask for it. A notice names one name that the party got the person's records under, and never two:
which aliases are one person's is not the party's to know.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from proxid.crypto import ed25519
from proxid.crypto.ed25519 import SigningKey
from proxid.encoding import decode, decode_int, decode_text, encode, label
from proxid.errors import EncodingError, RecordMismatchError

_NOTICE: Final = label("notice")
_DIGEST: Final = label("notice-digest")
_ACK: Final = label("notice-ack")
_SEAL: Final = label("notice-seal")
NONCE_SIZE: Final = 16
KINDS: Final = ("erase", "object")
"""What the person did: asked for erasure, or objected to any passing on."""


@dataclass(frozen=True, slots=True)
class Notice:
    """IS's word to a party: the person called `name` there asked for this at a time (Unix milliseconds)."""

    kind: str
    service: str
    party: str
    name: str
    time_ms: int
    nonce: bytes
    signature: bytes = b""

    @classmethod
    def make(
        cls, kind: str, place: tuple[str, str], name: str, now_ms: int, key: SigningKey, random: Callable[[int], bytes]
    ) -> "Notice":
        """Sign a notice as IS; `place` is (service, party)."""
        unsigned = cls(kind, *place, name, now_ms, random(NONCE_SIZE))
        return replace(unsigned, signature=key.sign(unsigned._body()))

    def _body(self) -> bytes:
        return encode(_NOTICE, self.kind, self.service, self.party, self.name, self.time_ms, self.nonce)

    def verify(self, screener: bytes, service: str, party: str) -> None:
        """Check it as its party; raises RecordMismatchError, SignatureInvalidError, KeyInvalidError."""
        if (self.service, self.party) != (service, party):
            raise RecordMismatchError("notice is for another party or service")
        ed25519.verify(screener, self._body(), self.signature)

    @property
    def digest(self) -> bytes:
        """What acknowledgements and events name it by; 32 bytes."""
        return hashlib.sha256(encode(_DIGEST, self.encode())).digest()

    def encode(self) -> bytes:
        """Canonical form."""
        return encode(self.kind, self.service, self.party, self.name, self.time_ms, self.nonce, self.signature)

    @classmethod
    def decode(cls, data: bytes) -> "Notice":
        """The notice of an encoding; raises EncodingError."""
        kind, service, party, name, time_ms, nonce, signature = decode(data, 7)
        if decode_text(kind) not in KINDS or len(nonce) != NONCE_SIZE:
            raise EncodingError("notice is of an unknown kind, or its nonce has the wrong size")
        return cls(
            decode_text(kind), decode_text(service), decode_text(party), decode_text(name), decode_int(time_ms), nonce,
            signature,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class NoticeAck:
    """`party` has received the notice of this digest (32 bytes) at a time (Unix milliseconds)."""

    party: str
    service: str
    digest: bytes
    time_ms: int
    signature: bytes = b""

    def _body(self) -> bytes:
        return encode(_ACK, self.party, self.service, self.digest, self.time_ms)

    def sign(self, key: SigningKey) -> "NoticeAck":
        """The same acknowledgement, signed by the party."""
        return replace(self, signature=key.sign(self._body()))

    def verify(self, party_key: bytes) -> None:
        """Check the party's signature; raises SignatureInvalidError, KeyInvalidError."""
        ed25519.verify(party_key, self._body(), self.signature)

    def encode(self) -> bytes:
        """Canonical form."""
        return encode(self.party, self.service, self.digest, self.time_ms, self.signature)

    @classmethod
    def decode(cls, data: bytes) -> "NoticeAck":
        """The acknowledgement of an encoding; raises EncodingError."""
        party, service, digest, time_ms, signature = decode(data, 5)
        return cls(decode_text(party), decode_text(service), digest, decode_int(time_ms), signature)


def seal_info(service: str, party: str) -> bytes:
    """The context that a notice is sealed in."""
    return encode(_SEAL, service, party)
