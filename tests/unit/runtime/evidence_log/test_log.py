"""The log on disk: recovery from a cut at any byte, damage, proofs from stored hashes."""

import asyncio
import errno
import os
import shutil
from pathlib import Path

import pytest

from proxid.crypto.ed25519 import SigningKey
from proxid.errors import LogDamagedError, LogFullError, NoteInvalidError, TreeProofError
from proxid.evidence.checkpoint import cosign, open_checkpoint, with_cosignature, witness
from proxid.evidence.events import EventType, encode_header
from proxid.evidence.leaf import Leaf, LeafHeader, Part, part_hash
from proxid.evidence.merkle import verify_consistency, verify_inclusion
from proxid.evidence.note import Verifier
from proxid.runtime.evidence_log.log import LeafLog
from proxid.runtime.evidence_log.reading import LogReader
from proxid.runtime.evidence_log.scrub import Scrubber
from proxid.runtime.evidence_log.segments import read_leaves
from proxid.runtime.evidence_log.tree import TreeWriter

ORIGIN = "proxid/main-service/gateway"
KEY = SigningKey(bytes([1] * 32))
LOG = Verifier(ORIGIN, KEY.public)
WITNESS = SigningKey(bytes([2] * 32))


def leaf(number: int) -> Leaf:
    part = Part(b"", 0, b"", b"payload %d" % number).encode()
    header = LeafHeader(number, EventType.UNREACHED, encode_header(session=f"{number:04x}"), ((b"", part_hash(part)),))
    return Leaf(number.to_bytes(16, "big"), header.encode(), (part,))


def fill(folder: Path, end: int, batch: int = 3, segment_bytes: int = 2_000) -> LeafLog:
    log = LeafLog(folder, ORIGIN, KEY, segment_bytes)
    while log.size < end:
        log.begin_batch()
        log.append([leaf(n) for n in range(log.size + 1, min(log.size + batch, end) + 1)])
    return log


def stored(folder: Path, size: int) -> list[Leaf]:
    return list(read_leaves(folder / "segments", 1, size + 1))


def test_a_log_reopens_as_it_was(tmp_path: Path) -> None:
    log = fill(tmp_path / "log", 40)
    head = log.head
    log.close()
    again = LeafLog(tmp_path / "log", ORIGIN, KEY, 2_000)
    assert again.head == head and again.size == 40
    assert stored(tmp_path / "log", 40) == [leaf(n) for n in range(1, 41)]
    assert len(list((tmp_path / "log/segments").iterdir())) > 2


@pytest.mark.parametrize("step", [11, pytest.param(1, marks=pytest.mark.slow)])
def test_a_cut_at_any_byte_loses_nothing_that_was_signed_and_forks_nothing(tmp_path: Path, step: int) -> None:
    """The crash comes while leaves 8-9 are written: their files may end anywhere, the signed head covers 7."""
    fill(tmp_path / "log", 7, segment_bytes=1 << 20).close()
    signed = (tmp_path / "log/checkpoint").read_bytes()
    sizes = {p.name: p.stat().st_size for p in (tmp_path / "log/segments/000000000001").iterdir()}
    fill(tmp_path / "log", 9, segment_bytes=1 << 20).close()
    (tmp_path / "log/checkpoint").write_bytes(signed)
    full = {p.name: p.stat().st_size for p in (tmp_path / "log/segments/000000000001").iterdir()}
    cuts = [(n, full["parts"]) for n in range(sizes["leaves"], full["leaves"] + 1, step)]
    cuts += [(sizes["leaves"], n) for n in range(sizes["parts"], full["parts"] + 1, step)]
    for at, (leaves, parts) in enumerate(cuts):
        folder = tmp_path / f"cut-{at}"
        shutil.copytree(tmp_path / "log", folder)
        for name, size in (("leaves", leaves), ("parts", parts)):
            with (folder / "segments/000000000001" / name).open("r+b") as file:
                file.truncate(size)
        log = LeafLog(folder, ORIGIN, KEY)
        assert 7 <= log.size <= 9
        log.append([leaf(n) for n in range(log.size + 1, 12)])
        assert stored(folder, 11) == [leaf(n) for n in range(1, 12)]
        old, new = open_checkpoint(signed, LOG)[0], log.head
        proof = LogReader(folder, LOG).consistency(7, 11)
        verify_consistency(7, old.root, new.size, new.root, proof)
        log.close()
        shutil.rmtree(folder)


def test_a_log_that_lost_signed_leaves_does_not_open(tmp_path: Path) -> None:
    fill(tmp_path / "log", 7, segment_bytes=1 << 20).close()
    path = tmp_path / "log/segments/000000000001/leaves"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(LogDamagedError, match="leaf 7 is damaged or missing, at byte"):
        LeafLog(tmp_path / "log", ORIGIN, KEY)


def test_a_log_without_its_signed_head_does_not_open(tmp_path: Path) -> None:
    fill(tmp_path / "log", 7).close()
    (tmp_path / "log/checkpoint").unlink()
    with pytest.raises(LogDamagedError, match="no signed head"):
        LeafLog(tmp_path / "log", ORIGIN, KEY)


def test_a_log_shorter_than_somebody_counted_signs_nothing(tmp_path: Path) -> None:
    fill(tmp_path / "log", 7).close()
    signed = (tmp_path / "log/checkpoint").read_bytes()
    with pytest.raises(LogDamagedError, match="fewer leaves than"):
        LeafLog(tmp_path / "log", ORIGIN, KEY, least=8)
    with pytest.raises(LogDamagedError, match="fewer leaves than"):
        LeafLog(tmp_path / "none", ORIGIN, KEY, least=1)
    assert (tmp_path / "log/checkpoint").read_bytes() == signed and not (tmp_path / "none/checkpoint").exists()
    assert LeafLog(tmp_path / "log", ORIGIN, KEY, least=7).size == 7


@pytest.mark.parametrize("name", ["leaves", "parts"])
def test_a_flipped_bit_of_a_segment_does_not_go_unnoticed(tmp_path: Path, name: str) -> None:
    fill(tmp_path / "log", 7, segment_bytes=1 << 20).close()
    path = tmp_path / "log/segments/000000000001" / name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(LogDamagedError):
        LeafLog(tmp_path / "log", ORIGIN, KEY)


@pytest.mark.parametrize("level", [0, 1, 2])
@pytest.mark.parametrize("how", ["flip", "cut", "gone"])
def test_a_damaged_tree_is_made_anew_from_the_leaves(tmp_path: Path, level: int, how: str) -> None:
    log = fill(tmp_path / "log", 13)
    head = log.head
    log.close()
    path = tmp_path / "log/tree" / str(level)
    data = bytearray(path.read_bytes())
    if how == "flip":
        data[3] ^= 1
        path.write_bytes(bytes(data))
    elif how == "cut":
        path.write_bytes(bytes(data[:-40]))
    else:
        path.unlink()
    log = LeafLog(tmp_path / "log", ORIGIN, KEY, 2_000)
    assert log.head == head
    asyncio.run(Scrubber(log).step())
    log.close()
    reader = LogReader(tmp_path / "log", LOG)
    for number in range(1, 14):
        verify_inclusion(leaf(number).hash, number - 1, 13, reader.inclusion(number, 13), head.root)


@pytest.mark.parametrize("end", [1, 3, 12, 13, 16, 40])
def test_an_old_log_starts_as_fast_as_a_new_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: int) -> None:
    """What was signed for is compared in its last segment and on the tree's edge; all of it is looked at meanwhile."""
    log = fill(tmp_path / "log", end)
    head = log.head
    log.close()

    def all_of_it(_: TreeWriter, size: int) -> None:
        raise AssertionError(f"{size} leaves were compared")

    with monkeypatch.context() as patch:
        patch.setattr(TreeWriter, "compared", all_of_it)
        log = LeafLog(tmp_path / "log", ORIGIN, KEY, 2_000)
    assert log.head == head
    assert all(log.look_at_tree())
    log.close()


@pytest.mark.parametrize("level", [0, 1, 2, 3, 5])  # of 47 = 32 + 8 + 4 + 2 + 1 leaves
def test_a_bit_on_the_trees_edge_or_in_its_end_is_found_at_the_start(tmp_path: Path, level: int) -> None:
    log = fill(tmp_path / "log", 47)
    head = log.head
    log.close()
    path = tmp_path / "log/tree" / str(level)
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(bytes(data))
    log = LeafLog(tmp_path / "log", ORIGIN, KEY, 2_000)
    assert log.head == head and all(log.look_at_tree())
    log.append([leaf(48)])
    log.close()
    reader = LogReader(tmp_path / "log", LOG)
    verify_consistency(47, head.root, 48, reader.head().root, reader.consistency(47, 48))


def test_another_key_does_not_go_on_with_a_log(tmp_path: Path) -> None:
    fill(tmp_path / "log", 3).close()
    with pytest.raises(LogDamagedError, match="no head that this service signed"):
        LeafLog(tmp_path / "log", ORIGIN, WITNESS)


def test_a_witness_hears_that_its_word_has_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path / "log", 3).close()
    reader = LogReader(tmp_path / "log", LOG, (witness("witness", WITNESS.public),))
    note = open_checkpoint(reader.checkpoint(), LOG)[1]
    cosigned = with_cosignature(note, cosign(note, "witness", WITNESS, 7)).encode()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "no space left")

    with monkeypatch.context() as patched, pytest.raises(LogFullError):
        patched.setattr(os, "fsync", full)
        reader.cosign(cosigned)
    reader.cosign(cosigned)
    assert len(reader.cosigned()) == 1


def test_readers_see_what_is_signed_and_keep_cosigned_heads(tmp_path: Path) -> None:
    log = fill(tmp_path / "log", 10)
    reader = LogReader(tmp_path / "log", LOG, (witness("witness", WITNESS.public),))
    assert [item.hash for item in reader.leaves(4, 3)] == [leaf(n).hash for n in (4, 5, 6)]
    assert list(reader.leaves(11)) == []
    note = open_checkpoint(reader.checkpoint(), LOG)[1]
    with pytest.raises(NoteInvalidError):
        reader.cosign(note.encode())
    reader.cosign(with_cosignature(note, cosign(note, "witness", WITNESS, 7)).encode())
    assert len(reader.cosigned()) == 1
    with pytest.raises(TreeProofError):
        reader.consistency(3, 11)
    log.close()
