"""A party's signed acknowledgement of a group: what makes a delivery DELIVERED (DESIGN 9, 10.4 check 9)."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from proxid.crypto import ed25519
from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.sansig import SignedMessage
from proxid.encoding import decode, decode_int, decode_text, encode, label

_ACK = label("delivery-ack")
_GROUP = label("delivery-group")
_CONTENTS = label("delivery-contents")


def group_digest(records: Sequence[SignedMessage]) -> bytes:
    """SHA256 over the whole records of a group in order, 32 bytes."""
    return hashlib.sha256(encode(_GROUP, *(r.encode() for r in records))).digest()


def contents_digest(plaintext: bytes) -> bytes:
    """SHA256 over the digest of a content message's plaintext (`contents.digest_of`), 32 bytes."""
    return hashlib.sha256(encode(_CONTENTS, plaintext)).digest()


@dataclass(frozen=True, slots=True)
class DeliveryAck:
    """`party` has received group, portion or contents `group` of `epoch` from `service`, with these bytes.

    Its digest is `group_digest`, `entry.entries_digest` or `contents_digest`; a portion's number says its tick.
    """

    party: str
    service: str
    epoch: int
    group: int
    digest: bytes
    signature: bytes = b""

    def _body(self) -> bytes:
        return encode(_ACK, self.party, self.service, self.epoch, self.group, self.digest)

    def sign(self, key: SigningKey) -> "DeliveryAck":
        """The same acknowledgement, signed by the party."""
        return DeliveryAck(self.party, self.service, self.epoch, self.group, self.digest, key.sign(self._body()))

    def verify(self, party_key: bytes) -> None:
        """Check the party's signature; raises SignatureInvalidError, KeyInvalidError."""
        ed25519.verify(party_key, self._body(), self.signature)

    def encode(self) -> bytes:
        """Canonical form."""
        return encode(self.party, self.service, self.epoch, self.group, self.digest, self.signature)

    @classmethod
    def decode(cls, data: bytes) -> "DeliveryAck":
        """The acknowledgement of an encoding; raises EncodingError."""
        party, service, epoch, group, digest, signature = decode(data, 6)
        return cls(decode_text(party), decode_text(service), decode_int(epoch), decode_int(group), digest, signature)
