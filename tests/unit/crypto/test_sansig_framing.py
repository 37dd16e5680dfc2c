"""Framing: the sanitizer blames a user for what the user did not do; the signer blames the sanitizer."""

from dataclasses import replace

import pytest

from proxid.crypto import ed25519
from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.identity import Enrolment, Link
from proxid.crypto.sansig import Message, Role, SignedMessage, judge, sign, verify
from proxid.encoding import encode, label
from proxid.errors import CredentialError, HeaderMismatchError, KeyInvalidError, ProxidError, SignatureInvalidError
from tests.support import edwards, scene

IS, EA = scene.SCREENER, scene.AUTHORITY
OWN = scene.key("a key that the screener made")


def _link_by(user_signer: SigningKey, pop_signer: SigningKey, **changes: object) -> Link:
    """A link whose two signatures were made by keys of the forger's choice."""
    unsigned = replace(scene.link(), **changes)  # type: ignore[arg-type]
    body = unsigned._body()
    signature = user_signer.sign(body) + pop_signer.sign(encode(label("pop"), body))
    return replace(unsigned, signature=signature)


# --- the sanitizer frames the signer ---


def test_screener_cannot_link_an_own_key_to_a_user() -> None:
    for user_signer in (IS, OWN, scene.MALLORY):
        forged = _link_by(user_signer, OWN, epoch_key=OWN.public)
        with pytest.raises(SignatureInvalidError):
            forged.verify(scene.enrolment())


def test_screener_cannot_put_its_key_into_the_users_link() -> None:
    old = scene.link()
    with pytest.raises(SignatureInvalidError):
        replace(old, epoch_key=OWN.public).verify(scene.enrolment())
    # With a correct proof of possession of its key, the user's half still names the other key.
    own_pop = _link_by(IS, OWN, epoch_key=OWN.public).signature[64:]
    with pytest.raises(SignatureInvalidError):
        replace(old, epoch_key=OWN.public, signature=old.signature[:64] + own_pop).verify(scene.enrolment())


@pytest.mark.parametrize(
    "change", [{"epoch": scene.EPOCH + 1}, {"service": "ms2.example"}, {"screener": scene.key("is2").public}], ids=str
)
def test_a_link_serves_one_epoch_one_ms_one_is(change: dict[str, object]) -> None:
    with pytest.raises(SignatureInvalidError):
        replace(scene.link(), **change).verify(scene.enrolment())  # type: ignore[arg-type]
    where = {"service": scene.MS, "epoch": scene.EPOCH, "screener": IS.public} | change
    with pytest.raises(CredentialError):
        scene.link().verify_for(scene.enrolment(), **where)  # type: ignore[arg-type]
    scene.link().verify_for(scene.enrolment(), scene.MS, scene.EPOCH, IS.public)


def test_screener_cannot_use_its_own_key_as_the_users_epoch_key() -> None:
    forged = _link_by(scene.USER, IS, epoch_key=IS.public)
    with pytest.raises(CredentialError):
        forged.verify(scene.enrolment())


def test_screener_cannot_invent_a_user() -> None:
    for forger in (IS, OWN):
        invented = Enrolment.issue("nobody@example.org", OWN.public, scene.NOW, forger)
        with pytest.raises(SignatureInvalidError):
            invented.verify(EA.public)


def test_screener_cannot_give_a_user_another_key_or_an_older_account() -> None:
    real = scene.enrolment()
    for change in ({"user_key": OWN.public}, {"since": 0}, {"user_id": "bob@example.org"}):
        with pytest.raises(SignatureInvalidError):
            replace(real, **change).verify(EA.public)


def test_screener_cannot_say_the_device_set_the_user_block() -> None:
    """Whatever IS signs, the Judge never answers SIG for it."""
    original = scene.request()
    for key in (IS, OWN):
        for role in Role:
            message = original.message.with_user_block(scene.PROX_ID.encode())
            forged = SignedMessage(message, original.fixed + key.sign(message.full_input(role, original.fixed)))
            try:
                assert judge(forged) is Role.SANITIZER
            except SignatureInvalidError:
                continue


def test_screener_cannot_change_what_was_asked() -> None:
    original = scene.request()
    changed = Message(original.header, (scene.USER_ID.encode(), b"another body", *scene.BLOCKS[2:]))
    for fixed in (IS, OWN):
        for full in (IS, OWN):
            for role in Role:
                with pytest.raises(SignatureInvalidError):
                    judge(scene.raw_sign(changed, fixed, full, role))


# --- the signer frames the sanitizer ---


def test_signer_cannot_make_a_sanitised_message() -> None:
    """An own SAN: the signer's, or any other key's, signature in the sanitizer's role."""
    message = scene.request().message.with_user_block(b"bob@example.org")
    for key in (scene.DEVICE, scene.USER, scene.MALLORY):
        with pytest.raises(SignatureInvalidError):
            verify(scene.raw_sign(message, scene.DEVICE, key, Role.SANITIZER), scene.expectation(), Role.SANITIZER)


def test_signer_cannot_name_a_sanitizer_of_its_own() -> None:
    """The pair is flawless by itself; the verifier expects IS's key."""
    puppet = scene.key("puppet")
    message = Message(scene.header(sanitizer=puppet.public), (b"bob@example.org", *scene.BLOCKS[1:]))
    signed = scene.raw_sign(message, scene.DEVICE, puppet, Role.SANITIZER)
    assert judge(signed) is Role.SANITIZER
    with pytest.raises(HeaderMismatchError, match="sanitizer"):
        verify(signed, scene.expectation(), Role.SANITIZER)


def test_grafted_fixed_part() -> None:
    """IS's σ_L on a request of its own making: σ_L binds M_F and σ_F, so it serves no other immutable part."""
    sanitized = scene.sanitized()
    for body in (b"another body", b""):
        other = scene.request(scene.PROX_ID.encode(), body, *scene.BLOCKS[2:])
        for signature in (other.fixed + sanitized.full, sanitized.fixed + sanitized.full):
            with pytest.raises(SignatureInvalidError):
                judge(SignedMessage(other.message, signature))
    # The same immutable part under another nonce is another message too.
    later = scene.request(nonce=bytes(16))
    with pytest.raises(SignatureInvalidError):
        judge(SignedMessage(later.message.with_user_block(scene.PROX_ID.encode()), later.fixed + sanitized.full))


def test_another_fixed_signature_over_the_same_immutable_part() -> None:
    """A signer can sign one M_F in many ways (another nonce r); IS's σ_L serves for the σ_F that it saw alone."""
    sanitized = scene.sanitized()
    device = scene.DEVICE
    other = edwards.sign_with_nonce(device.seed, device.public, sanitized.message.fixed_input, 4711)
    ed25519.verify(device.public, sanitized.message.fixed_input, other)
    with pytest.raises(SignatureInvalidError):
        judge(SignedMessage(sanitized.message, other + sanitized.full))


def test_user_block_of_a_sanitised_message_replaced() -> None:
    sanitized = scene.sanitized()
    for block in (b"", b"bob@example.org", scene.PROX_ID.upper().encode()):
        with pytest.raises(SignatureInvalidError):
            judge(SignedMessage(sanitized.message.with_user_block(block), sanitized.signature))


def test_no_proof_of_possession() -> None:
    """Mallory, enrolled, claims Alice's epoch key, to be blamed for nothing and paid for everything."""
    enrolment = Enrolment.issue("mallory@example.org", scene.MALLORY.public, scene.NOW, EA)
    names = {"user_id": "mallory@example.org", "user_key": scene.MALLORY.public}
    for pop_signer in (scene.MALLORY, scene.USER, IS):
        with pytest.raises(SignatureInvalidError):
            _link_by(scene.MALLORY, pop_signer, **names).verify(enrolment)
    # Alice's own proof is about Alice's link.
    stolen = _link_by(scene.MALLORY, scene.MALLORY, **names)
    stolen = replace(stolen, signature=stolen.signature[:64] + scene.link().signature[64:])
    with pytest.raises(SignatureInvalidError):
        stolen.verify(enrolment)
    for signature in (b"", stolen.signature[:64], stolen.signature + bytes(64)):
        with pytest.raises(CredentialError):
            replace(stolen, signature=signature).verify(enrolment)
    with pytest.raises(SignatureInvalidError):
        replace(stolen, signature=stolen.signature[64:] + stolen.signature[:64]).verify(enrolment)


def test_one_epoch_key_for_two_users_is_one_prox_id() -> None:
    """Two users who share sk_e can both prove possession; what gives them away is that the PROX_ID is one.

    Refusing the second registration is the gateway's rule (DESIGN 4.3); it needs nothing but this equality.
    """
    bob = scene.key("bob")
    first = scene.link()
    second = Link.make("bob@example.org", bob, scene.DEVICE, scene.EPOCH, scene.MS, IS.public)
    second.verify(Enrolment.issue("bob@example.org", bob.public, scene.NOW, EA))
    assert first.prox_id == second.prox_id == scene.PROX_ID
    assert first.epoch_key == second.epoch_key


def test_epoch_key_is_neither_the_users_nor_the_screeners_key() -> None:
    with pytest.raises(CredentialError):
        Link.make(scene.USER_ID, scene.USER, scene.USER, scene.EPOCH, scene.MS, IS.public).verify(scene.enrolment())
    with pytest.raises(CredentialError):
        link = Link.make(scene.USER_ID, scene.USER, scene.DEVICE, scene.EPOCH, scene.MS, scene.DEVICE.public)
        link.verify(scene.enrolment())


def test_a_link_of_somebody_else() -> None:
    for enrolment in (
        Enrolment.issue("bob@example.org", scene.USER.public, scene.NOW, EA),
        Enrolment.issue(scene.USER_ID, scene.MALLORY.public, scene.NOW, EA),
    ):
        with pytest.raises(CredentialError):
            scene.link().verify(enrolment)


def test_signing_under_a_key_that_is_no_key() -> None:
    message = Message(scene.header(sanitizer=bytes(32)), scene.BLOCKS)
    with pytest.raises(KeyInvalidError):
        judge(sign(message, scene.DEVICE))


def test_credential_is_the_screeners_alone() -> None:
    for forger in (scene.DEVICE, scene.USER, scene.SERVICE, OWN):
        forged = scene.credential().issue(forger)
        with pytest.raises(SignatureInvalidError):
            forged.verify(IS.public, scene.MS, scene.EPOCH, scene.NOW)
    with pytest.raises(ProxidError):
        replace(scene.credential(), seasoned=False).verify(IS.public, scene.MS, scene.EPOCH, scene.NOW)
