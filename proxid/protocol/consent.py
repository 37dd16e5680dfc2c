"""Consent: the full vector to IS under the user's key, the bundle alone to MS under the epoch key (DESIGN 7).

To MS, a sanitizable message:   m_0 user block   m_1 bundle id   m_2 version (u64, from 1 in the epoch)
Its acknowledgement by MS:      m_0 user block   m_1 consent hash   m_2 version   m_3 bundle id
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from proxid.crypto import ed25519
from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.sansig import Direction, Expectation, Header, Limit, Message, SignedMessage, sign
from proxid.crypto.sansig.message import NONCE_SIZE
from proxid.encoding import decode, decode_int, decode_text, encode, encode_int, encode_text, label
from proxid.errors import ConsentError, EncodingError
from proxid.protocol.request import Random

NOTHING: Final = "nothing"
"""The bundle that everybody has until they choose: nothing to nobody."""

FIDELITIES: Final = ("user_id", "alias")
TYPES: Final = ("general", "location", "command")

USER, BUNDLE, VERSION = range(3)
BLOCKS: Final = 3
ACK_USER, ACK_HASH, ACK_VERSION, ACK_BUNDLE = range(4)
ACK_BLOCKS: Final = 4

_VECTOR = label("consent-vector")
_VECTOR_2 = label("consent-vector", 2)
_POLICY: Final = 7
"""Where the digest stands in the encoding, behind label, signature and what version 1 has before the grants."""
DIGEST_SIZE: Final = 32


@dataclass(frozen=True, slots=True, order=True)
class Grant:
    """What one party may receive: request types, and the user as `user_id` or `alias`."""

    party: str
    types: tuple[str, ...]
    fidelity: str


Bundles = Mapping[str, tuple[Grant, ...]]
"""The bundles that the operator offers, by id; `NOTHING` is always among them and empty."""


def audience(bundle: tuple[Grant, ...], request_type: str) -> tuple[tuple[str, str], ...]:
    """The (party, fidelity) pairs that may receive a type, sorted: groups form within one audience."""
    return tuple(sorted((g.party, g.fidelity) for g in bundle if request_type in g.types))


def audience_id(pairs: tuple[tuple[str, str], ...]) -> str:
    """An audience as text: `party:fidelity` joined by commas; empty for nobody."""
    return ",".join(f"{party}:{fidelity}" for party, fidelity in pairs)


def parse_audience(text: str) -> tuple[tuple[str, str], ...]:
    """The pairs of an audience id; raises EncodingError unless it is canonical."""
    pairs = []
    for part in text.split(",") if text else []:
        party, colon, fidelity = part.partition(":")
        if not party or not colon or fidelity not in FIDELITIES:
            raise EncodingError("audience is malformed")
        pairs.append((party, fidelity))
    if pairs != sorted(set(pairs)):
        raise EncodingError("audience is not sorted")
    return tuple(pairs)


@dataclass(frozen=True, slots=True)
class ConsentVector:
    """The user's signed word to IS: which bundle, and what it grants, from `version` on in an epoch.

    Attributes:
        policy: digest of the document that offers the bundle; empty in version 1, whose layout has none.
    """

    user_id: str
    service: str
    epoch: int
    version: int
    bundle: str
    grants: tuple[Grant, ...]
    policy: bytes = b""
    signature: bytes = b""

    def _items(self) -> list[bytes | str | int]:
        items: list[bytes | str | int] = [self.user_id, self.service, self.epoch, self.version, self.bundle]
        items += [self.policy] if self.policy else []
        items += [encode(g.party, encode(*g.types), g.fidelity) for g in sorted(self.grants)]
        return items

    def _body(self) -> bytes:
        return encode(_VECTOR_2 if self.policy else _VECTOR, *self._items())

    def sign(self, key: SigningKey) -> "ConsentVector":
        """The same vector, signed with the user's own key."""
        return replace(self, signature=key.sign(self._body()))

    def verify(self, user_key: bytes, bundles: Bundles | None, policy: bytes = b"") -> None:
        """Check the signature, and that the vector is what the operator's bundle grants.

        Args:
            bundles: those of the policy of the epoch; None if nobody knows here what that says. policy: its digest.

        Raises:
            ConsentError: unknown bundle, another vector or policy. SignatureInvalidError, KeyInvalidError.
        """
        ed25519.verify(user_key, self._body(), self.signature)
        if self.policy != policy:
            raise ConsentError("consent was given under another policy than the epoch's")
        if bundles is None:
            return
        offered = bundles.get(self.bundle)
        if offered is None:
            raise ConsentError("bundle is not offered")
        if sorted(offered) != sorted(self.grants):
            raise ConsentError("vector is not what the bundle grants")

    def encode(self) -> bytes:
        """Canonical form."""
        return encode(*([_VECTOR_2] if self.policy else []), self.signature, *self._items())

    @classmethod
    def decode(cls, data: bytes) -> "ConsentVector":
        """The vector of an encoding; raises EncodingError."""
        items, policy = decode(data), b""
        if items[:1] == [_VECTOR_2]:
            policy = b"".join(items[_POLICY : _POLICY + 1])
            if len(policy) != DIGEST_SIZE:
                raise EncodingError("consent vector names no policy")
            items = [*items[1:_POLICY], *items[_POLICY + 1 :]]
        if len(items) < 6:
            raise EncodingError("consent vector is truncated")
        signature, user_id, service, epoch, version, bundle = items[:6]
        grants = tuple(_grant(item) for item in items[6:])
        if list(grants) != sorted(set(grants)):
            raise EncodingError("consent vector is not canonical: grants are sorted, each is there once")
        return cls(
            decode_text(user_id), decode_text(service), decode_int(epoch), decode_int(version), decode_text(bundle),
            grants, policy, signature,
        )  # fmt: skip


def _grant(data: bytes) -> Grant:
    party, types, fidelity = decode(data, 3)
    types_of = [decode_text(t) for t in decode(types)]
    grant = Grant(decode_text(party), tuple(types_of), decode_text(fidelity))
    if grant.fidelity not in FIDELITIES or any(t not in TYPES for t in grant.types):
        raise EncodingError("consent vector holds an unknown type or fidelity")
    if not types_of or types_of != sorted(set(types_of)):
        raise EncodingError("consent vector is not canonical: types are sorted, each is there once")
    return grant


def expectation(service: str, epoch: int, epoch_key: bytes, screener: bytes) -> Expectation:
    """What a consent message of this epoch key must be."""
    return Expectation(Direction.CONSENT, service, epoch, epoch_key, screener, BLOCKS, Limit.PROX_ID)


def make(
    bundle: str, version: int, user_id: str, key: SigningKey, header: tuple[str, int, bytes], now_ms: int,
    random: Random = os.urandom,
) -> SignedMessage:  # fmt: skip
    """Sign a consent message as the device; `header` is (service, epoch, pk_IS)."""
    service, epoch, screener = header
    hdr = Header(
        direction=Direction.CONSENT, service=service, epoch=epoch, signer=key.public, sanitizer=screener,
        nonce=random(NONCE_SIZE), time_ms=now_ms, blocks=BLOCKS, limit=Limit.PROX_ID,
    )  # fmt: skip
    return sign(Message(hdr, (encode_text(user_id), encode_text(bundle), encode_int(version))), key)


def read(signed: SignedMessage) -> tuple[str, int]:
    """Bundle id and version of a consent message; raises EncodingError."""
    blocks = signed.message.blocks
    return decode_text(blocks[BUNDLE]), decode_int(blocks[VERSION])


def ack_expectation(service: str, epoch: int, service_key: bytes, screener: bytes) -> Expectation:
    """What MS's acknowledgement must be."""
    return Expectation(Direction.CONSENT_ACK, service, epoch, service_key, screener, ACK_BLOCKS, Limit.LINKED_USER)


def make_ack(
    consent: SignedMessage, prox_id: str, key: SigningKey, now_ms: int, random: Random = os.urandom
) -> SignedMessage:
    """MS's signed word that a consent message is in effect."""
    asked = consent.header
    bundle, version = read(consent)
    header = Header(
        direction=Direction.CONSENT_ACK, service=asked.service, epoch=asked.epoch, signer=key.public,
        sanitizer=asked.sanitizer, nonce=random(NONCE_SIZE), time_ms=now_ms, blocks=ACK_BLOCKS,
        limit=Limit.LINKED_USER,
    )  # fmt: skip
    blocks = (encode_text(prox_id), consent.session_id, encode_int(version), encode_text(bundle))
    return sign(Message(header, blocks), key)


def verify_ack(signed: SignedMessage, consent: SignedMessage) -> None:
    """That a verified acknowledgement is of this consent message; raises ConsentError."""
    bundle, version = read(consent)
    blocks = signed.message.blocks
    expected = (consent.session_id, encode_int(version), encode_text(bundle))
    if blocks[ACK_HASH:] != expected:
        raise ConsentError("acknowledgement is of another consent message")
