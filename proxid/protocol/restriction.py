"""IS's word to MS that the person of a PROX_ID objects, or does so no more (DESIGN 11; ADR 0042).

    restriction  Sign(sk_IS, E("restriction", MS, PROX_ID, begins, time_ms, nonce))       IS → MS, and into MS's log

MS heeds no other word, each once, and promises that it stands in its log. Neither can then say of the other that it was
told, or was not.
"""

import hashlib
import os
from dataclasses import dataclass, replace
from typing import Final

from proxid.crypto import ed25519
from proxid.crypto.ed25519 import SIGNATURE_SIZE, SigningKey
from proxid.encoding import decode, decode_int, decode_text, encode, label
from proxid.errors import CredentialError, EncodingError
from proxid.protocol.request import Random

_RESTRICTION: Final = label("restriction")
_DIGEST: Final = label("restriction-digest")
NONCE_SIZE: Final = 16


@dataclass(frozen=True, slots=True)
class Restriction:
    """`begins`: nothing is logged or released of the person from here on; else what they consented to counts again.

    Attributes:
        time_ms: IS's clock (Unix milliseconds). nonce: 16 random bytes, so that no two words are the same.
    """

    service: str
    prox_id: str
    begins: bool
    time_ms: int
    nonce: bytes
    signature: bytes = b""

    @classmethod
    def make(
        cls, service: str, prox_id: str, begins: bool, key: SigningKey, now_ms: int, random: Random = os.urandom
    ) -> "Restriction":
        """A word, signed by IS."""
        unsigned = cls(service, prox_id, begins, now_ms, random(NONCE_SIZE))
        return replace(unsigned, signature=key.sign(unsigned._body()))

    def _body(self) -> bytes:
        return encode(_RESTRICTION, self.service, self.prox_id, int(self.begins), self.time_ms, self.nonce)

    def verify(self, screener: bytes, service: str) -> None:
        """Check whose word it is.

        Raises:
            CredentialError: for another service. KeyInvalidError, SignatureInvalidError: not IS's.
        """
        if self.service != service:
            raise CredentialError("word is for another service")
        ed25519.verify(screener, self._body(), self.signature)

    @property
    def digest(self) -> bytes:
        """What RESTRICTED and its promise name it by, 32 bytes."""
        return hashlib.sha256(encode(_DIGEST, self.encode())).digest()

    def encode(self) -> bytes:
        """Canonical form."""
        return encode(self.service, self.prox_id, int(self.begins), self.time_ms, self.nonce, self.signature)

    @classmethod
    def decode(cls, data: bytes) -> "Restriction":
        """The word of an encoding; raises EncodingError."""
        service, prox_id, begins, time_ms, nonce, signature = decode(data, 6)
        if decode_int(begins) > 1 or len(nonce) != NONCE_SIZE or len(signature) != SIGNATURE_SIZE:
            raise EncodingError("a word holds a flag, a nonce and a signature of their sizes")
        said = (decode_text(service), decode_text(prox_id), decode_int(begins) == 1, decode_int(time_ms))
        return cls(*said, nonce, signature)
