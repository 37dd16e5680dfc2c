"""One fixed cast for the crypto tests: keys from names, one user, one epoch, one request and what becomes of it."""

import hashlib
from dataclasses import replace

from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.hpke import PUBLIC_SIZE, OpeningKey
from proxid.crypto.identity import Credential, Enrolment, EpochKey, Link
from proxid.crypto.sansig import (
    Direction,
    Expectation,
    Header,
    Limit,
    Message,
    Role,
    SignedMessage,
    prox_id,
    sanitize,
    sign,
)

MS = "ms.example"
EPOCH = 20_454
NOW = 1_767_225_600
USER_ID = "alice@example.org"
BODY = b"sealed body " * 20
COMMIT = hashlib.sha256(b"commit").digest()
BLOCKS = (USER_ID.encode(), BODY, COMMIT, b"answer")


def key(name: str) -> SigningKey:
    """The signing key of a name."""
    return SigningKey(hashlib.sha256(name.encode()).digest())


def opening_key(name: str) -> OpeningKey:
    """The HPKE key of a name."""
    return OpeningKey(hashlib.shake_256(name.encode()).digest(96))


AUTHORITY, SCREENER, SERVICE = key("authority"), key("screener"), key("service")
USER, DEVICE, MALLORY = key("user"), key("epoch key"), key("mallory")
PROX_ID = prox_id(MS, EPOCH, DEVICE.public)


def header(**changes: object) -> Header:
    """The header of the request, with changes."""
    fields: dict[str, object] = {
        "direction": Direction.REQUEST, "service": MS, "epoch": EPOCH, "signer": DEVICE.public,
        "sanitizer": SCREENER.public, "nonce": bytes(range(16)), "time_ms": NOW * 1000, "blocks": len(BLOCKS),
        "limit": Limit.PROX_ID,
    }  # fmt: skip
    return Header(**(fields | changes))  # type: ignore[arg-type]


def expectation(**changes: object) -> Expectation:
    """What a verifier of the request knows beforehand, with changes."""
    known = Expectation(Direction.REQUEST, MS, EPOCH, DEVICE.public, SCREENER.public, len(BLOCKS), Limit.PROX_ID)
    return replace(known, **changes)  # type: ignore[arg-type]


def request(*blocks: bytes, **changes: object) -> SignedMessage:
    """A request signed by the device; the fixed one without arguments."""
    chosen = blocks or BLOCKS
    return sign(Message(header(blocks=len(chosen), **changes), chosen), DEVICE)


def allow(block: bytes) -> None:
    """A limit that allows everything: what is refused is refused by the library itself."""


def sanitized(signed: SignedMessage | None = None) -> SignedMessage:
    """The request as IS forwards it."""
    return sanitize(signed or request(), PROX_ID.encode(), SCREENER, expectation(), allow)


def raw_sign(message: Message, fixed: SigningKey, full: SigningKey, role: Role) -> SignedMessage:
    """Both signatures without any of Sign's checks: what somebody with these keys could send."""
    first = fixed.sign(message.fixed_input)
    return SignedMessage(message, first + full.sign(message.full_input(role, first)))


def enrolment() -> Enrolment:
    """The user's enrolment."""
    return Enrolment.issue(USER_ID, USER.public, NOW - 30 * 86_400, AUTHORITY)


def link() -> Link:
    """The user's link of the epoch key."""
    return Link.make(USER_ID, USER, DEVICE, EPOCH, MS, SCREENER.public)


def credential(evidence: bool = True) -> Credential:
    """IS's credential for the epoch key."""
    evidence_key = opening_key("evidence").public.data if evidence else b""
    return Credential(DEVICE.public, EPOCH, MS, NOW + 86_400, True, evidence_key).issue(SCREENER)


def epoch_key() -> EpochKey:
    """MS's key of the epoch."""
    seal_key = opening_key("service").public.data
    assert len(seal_key) == PUBLIC_SIZE
    return EpochKey(MS, EPOCH, seal_key, hashlib.sha256(b"seed").digest(), hashlib.sha256(b"policy").digest()).issue(
        SERVICE
    )
