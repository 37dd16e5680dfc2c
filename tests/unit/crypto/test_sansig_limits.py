"""LIM: another user's PROX_ID, a malformed one, a foreign USER_ID; by an honest sanitizer and by one that signs it."""

import pytest

from proxid.crypto.sansig import (
    Direction,
    Limit,
    Message,
    Role,
    SignedMessage,
    judge,
    prox_id,
    sanitize,
    sign,
    verify,
    verify_prox_id,
    verify_public_limit,
)
from proxid.crypto.sansig.limits import PROX_ID_LENGTH
from proxid.errors import LimitError
from tests.support import scene

OWN = scene.PROX_ID
WRONG = {
    "another user's PROX_ID": prox_id(scene.MS, scene.EPOCH, scene.MALLORY.public),
    "own PROX_ID of another epoch": prox_id(scene.MS, scene.EPOCH + 1, scene.DEVICE.public),
    "own PROX_ID of another service": prox_id("ms2.example", scene.EPOCH, scene.DEVICE.public),
    "own USER_ID": scene.USER_ID,
    "foreign USER_ID": "bob@example.org",
    "upper case": OWN.upper(),
    "cut": OWN[:-1],
    "longer": OWN + "a",
    "newline": OWN + "\n",
    "NUL": OWN + "\0",
    "space before": " " + OWN,
    "without prefix": OWN[3:],
    "padding": OWN + "=",
    "empty": "",
    "full-width": OWN.replace("p", "\uff50", 1),
}


def _forced(block: bytes) -> SignedMessage:
    """A sanitizer that signs whatever it likes."""
    original = scene.request()
    message = original.message.with_user_block(block)
    return SignedMessage(
        message, original.fixed + scene.SCREENER.sign(message.full_input(Role.SANITIZER, original.fixed))
    )


def _sanitize(block: bytes, limit: object) -> SignedMessage:
    return sanitize(scene.request(), block, scene.SCREENER, scene.expectation(), limit)  # type: ignore[arg-type]


def test_the_right_one_passes() -> None:
    assert len(OWN) == PROX_ID_LENGTH == 35
    assert verify_prox_id(OWN.encode(), scene.MS, scene.EPOCH, scene.DEVICE.public) == OWN
    verify(_sanitize(OWN.encode(), scene.allow), scene.expectation(), Role.SANITIZER)


@pytest.mark.parametrize("name", WRONG)
def test_wrong_user_blocks(name: str) -> None:
    block = WRONG[name].encode()
    with pytest.raises(LimitError):
        verify_prox_id(block, scene.MS, scene.EPOCH, scene.DEVICE.public)
    # An honest sanitizer refuses, even if its own check allows everything.
    with pytest.raises(LimitError):
        _sanitize(block, scene.allow)
    # A lying one is seen by whoever verifies, and the Judge names it.
    with pytest.raises(LimitError):
        verify(_forced(block), scene.expectation(), Role.SANITIZER)
    assert judge(_forced(block)) is Role.SANITIZER


def test_every_changed_byte_of_the_prox_id_is_refused() -> None:
    for at in range(len(OWN)):
        for mask in (0x01, 0x20, 0x80):
            block = bytearray(OWN.encode())
            block[at] ^= mask
            with pytest.raises(LimitError):
                verify_public_limit(_forced(bytes(block)).message)


def _refuse(block: bytes) -> None:
    raise LimitError("not the linked user")


def test_the_callers_limit_decides_where_nobody_else_can() -> None:
    """Responses and records: the new block is the linked USER_ID, which only the caller knows."""
    header = scene.header(
        direction=Direction.RESPONSE, limit=Limit.LINKED_USER, signer=scene.SERVICE.public, blocks=len(scene.BLOCKS)
    )
    answer = sign(Message(header, (OWN.encode(), *scene.BLOCKS[1:])), scene.SERVICE)
    expected = scene.expectation(direction=Direction.RESPONSE, limit=Limit.LINKED_USER, signer=scene.SERVICE.public)
    for limit in (_refuse, lambda block: block == b"bob@example.org"):
        with pytest.raises(LimitError):
            sanitize(answer, scene.USER_ID.encode(), scene.SCREENER, expected, limit)
    named = sanitize(answer, scene.USER_ID.encode(), scene.SCREENER, expected, lambda block: True)
    verify(named, expected, Role.SANITIZER)
    assert named.message.user_block == scene.USER_ID.encode()


def test_prox_ids_of_one_key_are_unlinkable_by_form() -> None:
    """Another epoch, service or key gives another PROX_ID; all have the same 35 lower-case characters."""
    names = [
        prox_id(service, epoch, key.public)
        for service in (scene.MS, "ms2.example")
        for epoch in range(5)
        for key in (scene.DEVICE, scene.MALLORY)
    ]
    assert len(set(names)) == len(names)
    assert all(len(n) == PROX_ID_LENGTH and n.isascii() and n == n.lower() and n.startswith("px1") for n in names)
