"""Enrolment, links, credentials, epoch keys: what they are for, until when, and what may be a USER_ID."""

import math
import unicodedata
from dataclasses import replace

import pytest

from proxid.crypto.identity import Credential, Enrolment, EpochKey, Link
from proxid.crypto.user_id import MAX_USER_ID_SIZE, verify_user_id
from proxid.errors import CredentialError, EncodingError, SignatureInvalidError
from tests.support import scene

GOOD = [
    "a",
    "alice",
    "alice@example.org",
    "Zoë Müller",
    "山田太郎",
    "иван",
    "x" * MAX_USER_ID_SIZE,
    "px1",
    "px1-fan",
    "+49 30 1234",
]
BAD = {
    "empty": "",
    "too long": "x" * (MAX_USER_ID_SIZE + 1),
    "too long in bytes": "é" * (MAX_USER_ID_SIZE // 2 + 1),
    "newline": "alice\n",
    "NUL": "al\0ice",
    "escape": "\x1b[31malice",
    "delete": "alice\x7f",
    "right-to-left override": "alice\u202eecila",
    "zero width": "al\u200bice",
    "zero width joiner": "al\u200dice",
    "byte order mark": "\ufeffalice",
    "soft hyphen": "al\xadice",
    "variation selector": "al\ufe0fice",
    "Hangul filler": "al\u3164ice",
    "grapheme joiner": "al\u034fice",
    "line separator": "al\u2028ice",
    "no-break space": "al\xa0ice",
    "ideographic space": "al\u3000ice",
    "private use": "al\ue000ice",
    "unassigned": "al\u0378ice",
    "noncharacter": "al\ufffeice",
    "later than Unicode 3.2": "al\U0001f600ice",
    "space before": " alice",
    "space after": "alice ",
    "two spaces": "al  ice",
    "a PROX_ID": scene.PROX_ID,
    "a PROX_ID in capitals": scene.PROX_ID.upper(),
}


@pytest.mark.parametrize("user_id", GOOD)
def test_good_user_ids(user_id: str) -> None:
    Enrolment.issue(user_id, scene.USER.public, scene.NOW, scene.AUTHORITY).verify(scene.AUTHORITY.public)


@pytest.mark.parametrize("name", BAD)
def test_bad_user_ids_are_neither_issued_nor_accepted(name: str) -> None:
    user_id = BAD[name]
    with pytest.raises(CredentialError):
        verify_user_id(user_id)
    with pytest.raises(CredentialError):
        Enrolment.issue(user_id, scene.USER.public, scene.NOW, scene.AUTHORITY)
    with pytest.raises(CredentialError):
        Link.make(user_id, scene.USER, scene.DEVICE, scene.EPOCH, scene.MS, scene.SCREENER.public)
    # An authority that signs one all the same.
    unsigned = Enrolment(user_id, scene.USER.public, scene.NOW)
    with pytest.raises(CredentialError):
        replace(unsigned, signature=scene.AUTHORITY.sign(unsigned._body())).verify(scene.AUTHORITY.public)


@pytest.mark.parametrize("user_id", ["Zoe\u0308", "\u212bngstr\xf6m", "\ud800", "a\udfff"])
def test_user_ids_that_are_not_nfc_or_no_text(user_id: str) -> None:
    with pytest.raises(EncodingError):
        Enrolment.issue(user_id, scene.USER.public, scene.NOW, scene.AUTHORITY)


def test_user_ids_that_look_alike_are_different_users() -> None:
    """No folding: whoever registers users decides on look-alikes; signatures tell them apart."""
    latin, cyrillic = "alice", "аlice"
    assert unicodedata.normalize("NFKC", latin) != unicodedata.normalize("NFKC", cyrillic)
    signed = Enrolment.issue(latin, scene.USER.public, scene.NOW, scene.AUTHORITY)
    with pytest.raises(SignatureInvalidError):
        replace(signed, user_id=cyrillic).verify(scene.AUTHORITY.public)
    with pytest.raises(SignatureInvalidError):
        replace(signed, user_id="Alice").verify(scene.AUTHORITY.public)


def test_credential_is_for_one_service_one_epoch_and_ends() -> None:
    credential, key = scene.credential(), scene.SCREENER.public
    credential.verify(key, scene.MS, scene.EPOCH, credential.not_after)
    for service, epoch, now in (
        ("ms2.example", scene.EPOCH, scene.NOW),
        (scene.MS, scene.EPOCH + 1, scene.NOW),
        (scene.MS, scene.EPOCH, credential.not_after + 1),
        (scene.MS, scene.EPOCH, credential.not_after + 0.001),
        (scene.MS, scene.EPOCH, math.inf),
        (scene.MS, scene.EPOCH, math.nan),
    ):
        with pytest.raises(CredentialError):
            credential.verify(key, service, epoch, now)


@pytest.mark.parametrize(
    "change",
    [{"not_after": scene.NOW + 10**6}, {"seasoned": False}, {"evidence_key": b""}, {"epoch_key": scene.MALLORY.public}],
    ids=str,
)
def test_every_field_of_a_credential_is_signed(change: dict[str, object]) -> None:
    with pytest.raises(SignatureInvalidError):
        replace(scene.credential(), **change).verify(  # type: ignore[arg-type]
            scene.SCREENER.public, scene.MS, scene.EPOCH, scene.NOW
        )


def test_credential_and_link_agree_on_the_prox_id() -> None:
    assert scene.credential().prox_id == scene.link().prox_id == scene.PROX_ID


def test_epoch_key_is_for_one_service_and_one_epoch() -> None:
    key = scene.epoch_key()
    for service, epoch in (("ms2.example", scene.EPOCH), (scene.MS, scene.EPOCH - 1)):
        with pytest.raises(CredentialError):
            key.verify(scene.SERVICE.public, service, epoch)
    for change in ({"seal_key": bytes(1216)}, {"seed_commitment": bytes(32)}):
        with pytest.raises(SignatureInvalidError):
            replace(key, **change).verify(scene.SERVICE.public, scene.MS, scene.EPOCH)  # type: ignore[arg-type]
    with pytest.raises(SignatureInvalidError):
        key.verify(scene.SCREENER.public, scene.MS, scene.EPOCH)


@pytest.mark.parametrize(
    "document",
    [
        Enrolment("a", bytes(31), 0, bytes(64)),
        Enrolment("a", bytes(32), 0, bytes(63)),
        Enrolment("a", bytes(32), 0),
        Link("a", bytes(33), bytes(32), 0, "m", bytes(32), bytes(128)),
        Link("a", bytes(32), b"", 0, "m", bytes(32), bytes(128)),
        Link("a", bytes(32), bytes(32), 0, "m", bytes(31), bytes(128)),
        Link("a", bytes(32), bytes(32), 0, "m", bytes(32), bytes(64)),
        Credential(bytes(31), 0, "m", 0, True, b"", bytes(64)),
        Credential(bytes(32), 0, "m", 0, True, b"x", bytes(64)),
        Credential(bytes(32), 0, "m", 0, True, b"", bytes(65)),
        EpochKey("m", 0, bytes(32), bytes(32), bytes(32), bytes(64)),
        EpochKey("m", 0, bytes(1216), bytes(32), bytes(32)),
        EpochKey("m", 0, bytes(1216), bytes(32), bytes(31), bytes(64)),
    ],
    ids=lambda d: type(d).__name__,
)
def test_keys_and_signatures_of_the_wrong_size_do_not_decode(
    document: Enrolment | Link | Credential | EpochKey,
) -> None:
    with pytest.raises(EncodingError, match="size"):
        type(document).decode(document.encode())
