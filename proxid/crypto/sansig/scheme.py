"""Suite 1: two signatures, public accountability (DESIGN 4.1).

    Sign      σ_F = Sign(sk_sig, M_F)        σ_L = Sign(sk_sig, M_L with ρ=SIG)
    Sanitize  verify, check LIM, keep σ_F    σ_L = Sign(sk_san, M_L with ρ=SAN)
    Verify    σ_F under pk_sig, and σ_L under the key of ρ

It gives immutability, privacy, unlinkability and strong accountability for signer and sanitizer, and gives up
transparency on purpose: everybody sees whether the sanitizer set the user block.
"""

import operator
import os
from collections.abc import Callable
from dataclasses import dataclass, fields

from proxid.crypto import ed25519
from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.sansig.limits import Limit, verify_prox_id
from proxid.crypto.sansig.message import (
    ADMISSIBLE,
    SUITE_TWO_SIGNATURES,
    VERSION,
    Direction,
    Header,
    Message,
    Role,
    SignedMessage,
)
from proxid.errors import HeaderMismatchError, KeyInvalidError, LimitError, SignatureInvalidError

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
        if _COMPARED(header) == _COMPARED(self):
            return
        for field in fields(self):
            if getattr(header, field.name) != getattr(self, field.name):
                raise HeaderMismatchError(f"header field {field.name} is not the one expected")


_COMPARED = operator.attrgetter(*(f.name for f in fields(Expectation)))


def keygen(random: Callable[[int], bytes] = os.urandom) -> SigningKey:
    """KGen, the same for signer and sanitizer."""
    return SigningKey.generate(random)


def sign(message: Message, key: SigningKey) -> SignedMessage:
    """Sign: both signatures by the signer.

    Raises:
        KeyInvalidError: the key is not the header's signer, or signer and sanitizer are one key.
        HeaderMismatchError: the header is of another version or suite.
    """
    header = message.header
    if key.public != header.signer:
        raise KeyInvalidError("signing key is not the signer that the header names")
    _verify_suite(header)
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
    # A check that answers instead of raising must not pass for consent.
    if limit(user_block) is False:
        raise LimitError("LIM forbids the user block")
    changed = signed.message.with_user_block(user_block)
    verify_public_limit(changed)
    full = key.sign(changed.full_input(Role.SANITIZER, signed.fixed))
    return SignedMessage(changed, signed.fixed + full)


def verify(signed: SignedMessage, expected: Expectation, role: Role) -> None:
    """Verify both signatures, σ_L as made by `role`, and the limit where anybody can recompute it.

    Raises:
        HeaderMismatchError: the header differs from what is expected.
        KeyInvalidError, SignatureInvalidError: a key or a signature does not hold.
        LimitError: the sanitizer put something else than the PROX_ID of the signing key.
    """
    expected.verify_header(signed.message)
    verify_signatures(signed, role)
    if role is Role.SANITIZER:
        verify_public_limit(signed.message)


def verify_public_limit(message: Message) -> None:
    """LIM of a sanitised message, as far as its header decides it; raises LimitError."""
    header = message.header
    if header.limit is Limit.PROX_ID:
        verify_prox_id(message.user_block, header.service, header.epoch, header.signer)


def verify_signatures(signed: SignedMessage, role: Role) -> None:
    """Verify σ_F and σ_L alone: for an auditor that has compared the header by other means.

    Raises:
        HeaderMismatchError: another version or suite. KeyInvalidError, SignatureInvalidError: nobody's message.
    """
    verify_fixed(signed)
    verify_full(signed, role)


def _verify_suite(header: Header) -> None:
    if (header.version, header.suite) != (VERSION, SUITE_TWO_SIGNATURES):
        raise HeaderMismatchError("header is of another version or suite")
    if header.signer == header.sanitizer:
        raise KeyInvalidError("signer and sanitizer must have different keys")


def verify_fixed(signed: SignedMessage) -> None:
    """Verify σ_F, and that header and keys are such that σ_L means something."""
    header = signed.header
    _verify_suite(header)
    ed25519.verify_key(header.sanitizer)
    ed25519.verify(header.signer, signed.message.fixed_input, signed.fixed)


def verify_full(signed: SignedMessage, role: Role) -> None:
    """Verify σ_L in a role, after σ_F."""
    header = signed.header
    key = header.signer if role is Role.SIGNER else header.sanitizer
    try:
        ed25519.verify(key, signed.message.full_input(role, signed.fixed), signed.full)
    except SignatureInvalidError:
        raise SignatureInvalidError(f"the user block is not signed as {role.value}") from None
