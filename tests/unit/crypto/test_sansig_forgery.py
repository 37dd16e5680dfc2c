"""Forgery without keys: bytes flipped, cut, added; blocks swapped, added, dropped, their boundaries moved."""

from dataclasses import replace

import pytest

from proxid.crypto.sansig import Message, Role, SignedMessage, judge, sign, verify
from proxid.errors import KeyInvalidError, MessageInvalidError, ProxidError, SignatureInvalidError
from tests.support import mutation, scene

BOTH = [(scene.request(), Role.SIGNER), (scene.sanitized(), Role.SANITIZER)]
IDS = ["signed", "sanitized"]
Blocks = tuple[bytes, ...]


@pytest.mark.parametrize(("signed", "role"), BOTH, ids=IDS)
def test_untouched_verifies(signed: SignedMessage, role: Role) -> None:
    again = SignedMessage.decode(signed.encode())
    verify(again, scene.expectation(), role)
    assert judge(again) is role


@pytest.mark.parametrize(("signed", "role"), BOTH, ids=IDS)
def test_every_flipped_cut_or_added_byte_is_nobodys_message(signed: SignedMessage, role: Role) -> None:
    for changed in mutation.changes(signed.encode()):
        with pytest.raises(ProxidError):
            judge(SignedMessage.decode(changed))
        with pytest.raises(ProxidError):
            verify(SignedMessage.decode(changed), scene.expectation(), role)


@pytest.mark.parametrize(("signed", "role"), BOTH, ids=IDS)
def test_every_bit_of_the_signature_counts(signed: SignedMessage, role: Role) -> None:
    for changed in mutation.flips(signed.signature, tuple(1 << bit for bit in range(8))):
        with pytest.raises(SignatureInvalidError):
            verify(SignedMessage(signed.message, changed), scene.expectation(), role)


@pytest.mark.parametrize("size", [0, 64, 127, 129, 192, 256])
def test_signature_of_another_size(size: int) -> None:
    with pytest.raises(MessageInvalidError):
        SignedMessage(scene.request().message, (scene.request().signature * 2)[:size])


def _changes() -> dict[str, Blocks]:
    """Other blocks made of the same bytes (the user block of the original stands for any)."""
    b = scene.BLOCKS
    made: dict[str, Blocks] = {"all reversed": b[::-1], "split 1": (b[0], b[1][:9], b[1][9:], *b[2:])}
    for i in range(4):
        made[f"drop {i}"] = b[:i] + b[i + 1 :]
        made[f"double {i}"] = (*b[: i + 1], *b[i:])
        made[f"add empty at {i}"] = (*b[:i], b"", *b[i:])
        for j in range(i):
            made[f"swap {i} and {j}"] = (*b[:j], b[i], *b[j + 1 : i], b[j], *b[i + 1 :])
    for i in range(3):
        before, first, second, after = b[:i], b[i], b[i + 1], b[i + 2 :]
        made[f"boundary {i} earlier"] = (*before, first[:-1], first[-1:] + second, *after)
        made[f"boundary {i} later"] = (*before, first + second[:1], second[1:], *after)
        made[f"merge {i} and {i + 1}"] = (*before, first + second, *after)
    return made | {"add at the end": (*b, b"x"), "empty 1": (b[0], b"", *b[2:])}


CHANGES = _changes()


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize(("signed", "role"), BOTH, ids=IDS)
def test_blocks_swapped_added_dropped_shifted(name: str, signed: SignedMessage, role: Role) -> None:
    blocks = tuple(signed.message.user_block if block == scene.BLOCKS[0] else block for block in CHANGES[name])
    if len(blocks) != signed.header.blocks:
        with pytest.raises(MessageInvalidError):
            SignedMessage.from_parts(signed.header.encode(), list(blocks), signed.signature)
    # The same with n corrected, as a forger would.
    forged = Message(replace(signed.header, blocks=len(blocks)), blocks)
    with pytest.raises(SignatureInvalidError):
        judge(SignedMessage(forged, signed.signature))


def test_a_block_moved_out_of_the_immutable_part() -> None:
    """Claiming a larger ADM would let the body be replaced: ADM stands in the signed header."""
    for adm in ((0, 1), (0, 1, 2, 3), (), (1,)):
        header = replace(scene.request().header, admissible=adm)
        with pytest.raises(SignatureInvalidError):
            judge(SignedMessage(Message(header, scene.BLOCKS), scene.request().signature))


def test_immutable_blocks_cannot_be_signed_anew_by_the_sanitizer() -> None:
    original = scene.request()
    for at in (1, 2, 3):
        blocks = (scene.PROX_ID.encode(), *(b"other" if i == at else b for i, b in enumerate(scene.BLOCKS) if i))
        changed = Message(original.header, blocks)
        full = scene.SCREENER.sign(changed.full_input(Role.SANITIZER, original.fixed))
        with pytest.raises(SignatureInvalidError):
            judge(SignedMessage(changed, original.fixed + full))
        with pytest.raises(SignatureInvalidError):
            judge(scene.raw_sign(changed, scene.SCREENER, scene.SCREENER, Role.SANITIZER))


def test_sign_refuses_a_key_that_the_header_does_not_name() -> None:
    with pytest.raises(KeyInvalidError):
        sign(scene.request().message, scene.MALLORY)
    with pytest.raises(KeyInvalidError):
        sign(scene.request().message, scene.SCREENER)


def test_one_key_cannot_be_signer_and_sanitizer() -> None:
    message = Message(scene.header(sanitizer=scene.DEVICE.public), scene.BLOCKS)
    with pytest.raises(KeyInvalidError, match="different keys"):
        sign(message, scene.DEVICE)
    for role in Role:
        with pytest.raises(KeyInvalidError, match="different keys"):
            judge(scene.raw_sign(message, scene.DEVICE, scene.DEVICE, role))
