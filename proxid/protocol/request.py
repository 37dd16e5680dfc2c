"""A request: what a device seals and signs, and what MS opens (DESIGN 5.1, 5.3).

m_0 user block (USER_ID, then PROX_ID)   m_1 sealed body   m_2 commit   m_3 purpose
body   = HPKE(pk_MS,epoch, pad(E(utterance, locale, time, location, salt32, response_key32)),
              info = E("req", MS, epoch, pk_e, nonce))
commit = SHA256(E("commit", salt, utterance, locale, time, location))
"""

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.hpke import OVERHEAD, OpeningKey, SealingKey
from proxid.crypto.padding import pad, unpad
from proxid.crypto.response import RESPONSE_KEY_SIZE
from proxid.crypto.sansig import Direction, Expectation, Header, Limit, Message, SignedMessage, sign
from proxid.crypto.sansig.message import NONCE_SIZE
from proxid.encoding import decode, decode_int, decode_text, encode, encode_text, label
from proxid.errors import CommitMismatchError, EncodingError, FreshnessError, MessageInvalidError

SALT_SIZE: Final = 32
COMMIT_SIZE: Final = 32
LOCALE: Final = "en-US"
"""Of everybody who does not ask for another: a rare one marks a person."""
BUCKETS: Final = (512, 1024, 4096, 16384)
"""Sizes of the padded plaintext in bytes; a longer utterance is refused by the device."""
PURPOSE_ANSWER: Final = b"answer"
PURPOSE_ACCESS: Final = b"access"
"""Ask MS what it holds of the own live PROX_ID (DESIGN 11); the answer is JSON."""
PURPOSES: Final = frozenset({PURPOSE_ANSWER, PURPOSE_ACCESS})

ANSWERED: Final = 600.0
"""Seconds, besides the skew, within which a request is answered: what waits of it is counted as of then."""
HELD: Final = 300.0
"""Seconds for which what was answered may wait to be filed: while something waits longer, nothing new is taken."""
EXPECTED: Final = 4096
"""Expectations that are kept: every message of an epoch key has the same."""

USER, SEALED, COMMIT, PURPOSE = range(4)
BLOCKS: Final = 4
MAX_USER_BLOCK: Final = 128
SEALED_SIZES: Final = frozenset(size + OVERHEAD for size in BUCKETS)

_REQ = label("req")
_COMMIT = label("commit")

Random = Callable[[int], bytes]


@dataclass(frozen=True, slots=True, repr=False)
class Utterance:
    """What was said, and the secrets that go with it; never shown in a representation.

    Attributes:
        text: NFC text. locale: BCP 47. time_ms: Unix milliseconds. location: "lat,lon" or empty.
        salt: 32 bytes that blind the commit. response_key: 32 bytes that the answer is sealed under.
    """

    text: str
    locale: str
    time_ms: int
    location: str
    salt: bytes
    response_key: bytes

    @classmethod
    def new(
        cls, text: str, time_ms: int, locale: str = LOCALE, location: str = "", random: Random = os.urandom
    ) -> "Utterance":
        """An utterance with fresh secrets."""
        return cls(text, locale, time_ms, location, random(SALT_SIZE), random(RESPONSE_KEY_SIZE))

    @property
    def commit(self) -> bytes:
        """SHA256(E("commit", salt, utterance, locale, time, location)), 32 bytes."""
        return hashlib.sha256(encode(_COMMIT, self.salt, self.text, self.locale, self.time_ms, self.location)).digest()

    @property
    def opening(self) -> bytes:
        """E(utterance, locale, time, location, salt): what opens the commit; the response key is not in it."""
        return encode(self.text, self.locale, self.time_ms, self.location, self.salt)

    @classmethod
    def from_opening(cls, data: bytes) -> "Utterance":
        """The utterance of an opening (its response key empty); raises EncodingError."""
        text, locale, time_ms, location, salt = decode(data, 5)
        return cls(decode_text(text), decode_text(locale), decode_int(time_ms), decode_text(location), salt, b"")

    def encode(self) -> bytes:
        """The plaintext, padded to a size bucket; raises OversizedError."""
        fields = (self.text, self.locale, self.time_ms, self.location, self.salt, self.response_key)
        return pad(encode(*fields), BUCKETS)

    @classmethod
    def decode(cls, padded: bytes) -> "Utterance":
        """The utterance of a plaintext; raises EncodingError."""
        text, locale, time_ms, location, salt, key = decode(unpad(padded, BUCKETS), 6)
        if len(salt) != SALT_SIZE or len(key) != RESPONSE_KEY_SIZE:
            raise EncodingError("request plaintext holds a salt or key of the wrong size")
        return cls(decode_text(text), decode_text(locale), decode_int(time_ms), decode_text(location), salt, key)

    def __repr__(self) -> str:
        return "Utterance(…)"


@lru_cache(maxsize=EXPECTED)
def expectation(service: str, epoch: int, epoch_key: bytes, screener: bytes) -> Expectation:
    """What a request of this epoch key must be (DESIGN 5.0)."""
    return Expectation(Direction.REQUEST, service, epoch, epoch_key, screener, BLOCKS, Limit.PROX_ID)


def seal_info(service: str, epoch: int, epoch_key: bytes, nonce: bytes) -> bytes:
    """The context that a body is sealed in."""
    return encode(_REQ, service, epoch, epoch_key, nonce)


@dataclass(frozen=True, slots=True)
class Route:
    """Where requests of one epoch key go: everything but what is said. policy: digest of what the epoch goes by."""

    service: str
    epoch: int
    screener: bytes
    seal_key: SealingKey
    policy: bytes = b""


def make(
    utterance: Utterance, user_id: str, key: SigningKey, route: Route, now_ms: int, random: Random = os.urandom,
    purpose: bytes = PURPOSE_ANSWER,
) -> SignedMessage:  # fmt: skip
    """Seal and sign a request as the device does (DESIGN 5.1); raises OversizedError, EncodingError."""
    nonce = random(NONCE_SIZE)
    header = Header(
        direction=Direction.REQUEST, service=route.service, epoch=route.epoch, signer=key.public,
        sanitizer=route.screener, nonce=nonce, time_ms=now_ms, blocks=BLOCKS, limit=Limit.PROX_ID,
    )  # fmt: skip
    info = seal_info(route.service, route.epoch, key.public, nonce)
    sealed = route.seal_key.seal(utterance.encode(), info)
    return sign(Message(header, (encode_text(user_id), sealed, utterance.commit, purpose)), key)


def verify_layout(signed: SignedMessage) -> None:
    """Sizes of the blocks (5.2 check 1); raises MessageInvalidError naming the block."""
    blocks = signed.message.blocks
    if not 0 < len(blocks[USER]) <= MAX_USER_BLOCK:
        raise MessageInvalidError("user block is empty or too long")
    if len(blocks[SEALED]) not in SEALED_SIZES:
        raise MessageInvalidError("sealed body is not of a size bucket")
    if len(blocks[COMMIT]) != COMMIT_SIZE:
        raise MessageInvalidError("commit is not 32 bytes")
    if blocks[PURPOSE] not in PURPOSES:
        raise MessageInvalidError("purpose is unknown")


def asks_access(signed: SignedMessage) -> bool:
    """Whether a request asks for what is held of its person, not for an answer (DESIGN 11)."""
    return signed.message.blocks[PURPOSE] == PURPOSE_ACCESS


def open_body(signed: SignedMessage, key: OpeningKey) -> Utterance:
    """Open m_1 and compare the commit (5.3 check 6).

    Raises:
        SealInvalidError, EncodingError: the body does not open or is malformed. CommitMismatchError: m_2 differs.
    """
    header, blocks = signed.header, signed.message.blocks
    info = seal_info(header.service, header.epoch, header.signer, header.nonce)
    utterance = Utterance.decode(key.open(blocks[SEALED], info))
    if utterance.commit != blocks[COMMIT]:
        raise CommitMismatchError("commit does not match the sealed utterance")
    return utterance


def verify_time(signed: SignedMessage, utterance: Utterance, skew: float) -> None:
    """The sealed time is the header's, give or take `skew` seconds; raises FreshnessError.

    Only the header's is held against a clock before the body opens, and answers and records go by the sealed one.
    """
    if abs(utterance.time_ms - signed.header.time_ms) > skew * 1000:
        raise FreshnessError("the sealed time is not the header's")
