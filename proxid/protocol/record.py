"""A released log record: its body sealed to one party, its user restored by IS (DESIGN 9).

m_0 user block (PROX_ID, then USER_ID or alias)   m_1 encrypted body   m_2 body hash   m_3 party
m_4 kind   m_5 E(group, position, size)
m_1       = the body under the key of (party, epoch) (`feedkey`)
body hash = SHA256(E("body", body)): the body holds 32 salt bytes, so nobody can guess it from its hash
salt      = HMAC-SHA256(seed of the epoch, E("record-salt", party, m_5))
nonce     = SHA256(E("record-nonce", party, m_5, body hash))[:16], so that nobody chooses it and everybody can check it
alias     = base32(HMAC-SHA256(key of party and period, E("proxid/v2/alias", USER_ID, a_U))[:20])

In an epoch that was opened before there were feed keys each body is sealed to the party by itself, salt and nonce are
random, and aliases are HMACs under a lasting key of IS's: E("alias", TP, period, USER_ID).
"""

import base64
import hashlib
import hmac
import os
import re
from dataclasses import dataclass
from typing import Final, Protocol

from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.hpke import OpeningKey, SealingKey
from proxid.crypto.padding import pad, unpad
from proxid.crypto.sansig import Direction, Expectation, Header, Limit, Message, SignedMessage, sign
from proxid.crypto.sansig.message import NONCE_SIZE
from proxid.encoding import decode, decode_int, decode_text, encode, encode_text, label
from proxid.errors import RecordMismatchError
from proxid.protocol.feedkey import FeedKey
from proxid.protocol.request import Random

USER, SEALED, BODY_HASH, PARTY, KIND, PLACE = range(6)
BLOCKS: Final = 6
BODY_SIZE: Final = 768
"""One padded size for every body (bytes); a text that does not fit is withheld (DESIGN 8.4.1)."""
ALIAS_PREFIX: Final = "al1"
_ALIAS_FORM: Final = re.compile(ALIAS_PREFIX + "[a-z2-7]{32}")
KIND_BASE: Final = {"general": 0, "location": 1 << 40, "command": 1 << 41, "entries": 1 << 42, "contents": 1 << 43}
"""Groups are numbered without gaps from 1 in each kind and epoch; the upper bits of a number say the kind."""
TICK_BITS: Final = 20
"""Portions of entries are numbered from 1 in each tick; the tick stands above these bits."""

_BODY = label("body")
_RECORD = label("record")
_RECORD_SALT = label("record-salt")
_RECORD_NONCE = label("record-nonce")
_ALIAS = label("alias")
_ALIAS_2 = label("alias", 2)
_ALIAS_KEY = label("alias-key")
_AUDIENCE = label("audience")
_AUDIENCE_2 = label("audience", 2)
_SALT_SIZE: Final = 32


@dataclass(frozen=True, slots=True)
class Mechanism:
    """How a group was made: the same in all of its records."""

    mode: str
    k: int
    margin: int
    level: int
    node_level: int

    def items(self) -> tuple[str | int, ...]:
        """In the order of the encoding."""
        return (self.mode, self.k, self.margin, self.level, self.node_level)


def audience_tag(audience: str, seed: bytes = b"") -> str:
    """An audience as a body names it: 32 hexadecimal digits, of one size however many parties there are.

    A party can tell groups of different audiences apart, and cannot find out who else got them by trying audiences.

    Args:
        seed: of the epoch; empty in version 1, whose tags are not keyed.
    """
    if not seed:
        return hashlib.sha256(encode(_AUDIENCE, audience)).hexdigest()[:32]
    return hmac.digest(seed, encode(_AUDIENCE_2, audience), "sha256").hex()[:32]


@dataclass(frozen=True, slots=True)
class RecordBody:
    """What a party learns of one record besides its user.

    Attributes:
        audience: its tag, `audience_tag`.
        time_bucket: Unix seconds, start of the release's time bucket, the same in the whole group.
        rung: 0 text, 1 semantic unit, 2 category alone (DESIGN 8.7). path: category, cell or shape. text: or empty.
    """

    audience: str
    kind: str
    mechanism: Mechanism
    epoch: int
    group: int
    time_bucket: int
    rung: int
    path: tuple[str, ...]
    text: str

    def encode(self, salt: bytes) -> bytes:
        """The padded body; raises OversizedError if it does not fit the one size."""
        m, place = encode(*self.mechanism.items()), encode(self.epoch, self.group, self.time_bucket)
        items = encode(self.audience, self.kind, m, place, self.rung, encode(*self.path), self.text, salt)
        return pad(items, (BODY_SIZE,))

    @classmethod
    def decode(cls, padded: bytes) -> "RecordBody":
        """The body of a plaintext; raises EncodingError."""
        audience, kind, m, place, rung, path, text, _salt = decode(unpad(padded, (BODY_SIZE,)), 8)
        mode, k, margin, level, node_level = decode(m, 5)
        epoch, group, bucket = (decode_int(x) for x in decode(place, 3))
        mechanism = Mechanism(decode_text(mode), *(decode_int(x) for x in (k, margin, level, node_level)))
        return cls(
            decode_text(audience), decode_text(kind), mechanism, epoch, group, bucket, decode_int(rung),
            tuple(decode_text(p) for p in decode(path)), decode_text(text),
        )  # fmt: skip


class Placed(Protocol):
    """What m_5 says: where a record stands."""

    def encode(self) -> bytes:
        """m_5."""
        ...


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record stands: group number in the epoch, position in the group, size of the group."""

    group: int
    position: int
    size: int

    def encode(self) -> bytes:
        """m_5."""
        return encode(self.group, self.position, self.size)

    @classmethod
    def decode(cls, data: bytes) -> "Place":
        """The place of an m_5; raises EncodingError."""
        return cls(*(decode_int(x) for x in decode(data, 3)))


def group_number(kind: str, number: int) -> int:
    """A group's number in its epoch, from its number in its kind."""
    return KIND_BASE[kind] + number


def kind_and_number(group: int) -> tuple[str, int]:
    """The kind of a group and its number in its kind: the inverse of `group_number`."""
    kind = next(name for name in reversed(KIND_BASE) if group >= KIND_BASE[name])
    return kind, group - KIND_BASE[kind]


def group_name(group: int) -> str:
    """A group's number in words: `group 12`, `command group 12`, `tick 4, portion 1`, `contents 2`."""
    kind, number = kind_and_number(group)
    if kind == "entries":
        return f"tick {number >> TICK_BITS}, portion {number & ((1 << TICK_BITS) - 1)}"
    if kind == "contents":
        return f"contents {number}"
    return f"group {number}" if kind == "general" else f"{kind} group {number}"


def limit_of(fidelity: str) -> Limit:
    """Which limit the user block of a record has."""
    return Limit.LINKED_USER if fidelity == "user_id" else Limit.LINKED_ALIAS


def expectation(service: str, epoch: int, service_key: bytes, screener: bytes, fidelity: str) -> Expectation:
    """What a record of this service and epoch for a party of this fidelity must be."""
    return Expectation(Direction.RECORD, service, epoch, service_key, screener, BLOCKS, limit_of(fidelity))


def body_hash(padded: bytes) -> bytes:
    """m_2 of a padded body."""
    return hashlib.sha256(encode(_BODY, padded)).digest()


def seal_info(service: str, epoch: int, party: str, place: bytes) -> bytes:
    """The context that a body is sealed in."""
    return encode(_RECORD, service, epoch, party, place)


@dataclass(frozen=True, slots=True)
class Recipient:
    """A party as the Request Integrator sees it."""

    party: str
    fidelity: str
    key: FeedKey | SealingKey
    """Of its feed; the party's own in an epoch without feed keys."""


@dataclass(frozen=True, slots=True)
class Issuer:
    """MS as the Request Integrator signs for it."""

    service: str
    key: SigningKey
    screener: bytes


@dataclass(frozen=True, slots=True)
class Filling:
    """What a record holds of its body, and its nonce: all of it follows from the seed of the epoch."""

    padded: bytes
    encrypted: bytes
    digest: bytes
    nonce: bytes

    @classmethod
    def of(
        cls, body: RecordBody, where: bytes, party: str, service: str, seed: bytes, key: FeedKey | None = None
    ) -> "Filling":
        """Of a body at a place (m_5), for a party, whose feed key follows from the seed; raises OversizedError."""
        padded = body.encode(hmac.digest(seed, encode(_RECORD_SALT, party, where), "sha256"))
        digest, key = body_hash(padded), key or FeedKey.of(seed, service, body.epoch, party)
        encrypted = key.encrypt(padded, digest, seal_info(service, body.epoch, party, where))
        return cls(padded, encrypted, digest, nonce_of(party, where, digest))


def nonce_of(party: str, where: bytes, digest: bytes) -> bytes:
    """The nonce of a record at a place (m_5) with a body of this hash: 16 bytes."""
    return hashlib.sha256(encode(_RECORD_NONCE, party, where, digest)).digest()[:NONCE_SIZE]


def verify_label(signed: SignedMessage, time_ms: int, party: str, keyed: bool) -> None:
    """Check that a header says nothing that differs within its group or portion.

    Args:
        time_ms: of the group or portion. keyed: whether the epoch has feed keys, so that a nonce is nobody's choice.

    Raises:
        RecordMismatchError: it does.
    """
    header, blocks = signed.header, signed.message.blocks
    if header.time_ms != time_ms:
        raise RecordMismatchError("record carries another time than its group")
    if keyed and header.nonce != nonce_of(party, blocks[PLACE], blocks[BODY_HASH]):
        raise RecordMismatchError("record carries a nonce that somebody chose")


def make(
    body: RecordBody, prox_id: str, place: Placed, to: Recipient, issuer: Issuer, seed: bytes = b"",
    time: int | None = None, random: Random = os.urandom,
) -> tuple[SignedMessage, bytes]:  # fmt: skip
    """Encrypt and sign one record for one party; also the padded body, for evidence. Raises OversizedError.

    Args:
        seed: of the epoch; empty if it has no feed keys. time: of the header, Unix seconds; the body's bucket if None.
    """
    where = place.encode()
    if isinstance(to.key, FeedKey):
        filling = Filling.of(body, where, to.party, issuer.service, seed, to.key)
    else:
        filling = _sealed(body, where, (to.party, to.key), issuer.service, random)
    seconds = body.time_bucket if time is None else time
    header = Header(
        direction=Direction.RECORD, service=issuer.service, epoch=body.epoch, signer=issuer.key.public,
        sanitizer=issuer.screener, nonce=filling.nonce, time_ms=seconds * 1000, blocks=BLOCKS,
        limit=limit_of(to.fidelity),
    )  # fmt: skip
    blocks = (
        encode_text(prox_id), filling.encrypted, filling.digest, encode_text(to.party), encode_text(body.kind), where,
    )  # fmt: skip
    return sign(Message(header, blocks), issuer.key), filling.padded


def _sealed(body: RecordBody, where: bytes, to: tuple[str, SealingKey], service: str, random: Random) -> Filling:
    padded = body.encode(random(_SALT_SIZE))
    sealed = to[1].seal(padded, seal_info(service, body.epoch, to[0], where))
    return Filling(padded, sealed, body_hash(padded), random(NONCE_SIZE))


def open_body(signed: SignedMessage, party: str, key: FeedKey | OpeningKey) -> RecordBody:
    """Open a verified record as the party that it names.

    Args:
        key: of the feed in the record's epoch; the party's own for an epoch without feed keys.

    Raises:
        RecordMismatchError: it names another party, or body and hash differ. SealInvalidError, EncodingError.
    """
    header, blocks = signed.header, signed.message.blocks
    if blocks[PARTY] != encode_text(party):
        raise RecordMismatchError("record names another party")
    info = seal_info(header.service, header.epoch, party, blocks[PLACE])
    if isinstance(key, FeedKey):
        padded = key.decrypt(blocks[SEALED], blocks[BODY_HASH], info)
    else:
        padded = key.open(blocks[SEALED], info)
    if body_hash(padded) != blocks[BODY_HASH]:
        raise RecordMismatchError("body differs from its hash")
    return RecordBody.decode(padded)


def is_alias(name: str) -> bool:
    """Whether a name has the form of an alias, which no USER_ID is taken for."""
    return _ALIAS_FORM.fullmatch(name) is not None


def alias(key: bytes, user_id: str, part: bytes) -> str:
    """The name of a user for the party and period of a key (DESIGN 9): 35 characters.

    Args:
        part: a_U, the user's own part, without which nobody finds the user of an alias again.
    """
    return _alias(key, encode(_ALIAS_2, user_id, part))


def alias_before(key: bytes, party: str, period: int, user_id: str) -> str:
    """The same in an epoch that was opened before there were feed keys, under one key of IS's."""
    return _alias(key, encode(_ALIAS, party, period, user_id))


def _alias(key: bytes, of: bytes) -> str:
    return ALIAS_PREFIX + base64.b32encode(hmac.digest(key, of, "sha256")[:20]).decode("ascii").lower()


def alias_commitment(party: str, period: int, key: bytes) -> bytes:
    """What KEYED says of the key of a party's aliases in a period: 32 bytes."""
    return hashlib.sha256(encode(_ALIAS_KEY, party, period, key)).digest()
