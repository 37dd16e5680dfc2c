"""Proof and Judge (Brzuska et al. 2009): who set the user block, provable to anybody (DESIGN 4.1).

In suite 1 the Judge needs no secret: whichever key verifies σ_L is accountable. A Proof is the original (m, σ):
with it anybody sees what the sanitizer changed.
"""

from dataclasses import dataclass

from proxid.crypto.sansig.message import Role, SignedMessage
from proxid.crypto.sansig.scheme import verify_fixed, verify_full, verify_signatures
from proxid.errors import ProofInvalidError, SignatureInvalidError


@dataclass(frozen=True, slots=True)
class Proof:
    """The original, as evidence of what a sanitised message was made from."""

    original: SignedMessage


def judge(signed: SignedMessage) -> Role:
    """Who is accountable for the user block.

    Raises:
        SignatureInvalidError, KeyInvalidError: neither party is: the message is nobody's.
    """
    verify_fixed(signed)
    try:
        verify_full(signed, Role.SIGNER)
    except SignatureInvalidError:
        verify_full(signed, Role.SANITIZER)
        return Role.SANITIZER
    return Role.SIGNER


def prove(original: SignedMessage, sanitized: SignedMessage) -> Proof:
    """Proof: that `sanitized` was made from `original`; raises ProofInvalidError if it was not."""
    proof = Proof(original)
    verify_proof(proof, sanitized)
    return proof


def verify_proof(proof: Proof, sanitized: SignedMessage) -> None:
    """Check a proof: both hold, in their roles, and nothing but the user block differs.

    Raises:
        ProofInvalidError: immutable parts differ. SignatureInvalidError, KeyInvalidError: a signature does not hold.
    """
    original = proof.original
    before, after = original.message, sanitized.message
    # The blocks are compared too: M_F leaves out whatever the header's own ADM names.
    if before.header != after.header or before.blocks[1:] != after.blocks[1:] or original.fixed != sanitized.fixed:
        raise ProofInvalidError("original and sanitised message differ outside the user block")
    verify_signatures(original, Role.SIGNER)
    if before.fixed_input != after.fixed_input:  # only where ADM leaves the user block to M_F
        verify_fixed(sanitized)
    verify_full(sanitized, Role.SANITIZER)
