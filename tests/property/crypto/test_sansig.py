"""Signing, sanitizing and proof correctness, and accountability, for any message (Brzuska et al. 2009; DESIGN 4.1)."""

from hypothesis import given, settings
from hypothesis import strategies as st

from proxid.crypto.sansig import (
    Direction,
    Expectation,
    Header,
    Limit,
    Message,
    Role,
    SignedMessage,
    judge,
    prove,
    sanitize,
    sign,
    verify,
    verify_proof,
)
from proxid.errors import LimitError, ProxidError
from tests.support import scene

BLOCKS = st.lists(st.binary(max_size=60), min_size=1, max_size=16).map(tuple)
OTHER_DIRECTIONS = st.sampled_from([(d, li) for d in Direction for li in (Limit.LINKED_USER, Limit.LINKED_ALIAS)])


def _message(direction: Direction, limit: Limit, blocks: tuple[bytes, ...], nonce: bytes) -> Message:
    header = Header(
        direction, scene.MS, scene.EPOCH, scene.DEVICE.public, scene.SCREENER.public, nonce, 1, len(blocks), limit
    )
    return Message(header, blocks)


def _known(message: Message) -> Expectation:
    header = message.header
    return scene.expectation(direction=header.direction, limit=header.limit, blocks=header.blocks)


@settings(max_examples=100)
@given(OTHER_DIRECTIONS, BLOCKS, st.binary(min_size=16, max_size=16), st.binary(max_size=60))
def test_correctness(kind: tuple[Direction, Limit], blocks: tuple[bytes, ...], nonce: bytes, block: bytes) -> None:
    message = _message(*kind, blocks, nonce)
    known = _known(message)
    signed = SignedMessage.decode(sign(message, scene.DEVICE).encode())
    verify(signed, known, Role.SIGNER)
    assert judge(signed) is Role.SIGNER
    sanitized = SignedMessage.decode(sanitize(signed, block, scene.SCREENER, known, scene.allow).encode())
    verify(sanitized, known, Role.SANITIZER)
    assert judge(sanitized) is Role.SANITIZER
    assert sanitized.message.blocks == (block, *blocks[1:])
    assert sanitized.session_id == signed.session_id
    verify_proof(prove(signed, sanitized), sanitized)


@settings(max_examples=100)
@given(OTHER_DIRECTIONS, BLOCKS, BLOCKS, st.binary(min_size=16, max_size=16))
def test_immutability(
    kind: tuple[Direction, Limit], blocks: tuple[bytes, ...], other: tuple[bytes, ...], nonce: bytes
) -> None:
    """The sanitizer's key and any other blocks: what differs outside the user block is nobody's message."""
    original = sign(_message(*kind, blocks, nonce), scene.DEVICE)
    changed = _message(*kind, other, nonce)
    full = scene.SCREENER.sign(changed.full_input(Role.SANITIZER, original.fixed))
    forged = SignedMessage(changed, original.fixed + full)
    try:
        assert judge(forged) is Role.SANITIZER
    except ProxidError:
        assert other[1:] != blocks[1:]
    else:
        assert other[1:] == blocks[1:]


@settings(max_examples=60)
@given(BLOCKS, st.binary(max_size=40) | st.just(scene.PROX_ID.encode()))
def test_the_public_limit_allows_one_block(blocks: tuple[bytes, ...], block: bytes) -> None:
    message = _message(Direction.REQUEST, Limit.PROX_ID, blocks, bytes(16))
    try:
        sanitize(sign(message, scene.DEVICE), block, scene.SCREENER, _known(message), scene.allow)
    except LimitError:
        assert block != scene.PROX_ID.encode()
    else:
        assert block == scene.PROX_ID.encode()
