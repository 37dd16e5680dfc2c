"""The content message of form `split` (DESIGN 8.11, 9): what was asked in one epoch and audience, without names.

    plaintext = pad(E("contents", audience tag, E(k, m, ℓ, T), epoch, withheld, E(row, row, …), salt))
    row       = E(E(path), text or unit or empty, records)                 rows in order of their bytes
    digest    = SHA-256(E("contents-digest", plaintext))                   the salt comes from the epoch seed
    message   = E(service, epoch, number, party, digest, plaintext under the party's feed key, MS's signature)

There is one plaintext for all parties of an audience: each gets it under its own key, with the same digest. In an epoch
that was opened before there were feed keys it is sealed to the party instead.
"""

import hashlib
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from proxid.crypto import ed25519
from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.hpke import OpeningKey, SealingKey
from proxid.crypto.padding import pad, unpad
from proxid.encoding import decode, decode_int, decode_text, encode, label
from proxid.errors import RecordMismatchError
from proxid.protocol.feedkey import FeedKey

SIZES: Final = tuple(1 << bits for bits in range(16, 22))
"""Padded sizes in bytes: powers of two from 64 KiB, as far as a message travels."""

CLOSING_SECONDS: Final = 6900
"""After an epoch's grace: by then MS has ended it by its own clock, if it must, and its contents have come."""
LATE_SECONDS: Final = 86_400
"""A content message that was not sent within a day is not sent any more."""

_CONTENTS: Final = label("contents")
_DIGEST: Final = label("contents-digest")
_MESSAGE: Final = label("contents-message")
_SEAL: Final = label("contents-seal")


def coming_seconds(grace: float) -> float:
    """Seconds after an epoch's end within which its contents are on their way: whoever goes then denies them to nobody.

    Args:
        grace: seconds for which MS serves an epoch after its end (`epoch_grace`).
    """
    return grace + CLOSING_SECONDS


class ContentsRow(NamedTuple):
    """Contents that are shown alike: the category prefix, the text or unit or nothing, and how many records."""

    path: tuple[str, ...]
    text: str
    records: int


@dataclass(frozen=True, slots=True)
class ContentsBody:
    """What a party reads.

    Attributes:
        audience: its tag, `record.audience_tag`. mechanism: k, m, ℓ and T, the records of a round that carry whatever
            is shown below the node. withheld: records of open nodes that no round took.
    """

    audience: str
    mechanism: tuple[int, int, int, int]
    epoch: int
    withheld: int
    rows: tuple[ContentsRow, ...]

    def encode(self, salt: bytes) -> bytes:
        """The padded plaintext; raises OversizedError."""
        rows = (encode(encode(*row.path), row.text, row.records) for row in self.rows)
        items = encode(
            _CONTENTS, self.audience, encode(*self.mechanism), self.epoch, self.withheld, encode(*rows), salt
        )
        return pad(items, SIZES)

    @classmethod
    def decode(cls, plaintext: bytes) -> "ContentsBody":
        """The body of a plaintext; raises EncodingError, RecordMismatchError."""
        name, audience, mechanism, epoch, withheld, rows, _salt = decode(unpad(plaintext, SIZES), 7)
        if name != _CONTENTS:
            raise RecordMismatchError("message holds no contents")
        k, margin, level, threshold = (decode_int(item) for item in decode(mechanism, 4))
        return cls(
            decode_text(audience), (k, margin, level, threshold), decode_int(epoch), decode_int(withheld),
            tuple(_row(row) for row in decode(rows)),
        )  # fmt: skip


def _row(data: bytes) -> ContentsRow:
    path, text, records = decode(data, 3)
    return ContentsRow(tuple(decode_text(part) for part in decode(path)), decode_text(text), decode_int(records))


def digest_of(plaintext: bytes) -> bytes:
    """The digest of a plaintext, 32 bytes."""
    return hashlib.sha256(encode(_DIGEST, plaintext)).digest()


@dataclass(frozen=True, slots=True)
class ContentsMessage:
    """The contents of one epoch and audience on their way to one party; `number` as `record.group_number`."""

    service: str
    epoch: int
    number: int
    party: str
    digest: bytes
    sealed: bytes
    signature: bytes = b""

    def _body(self) -> bytes:
        return encode(_MESSAGE, self.service, self.epoch, self.number, self.party, self.digest, self.sealed)

    def sign(self, key: SigningKey) -> "ContentsMessage":
        """The same, signed by the main service."""
        return replace(self, signature=key.sign(self._body()))

    def verify(self, service_key: bytes) -> None:
        """Check the main service's signature; raises SignatureInvalidError, KeyInvalidError."""
        ed25519.verify(service_key, self._body(), self.signature)

    def encode(self) -> bytes:
        """Canonical form."""
        return encode(
            self.service, self.epoch, self.number, self.party, self.digest, self.sealed, self.signature
        )  # fmt: skip

    @classmethod
    def decode(cls, data: bytes) -> "ContentsMessage":
        """The message of an encoding; raises EncodingError."""
        service, epoch, number, party, digest, sealed, signature = decode(data, 7)
        return cls(
            decode_text(service), decode_int(epoch), decode_int(number), decode_text(party), digest, sealed, signature
        )  # fmt: skip


def make(place: tuple[str, int, int], party: str, key: FeedKey | SealingKey, plaintext: bytes) -> ContentsMessage:
    """Encrypt a plaintext for a party; unsigned.

    Args:
        place: service, epoch, number. key: of the party's feed; the party's own in an epoch without feed keys.
    """
    info, digest = encode(_SEAL, *place, party), digest_of(plaintext)
    sealed = key.encrypt(plaintext, digest, info) if isinstance(key, FeedKey) else key.seal(plaintext, info)
    return ContentsMessage(*place, party, digest, sealed)


def open_contents(message: ContentsMessage, key: FeedKey | OpeningKey) -> ContentsBody:
    """Open a verified message as its party; `key` as of `record.open_body`.

    Raises:
        RecordMismatchError: the plaintext is not the one of the digest. SealInvalidError, EncodingError.
    """
    info = encode(_SEAL, message.service, message.epoch, message.number, message.party)
    if isinstance(key, FeedKey):
        plaintext = key.decrypt(message.sealed, message.digest, info)
    else:
        plaintext = key.open(message.sealed, info)
    if digest_of(plaintext) != message.digest:
        raise RecordMismatchError("contents differ from their digest")
    return ContentsBody.decode(plaintext)
