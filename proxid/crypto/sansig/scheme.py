"""Suite 1: two signatures, public accountability (DESIGN 4.1).

    Sign      σ_F = Sign(sk_sig, M_F)        σ_L = Sign(sk_sig, M_L with ρ=SIG)
    Sanitize  verify, check LIM, keep σ_F    σ_L = Sign(sk_san, M_L with ρ=SAN)
    Verify    σ_F under pk_sig, and σ_L under the key of ρ

It gives immutability, privacy, unlinkability and strong accountability for signer and sanitizer, and gives up
transparency on purpose: everybody sees whether the sanitizer set the user block.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass

from proxid.crypto import ed25519
from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.sansig.limits import Limit
from proxid.crypto.sansig.message import (
    ADMISSIBLE,
    SUITE_TWO_SIGNATURES,
    VERSION,
    Direction,
    Message,
    Role,
    SignedMessage,
)
from proxid.errors import HeaderMismatchError, KeyInvalidError, SignatureInvalidError

LimitCheck = Callable[[bytes], object]
"""Raises LimitError unless the new user block is allowed."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """What the verifier knows beforehand of a message: never taken from the message itself (DESIGN 5.0)."""

    direction: Direction
    service: str
    epoch: int
    signer: bytes
    sanitizer: bytes
    blocks: int
    limit: Limit
    admissible: tuple[int, ...] = ADMISSIBLE
    version: int = VERSION
    suite: int = SUITE_TWO_SIGNATURES

    def verify_header(self, message: Message) -> None:
        """Compare every field but nonce and time; raises HeaderMismatchError naming the field."""
        header = message.header
        for field in self.__slots__:
            if getattr(header, field) != getattr(self, field):
                raise HeaderMismatchError(f"header field {field} is not the one expected")


def keygen(random: Callable[[int], bytes] = os.urandom) -> SigningKey:
    """KGen, the same for signer and sanitizer."""
    return SigningKey.generate(random)


def sign(message: Message, key: SigningKey) -> SignedMessage:
    """Sign: both signatures by the signer.

    Raises:
        KeyInvalidError: the key is not the header's signer, or signer and sanitizer are one key.
        EncodingError: the header is malformed.
    """
    header = message.header
    header.verify_shape()
    if key.public != header.signer:
        raise KeyInvalidError("signing key is not the signer that the header names")
    if header.signer == header.sanitizer:
        raise KeyInvalidError("signer and sanitizer must have different keys")
    fixed = key.sign(message.fixed_input)
    return SignedMessage(message, fixed + key.sign(message.full_input(Role.SIGNER, fixed)))


def sanitize(
    signed: SignedMessage, user_block: bytes, key: SigningKey, expected: Expectation, limit: LimitCheck
) -> SignedMessage:
    """Sanitize: verify the signer's message, put another user block, sign as the sanitizer.

    Args:
        user_block: the new m_0. expected: what the message must be. limit: LIM's check of the new block.

    Raises:
        KeyInvalidError: the key is not the sanitizer that the message names. LimitError: LIM forbids the block.
        HeaderMismatchError, SignatureInvalidError: the message is not the signer's.
    """
    verify(signed, expected, Role.SIGNER)
    return resign(signed, user_block, key, limit)


def resign(signed: SignedMessage, user_block: bytes, key: SigningKey, limit: LimitCheck) -> SignedMessage:
    """The last step of Sanitize, for a message that the caller has just verified as the signer's."""
    if key.public != signed.header.sanitizer:
        raise KeyInvalidError("signing key is not the sanitizer that the header names")
    limit(user_block)
    changed = signed.message.with_user_block(user_block)
    full = key.sign(changed.full_input(Role.SANITIZER, signed.fixed))
    return SignedMessage(changed, signed.fixed + full)


def verify(signed: SignedMessage, expected: Expectation, role: Role) -> None:
    """Verify both signatures, σ_L as made by `role`.

    Raises:
        HeaderMismatchError: the header differs from what is expected.
        KeyInvalidError, SignatureInvalidError: a key or a signature does not hold.
    """
    expected.verify_header(signed.message)
    verify_signatures(signed, role)


def verify_signatures(signed: SignedMessage, role: Role) -> None:
    """Verify σ_F and σ_L alone: for an auditor that has compared the header by other means."""
    header = signed.header
    if header.signer == header.sanitizer:
        raise KeyInvalidError("signer and sanitizer must have different keys")
    ed25519.verify_key(header.sanitizer)
    ed25519.verify(header.signer, signed.message.fixed_input, signed.fixed)
    key = header.signer if role is Role.SIGNER else header.sanitizer
    try:
        ed25519.verify(key, signed.message.full_input(role, signed.fixed), signed.full)
    except SignatureInvalidError:
        raise SignatureInvalidError(f"the user block is not signed as {role.value}") from None
