"""A bit flipped anywhere in the evidence: nothing acknowledged is removed, and the message says which leaf it is."""

import re
import shutil
from pathlib import Path

import pytest

from proxid.errors import LogDamagedError
from proxid.runtime.evidence_log.log import LeafLog
from tests.unit.runtime.evidence_log.test_log import KEY, ORIGIN, fill, leaf, stored

SIZE = 21


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of three segments, stopped."""
    folder = tmp_path_factory.mktemp("whole") / "log"
    fill(folder, SIZE, segment_bytes=1_200).close()
    assert len(list((folder / "segments").iterdir())) == 3
    return folder


def files(folder: Path) -> dict[str, bytes]:
    """Every byte of leaves and payloads."""
    return {
        str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.glob("segments/*/*")) if p.name != "index"
    }


def segment(folder: Path, at: int) -> Path:
    return sorted((folder / "segments").iterdir())[at]


def record(path: Path, at: int) -> tuple[int, int]:
    """Offset and length of the data of a record."""
    data, offset = path.read_bytes(), 0
    for _ in range(at):
        offset += 8 + int.from_bytes(data[offset : offset + 4], "big")
    return offset, int.from_bytes(data[offset : offset + 4], "big")


def flip(path: Path, at: int, bit: int = 0) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1 << bit
    path.write_bytes(data)


@pytest.mark.parametrize("which", [0, 1, 2])
@pytest.mark.parametrize("name", ["leaves", "parts"])
@pytest.mark.parametrize("kind", ["length", "length-high", "sum", "begin", "middle", "end"])
@pytest.mark.parametrize("at", [0, 2, -1])
def test_no_byte_of_an_acknowledged_leaf_is_removed(
    whole: Path, tmp_path: Path, which: int, name: str, kind: str, at: int
) -> None:
    folder = tmp_path / "log"
    shutil.copytree(whole, folder)
    path = segment(folder, which) / name
    first = int(path.parent.name)
    last = [int(p.name) for p in sorted((folder / "segments").iterdir())] + [SIZE + 1]
    count = last[which + 1] - first
    index = at % count
    offset, length = record(path, index)
    places = {"length": 3, "length-high": 0, "sum": 5, "begin": 8, "middle": 8 + length // 2, "end": 7 + length}
    flip(path, offset + places[kind])
    before, head = files(folder), (folder / "checkpoint").read_bytes()
    number = first + index
    if which == 2:
        with pytest.raises(LogDamagedError, match=rf"{re.escape(str(path))}: leaf {number} .*byte {offset}\b"):
            LeafLog(folder, ORIGIN, KEY)
        assert (folder / "checkpoint").read_bytes() == head
    else:
        # Older segments are looked at in the background: the service starts, and the damage is named when it is read.
        LeafLog(folder, ORIGIN, KEY).close()
        with pytest.raises(LogDamagedError, match=rf"{re.escape(str(path))}: leaf {number} .*byte {offset}\b"):
            stored(folder, SIZE)
    assert files(folder) == before
    # Putting the bit back helps.
    flip(path, offset + places[kind])
    LeafLog(folder, ORIGIN, KEY).close()
    assert stored(folder, SIZE) == [leaf(n) for n in range(1, SIZE + 1)]


@pytest.mark.parametrize("at", ["first", "middle", "last"])
def test_a_damaged_head_is_named_and_nothing_is_written(whole: Path, tmp_path: Path, at: str) -> None:
    folder = tmp_path / "log"
    shutil.copytree(whole, folder)
    path = folder / "checkpoint"
    size = path.stat().st_size
    flip(path, {"first": 0, "middle": size // 2, "last": size - 1}[at])
    before = files(folder) | {"head": path.read_bytes()}
    with pytest.raises(LogDamagedError, match=re.escape(str(path))):
        LeafLog(folder, ORIGIN, KEY)
    assert files(folder) | {"head": path.read_bytes()} == before


@pytest.mark.parametrize("level", [0, 1, 2])
@pytest.mark.parametrize("which", [0, 1, 2])
def test_a_damaged_tree_beside_a_damaged_leaf_removes_nothing(
    whole: Path, tmp_path: Path, level: int, which: int
) -> None:
    folder = tmp_path / "log"
    shutil.copytree(whole, folder)
    flip(segment(folder, which) / "leaves", 30)
    flip(folder / "tree" / str(level), 3)
    before = files(folder)
    try:
        LeafLog(folder, ORIGIN, KEY).close()
    except LogDamagedError as error:
        assert "leaf" in str(error)
    assert files(folder) == before


@pytest.mark.parametrize("which", [0, 1])
def test_a_damaged_index_is_made_up_for(whole: Path, tmp_path: Path, which: int) -> None:
    folder = tmp_path / "log"
    shutil.copytree(whole, folder)
    flip(segment(folder, which) / "index", 23)
    LeafLog(folder, ORIGIN, KEY).close()
    assert stored(folder, SIZE) == [leaf(n) for n in range(1, SIZE + 1)]


@pytest.mark.parametrize("zeros", [1, 7, 8, 4096])
@pytest.mark.parametrize("name", ["leaves", "parts"])
def test_a_zero_padded_tail_is_cut_off(whole: Path, tmp_path: Path, name: str, zeros: int) -> None:
    """What some file systems leave after a power cut."""
    folder = tmp_path / "log"
    shutil.copytree(whole, folder)
    with (segment(folder, 2) / name).open("ab") as file:
        file.write(bytes(zeros))
    log = LeafLog(folder, ORIGIN, KEY)
    assert log.size == SIZE
    log.append([leaf(SIZE + 1)])
    log.close()
    assert stored(folder, SIZE + 1) == [leaf(n) for n in range(1, SIZE + 2)]
