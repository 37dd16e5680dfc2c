"""Chain keys of a person-epoch (DESIGN 10.2): what was logged cannot be read back by who logged it.

A chain key ck_0 is random and sealed once: to the person-epoch's `evidence_pk`, whose private half IS keeps and
deletes on erasure, and the result to the auditor. Neither IS (it lacks the auditor's key) nor MS nor the auditor
alone opens it. Each event takes a payload key off the chain, which moves on and forgets:

    payload key  mk_i     = HKDF-Expand(ck_i, "evidence-key", 32)
    next         ck_{i+1} = HKDF-Expand(ck_i, "evidence-next", 32)

A payload key encrypts one payload with ChaCha20-Poly1305 under the zero nonce.
"""

import hashlib
import hmac
import os
from collections.abc import Callable
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from proxid.crypto.hpke import OpeningKey, SealingKey
from proxid.encoding import encode, label
from proxid.errors import PayloadUnreadableError, SealInvalidError

KEY_SIZE: Final = 32
TAG_SIZE: Final = 16
"""Bytes of a subject tag."""

_NONCE: Final = bytes(12)
_KEY: Final = label("evidence-key") + b"\x01"
_NEXT: Final = label("evidence-next") + b"\x01"
_INNER: Final = label("evidence-chain")
_OUTER: Final = label("evidence-chain-auditor")
_SUBJECT: Final = label("evidence-subject")
_OWNER: Final = label("evidence-owner")
_OWNER_SALT: Final = label("evidence-owner-salt")


def subject_tag(evidence_key: bytes) -> bytes:
    """The name of a person-epoch in headers: as random as its evidence key, the same in both logs; 16 bytes."""
    return hashlib.sha256(encode(_SUBJECT, evidence_key)).digest()[:TAG_SIZE]


def owner_salt(evidence_seed: bytes) -> bytes:
    """What hides the user in an owner commitment until IS discloses it in ERASED; 32 bytes."""
    return hmac.digest(evidence_seed, _OWNER_SALT, "sha256")


def owner_commitment(user_id: str, salt: bytes) -> bytes:
    """What LINKED's header holds, so that an ERASED cannot cover another user's leaves; 32 bytes."""
    return hashlib.sha256(encode(_OWNER, user_id, salt)).digest()


def _info(purpose: bytes, log: str, tag: bytes) -> bytes:
    return encode(purpose, log, tag)


class Chain:
    """The writing end of a chain: gives each payload its key once, in order, and forgets it.

    Args:
        log: origin of the log. evidence: public key of the person-epoch. auditor: the auditor's public key.
    """

    __slots__ = ("_key", "index", "seal", "tag")

    def __init__(
        self, log: str, evidence: SealingKey, auditor: SealingKey, random: Callable[[int], bytes] = os.urandom
    ) -> None:
        self.tag = subject_tag(evidence.data)
        self._key = random(KEY_SIZE)
        inner = evidence.seal(self._key, _info(_INNER, log, self.tag))
        self.seal = auditor.seal(inner, _info(_OUTER, log, self.tag))
        self.index = 0

    def encrypt(self, plaintext: bytes, context: bytes) -> tuple[int, bytes]:
        """(index, ciphertext) of one payload; the key it used is gone afterwards."""
        index, key = self.index, hmac.digest(self._key, _KEY, "sha256")
        self._key = hmac.digest(self._key, _NEXT, "sha256")
        self.index += 1
        return index, ChaCha20Poly1305(key).encrypt(_NONCE, plaintext, context)

    def __repr__(self) -> str:
        return f"Chain({self.tag.hex()[:8]}, {self.index})"


def is_sealed_to(auditor: OpeningKey, seal: bytes, log: str, tag: bytes) -> bool:
    """Whether a chain was sealed for this auditor, with or without the person's evidence key."""
    try:
        auditor.open(seal, _info(_OUTER, log, tag))
    except SealInvalidError:
        return False
    return True


def open_seal(seal: bytes, log: str, tag: bytes, evidence: OpeningKey, auditor: OpeningKey) -> bytes:
    """ck_0 of a chain, 32 bytes; needs IS's key and the auditor's; raises PayloadUnreadableError."""
    try:
        inner = auditor.open(seal, _info(_OUTER, log, tag))
        key = evidence.open(inner, _info(_INNER, log, tag))
    except SealInvalidError:
        raise PayloadUnreadableError("chain key does not open") from None
    if len(key) != KEY_SIZE:
        raise PayloadUnreadableError("chain key has the wrong size")
    return key


class ChainReader:
    """The reading end: opens payloads in rising order of their index.

    Args:
        key: ck_0.
    """

    __slots__ = ("_index", "_key")

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._index = 0

    def decrypt(self, index: int, ciphertext: bytes, context: bytes) -> bytes:
        """One payload; raises PayloadUnreadableError for a changed one, or for an index that was passed."""
        if index < self._index:
            raise PayloadUnreadableError("payload key was used before")
        while self._index < index:
            self._advance()
        key = hmac.digest(self._key, _KEY, "sha256")
        self._advance()
        try:
            return ChaCha20Poly1305(key).decrypt(_NONCE, ciphertext, context)
        except InvalidTag:
            raise PayloadUnreadableError("payload does not open under its key") from None

    def _advance(self) -> None:
        self._key = hmac.digest(self._key, _NEXT, "sha256")
        self._index += 1
