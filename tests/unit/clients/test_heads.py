"""What a device or party holds of the gateway's log: a head that does not extend the newest one is refused."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxid.clients.auditing.heads import SeenHeads
from proxid.crypto.ed25519 import SigningKey
from proxid.errors import (
    EncodingError,
    HistoryForkedError,
    InputError,
    NoteInvalidError,
    ResponseMismatchError,
    SignatureInvalidError,
    UpstreamError,
)
from proxid.evidence.checkpoint import Checkpoint, origin
from proxid.evidence.events import EventType
from proxid.evidence.merkle import consistency_proof, leaf_hash, root_of
from proxid.evidence.note import Verifier
from proxid.evidence.promise import Promise

KEY, OTHER, SERVICE = (SigningKey(bytes(31) + bytes([n])) for n in (2, 3, 4))
LOG = origin("main-service", "gateway")
LEAVES = [leaf_hash(bytes([n])) for n in range(9)]


def head(size: int, leaves: list[bytes] = LEAVES, key: SigningKey = KEY, log: str = LOG) -> bytes:
    return Checkpoint(log, size, root_of(leaves[:size])).sign(key).encode()


async def prove(old: int, size: int, generation: int, other: bool) -> list[bytes]:
    def node(level: int, at: int) -> bytes:
        return root_of(LEAVES[at << level : (at + 1) << level])

    return consistency_proof(node, old, size)


def heads(folder: Path, asks: Any = prove) -> SeenHeads:
    return SeenHeads(folder, "main-service", (KEY.public, SERVICE.public), asks)


def kept(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in (folder / "heads").glob("*.head")]


async def test_the_newest_head_is_kept_whatever_order_they_come_in(tmp_path: Path) -> None:
    for size in (3, 7, 5, 7, 9, 1):
        await heads(tmp_path).take(head(size))
    assert kept(tmp_path) == [head(9)]
    await heads(tmp_path).take(head(2, log=f"{LOG}/2"))
    assert len(kept(tmp_path)) == 2, "a successor has one of its own"


@pytest.mark.parametrize("size", [3, 5, 8])
async def test_a_head_of_another_history_is_refused_and_not_kept(tmp_path: Path, size: int) -> None:
    await heads(tmp_path).take(head(5))
    with pytest.raises(HistoryForkedError):
        await heads(tmp_path).take(head(size, [leaf_hash(b"other"), *LEAVES[1:]]))
    assert kept(tmp_path) == [head(5)]


async def test_what_cannot_be_compared_now_is_compared_later(tmp_path: Path) -> None:
    async def away(*_: int) -> list[bytes]:
        raise UpstreamError("away")

    await heads(tmp_path, away).take(head(5))
    await heads(tmp_path, away).take(head(8))
    assert kept(tmp_path) == [head(5)]


async def test_what_is_no_head_is_none_and_a_file_that_rotted_is_named(tmp_path: Path) -> None:
    for bad in (b"", b"\xff\n", head(3, key=OTHER), head(3, log=origin("main-service", "main-service"))):
        with pytest.raises(NoteInvalidError):
            await heads(tmp_path).take(bad)
    await heads(tmp_path).take(head(3))
    (file,) = (tmp_path / "heads").glob("*.head")
    file.write_bytes(b"rot")
    with pytest.raises(InputError, match="no head of a service's log"):
        await heads(tmp_path).take(head(4))


def promise(asked: bytes = b"asked", kind: str = "CONSENT", key: SigningKey = KEY) -> bytes:
    return Promise(LOG, 4, kind, asked, 1, head(3)).sign(key).encode()


def test_a_promise_is_of_what_was_asked(tmp_path: Path) -> None:
    held = heads(tmp_path)
    assert held.promised(promise(), EventType.CONSENT, b"asked") == head(3)
    for wrong in (promise(b"other"), promise(kind="ERASED")):
        with pytest.raises(ResponseMismatchError):
            held.promised(wrong, EventType.CONSENT, b"asked")
    with pytest.raises(SignatureInvalidError):
        held.promised(promise(key=OTHER), EventType.CONSENT, b"asked")


@given(st.integers(1, 2**40), st.text(max_size=9), st.binary(max_size=64), st.integers(0, 2**50), st.data())
def test_a_promise_survives_its_encoding_and_no_flipped_bit(
    number: int, kind: str, asked: bytes, time_ms: int, data: Any
) -> None:
    first = Verifier(LOG, KEY.public)
    try:
        made = Promise(LOG, number, kind, asked, time_ms, head(3)).sign(KEY)
    except EncodingError:
        return  # no text that can be signed
    assert Promise.decode(made.encode()) == made and made.verify(first).size == 3
    raw = bytearray(made.encode())
    raw[data.draw(st.integers(0, len(raw) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises((EncodingError, SignatureInvalidError, NoteInvalidError)):
        Promise.decode(bytes(raw)).verify(first)
