"""Mix-and-match of σ_F and σ_L, SIG passed as SAN and back, and what Proof and Judge say."""

from dataclasses import replace
from itertools import product

import pytest

from proxid.crypto.sansig import Message, Role, SignedMessage, judge, prove, sanitize, sign, verify, verify_proof
from proxid.crypto.sansig.judge import Proof
from proxid.crypto.sansig.scheme import resign
from proxid.errors import KeyInvalidError, MessageInvalidError, ProofInvalidError, SignatureInvalidError
from tests.support import edwards, scene

ORIGINAL, SANITIZED = scene.request(), scene.sanitized()
LATER = scene.request(nonce=bytes(16))
LATER_SANITIZED = scene.sanitized(LATER)
SAME_FIX = scene.request(b"bob@example.org", *scene.BLOCKS[1:])


def test_no_mix_of_signatures_and_messages_holds() -> None:
    """Every σ_F with every σ_L on every message: only the five that were made hold."""
    made = [ORIGINAL, SANITIZED, LATER, LATER_SANITIZED, SAME_FIX]
    real = {(m.message, m.signature) for m in made}
    held = 0
    for carrier, first, second in product(made, repeat=3):
        mixed = SignedMessage(carrier.message, first.fixed + second.full)
        if (mixed.message, mixed.signature) in real:
            judge(mixed)
            held += 1
            continue
        with pytest.raises(SignatureInvalidError):
            judge(mixed)
    # ORIGINAL, SANITIZED and SAME_FIX have one σ_F: three ways to write each of the three, two each of the others.
    assert held == 3 * 3 + 2 * 2


def test_halves_swapped_or_doubled() -> None:
    for signed in (ORIGINAL, SANITIZED):
        for signature in (signed.full + signed.fixed, signed.fixed * 2, signed.full * 2):
            with pytest.raises(SignatureInvalidError):
                judge(SignedMessage(signed.message, signature))


def test_sig_is_not_san_nor_san_sig() -> None:
    expected = scene.expectation()
    with pytest.raises(SignatureInvalidError):
        verify(ORIGINAL, expected, Role.SANITIZER)
    with pytest.raises(SignatureInvalidError):
        verify(SANITIZED, expected, Role.SIGNER)
    assert judge(ORIGINAL) is Role.SIGNER
    assert judge(SANITIZED) is Role.SANITIZER


def test_each_role_binds_its_own_key() -> None:
    """σ_L of a role holds only if the key of that role made it over that role."""
    message = ORIGINAL.message.with_user_block(scene.PROX_ID.encode())
    fixed = scene.DEVICE.sign(message.fixed_input)
    for key, written in product((scene.DEVICE, scene.SCREENER, scene.MALLORY), Role):
        signed = SignedMessage(message, fixed + key.sign(message.full_input(written, fixed)))
        for claimed, owner in ((Role.SIGNER, scene.DEVICE), (Role.SANITIZER, scene.SCREENER)):
            if (key, written) == (owner, claimed):
                verify(signed, scene.expectation(), claimed)
                continue
            with pytest.raises(SignatureInvalidError):
                verify(signed, scene.expectation(), claimed)


def test_sanitizer_cannot_sanitise_what_it_sanitised() -> None:
    with pytest.raises(SignatureInvalidError):
        sanitize(SANITIZED, scene.PROX_ID.encode(), scene.SCREENER, scene.expectation(), scene.allow)


def test_only_the_named_sanitizer_sanitises() -> None:
    for key in (scene.MALLORY, scene.DEVICE):
        with pytest.raises(KeyInvalidError):
            sanitize(ORIGINAL, scene.PROX_ID.encode(), key, scene.expectation(), scene.allow)


def test_the_user_block_is_replaced_only_where_adm_holds_it() -> None:
    """M_F covers m_0 when ADM does not: a cached M_F must not outlive the change."""
    for adm in ((), (1,), (1, 2)):
        signed = sign(Message(scene.header(admissible=adm), scene.BLOCKS), scene.DEVICE)
        assert judge(signed) is Role.SIGNER
        with pytest.raises(MessageInvalidError):
            resign(signed, scene.PROX_ID.encode(), scene.SCREENER, scene.allow)


def test_proof_shows_what_was_changed() -> None:
    proof = prove(ORIGINAL, SANITIZED)
    assert proof.original == ORIGINAL
    verify_proof(proof, SANITIZED)


@pytest.mark.parametrize(
    ("original", "sanitized"),
    [
        (LATER, SANITIZED),
        (ORIGINAL, LATER_SANITIZED),
        (SANITIZED, SANITIZED),
        (ORIGINAL, ORIGINAL),
        (SANITIZED, ORIGINAL),
    ],
    ids=["other original", "other sanitised", "sanitised as original", "original as sanitised", "swapped"],
)
def test_proof_of_something_else(original: SignedMessage, sanitized: SignedMessage) -> None:
    with pytest.raises((ProofInvalidError, SignatureInvalidError)):
        verify_proof(Proof(original), sanitized)
    with pytest.raises((ProofInvalidError, SignatureInvalidError)):
        prove(original, sanitized)


def test_proof_with_another_fixed_signature_of_the_same_signer() -> None:
    """The signer can sign one M_F in many ways: only the σ_F that the sanitizer kept shows what it was given."""
    device, message = scene.DEVICE, ORIGINAL.message
    fixed = edwards.sign_with_nonce(device.seed, device.public, message.fixed_input, 4711)
    again = SignedMessage(message, fixed + device.sign(message.full_input(Role.SIGNER, fixed)))
    assert judge(again) is Role.SIGNER
    with pytest.raises(ProofInvalidError):
        prove(again, SANITIZED)


def test_proof_compares_every_other_block_even_if_adm_names_more() -> None:
    """A signer who names the body admissible lets a sanitizer replace it: Proof still calls that no user block."""
    wide = sign(Message(scene.header(admissible=(0, 1)), scene.BLOCKS), scene.DEVICE)
    changed = Message(wide.header, (scene.PROX_ID.encode(), b"another body", *scene.BLOCKS[2:]))
    full = scene.SCREENER.sign(changed.full_input(Role.SANITIZER, wide.fixed))
    replaced = SignedMessage(changed, wide.fixed + full)
    assert judge(replaced) is Role.SANITIZER
    with pytest.raises(ProofInvalidError):
        prove(wide, replaced)


def test_one_fix_signed_twice_has_one_sanitised_form() -> None:
    """The price of unlinkability: a signer who signs one FIX with two user blocks can show either as the original."""
    prove(SAME_FIX, SANITIZED)
    prove(ORIGINAL, SANITIZED)
    assert scene.sanitized(SAME_FIX).encode() == SANITIZED.encode()


def test_session_id_is_one_for_all_and_another_for_another_message() -> None:
    assert ORIGINAL.session_id == SANITIZED.session_id
    assert len({m.session_id for m in (ORIGINAL, LATER)}) == 2
    assert SignedMessage.decode(SANITIZED.encode()).session_id == ORIGINAL.session_id
    changed = SignedMessage(ORIGINAL.message, scene.MALLORY.sign(b"") + ORIGINAL.full)
    assert changed.session_id != ORIGINAL.session_id


def test_header_replaced_after_signing() -> None:
    for change in ({"nonce": bytes(16)}, {"time_ms": scene.NOW * 1000 + 1}):
        moved = Message(replace(ORIGINAL.header, **change), scene.BLOCKS)
        with pytest.raises(SignatureInvalidError):
            judge(SignedMessage(moved, ORIGINAL.signature))
