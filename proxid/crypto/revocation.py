"""The EA's word that a person's key is nobody's any more (DESIGN 4.3): lost, stolen, or given up.

revocation   Sign(sk_EA, E("revoke", USER_ID, pk_U, time))     EA → whoever brings it to IS, by hand

From when IS has it nothing is linked by the key, no right is exercised with it, and the epoch keys that it linked are
dead. IS records it as REVOKED, which discloses it to the auditor alone, and says in its header when it took it.
"""

import hashlib
from dataclasses import dataclass, field, replace
from typing import Final

from proxid.crypto import ed25519
from proxid.crypto.ed25519 import KEY_SIZE, SIGNATURE_SIZE, SigningKey
from proxid.crypto.user_id import verify_user_id
from proxid.encoding import decode, decode_int, decode_text, encode, label
from proxid.errors import EncodingError

_REVOKE: Final = label("revoke")
_DISCLOSED: Final = label("revoked-disclosure")


@dataclass(frozen=True, slots=True)
class Revocation:
    """A key that is revoked; `time` is the EA's, in Unix seconds."""

    user_id: str = field(repr=False)
    user_key: bytes = field(repr=False)
    time: int
    signature: bytes = b""

    def _body(self) -> bytes:
        return encode(_REVOKE, self.user_id, self.user_key, self.time)

    @classmethod
    def issue(cls, user_id: str, user_key: bytes, time: int, authority: SigningKey) -> "Revocation":
        """Revoke a key; raises CredentialError, EncodingError for what is no USER_ID."""
        verify_user_id(user_id)
        unsigned = cls(user_id, user_key, time)
        return replace(unsigned, signature=authority.sign(unsigned._body()))

    def verify(self, authority: bytes) -> None:
        """Check that it is the EA's; raises SignatureInvalidError, KeyInvalidError, CredentialError."""
        verify_user_id(self.user_id)
        ed25519.verify(authority, self._body(), self.signature)

    def encode(self) -> bytes:
        """Canonical form."""
        return encode(self.user_id, self.user_key, self.time, self.signature)

    @property
    def digest(self) -> bytes:
        """What the event's header names it by: 32 bytes that name nobody."""
        return hashlib.sha256(self.encode()).digest()

    @classmethod
    def decode(cls, data: bytes) -> "Revocation":
        """The revocation of an encoding; raises EncodingError."""
        user_id, key, time, signature = decode(data, 4)
        if len(key) != KEY_SIZE or len(signature) != SIGNATURE_SIZE:
            raise EncodingError("a revocation's key or signature has the wrong size")
        return cls(decode_text(user_id), key, decode_int(time), signature)


def revoked_info(service: str) -> bytes:
    """Context under which REVOKED is sealed to the auditor."""
    return encode(_DISCLOSED, service)
