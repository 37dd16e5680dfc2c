"""Leaves by number in segments (DESIGN 10.2): headers for ever, payloads until they expire.

    FIRST/leaves    E(salt, header) of the leaves from number FIRST on
    FIRST/parts     E(part, part, …) of the same leaves; removed when the payloads expire
    FIRST/index     for each leaf u64(offset in leaves) ‖ u64(offset in parts): derived, rebuilt after a crash

Payloads are on disk before the leaf that commits to them. The number is the key: a leaf whose number is there
already is never written again.
"""

import os
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from proxid.encoding import decode
from proxid.errors import LogDamagedError
from proxid.evidence.leaf import Leaf, LeafHeader
from proxid.store.evidence.files import AppendFile, append_records, read_record, scan, sync_folder

LEAVES, PARTS, INDEX = "leaves", "parts", "index"
_ENTRY: Final = struct.Struct(">QQ")
SEGMENT_BYTES: Final = 64 * 1024 * 1024


def segment_names(folder: Path) -> list[int]:
    """First numbers of the segments, rising."""
    return sorted(int(p.name) for p in folder.iterdir() if p.name.isdigit())


def _folder(folder: Path, first: int) -> Path:
    return folder / f"{first:012d}"


class Segment:
    """The segment that is written to."""

    def __init__(self, folder: Path, first: int) -> None:
        self.folder = _folder(folder, first)
        self.first = first
        if not self.folder.exists():
            self.folder.mkdir(mode=0o700)
            sync_folder(folder)
        self._leaves = AppendFile(self.folder / LEAVES)
        self._parts = AppendFile(self.folder / PARTS)
        self._index = AppendFile(self.folder / INDEX)
        self.count = 0
        self.begun = (self.folder / PARTS).stat().st_ctime if self._parts.size == 0 else self.folder.stat().st_mtime
        self._recover()
        sync_folder(self.folder)

    def _recover(self) -> None:
        """Keep the leaves that are whole, with their payloads; cut off the rest; rebuild the index."""
        entries: list[bytes] = []
        ends = (0, 0)
        for (leaf_at, leaf), (parts_at, parts) in zip(
            scan(self.folder / LEAVES), scan(self.folder / PARTS), strict=False
        ):
            header = LeafHeader.decode(decode(leaf, 2)[1])
            if header.number != self.first + len(entries):
                raise LogDamagedError("a leaf of the log stands at another number")
            entries.append(_ENTRY.pack(leaf_at, parts_at))
            ends = (leaf_at + 8 + len(leaf), parts_at + 8 + len(parts))
        self._leaves.truncate(ends[0])
        self._parts.truncate(ends[1])
        self._rebuild_index(b"".join(entries))
        self.count = len(entries)

    def _rebuild_index(self, expected: bytes) -> None:
        """Only what is wrong is written: other processes may be reading."""
        stored = (self.folder / INDEX).read_bytes()
        same = len(expected) if stored[: len(expected)] == expected else 0
        self._index.truncate(same)
        self._index.append(expected[same:])

    @property
    def bytes(self) -> int:
        """Size on disk."""
        return self._leaves.size + self._parts.size

    def append(self, leaves: Sequence[Leaf]) -> None:
        """Append leaves durably: payloads, then leaves, then the index."""
        parts_at = append_records(self._parts, [leaf.stored[1] for leaf in leaves])
        self._parts.sync()
        leaves_at = append_records(self._leaves, [leaf.stored[0] for leaf in leaves])
        self._leaves.sync()
        self._index.append(b"".join(_ENTRY.pack(*pair) for pair in zip(leaves_at, parts_at, strict=True)))
        self.count += len(leaves)

    def close(self) -> None:
        """Close the files."""
        for file in (self._leaves, self._parts, self._index):
            file.close()


class SegmentWriter:
    """All segments of a log, of which the last is written to.

    Args:
        folder: of the segments. limit: bytes after which a new segment begins.
    """

    def __init__(self, folder: Path, limit: int = SEGMENT_BYTES) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder = folder
        self._limit = limit
        names = segment_names(folder)
        self._last = Segment(folder, names[-1] if names else 1)
        self._rotate_before = 0.0

    def rotate_begun_before(self, moment: float) -> None:
        """End a segment that was begun before a Unix time with the next batch."""
        self._rotate_before = moment

    @property
    def size(self) -> int:
        """Number of the last leaf."""
        return self._last.first + self._last.count - 1

    def append(self, leaves: Sequence[Leaf]) -> None:
        """Append leaves durably to the last segment."""
        self._last.append(leaves)

    def rotate_if_due(self) -> bool:
        """Begin a new segment if the last is full, or old enough to expire as a whole; whether one was begun."""
        last = self._last
        if not last.count or (last.bytes < self._limit and last.begun >= self._rotate_before):
            return False
        self.rotate()
        return True

    def rotate(self) -> None:
        """Begin a new segment, unless the last is empty."""
        if self._last.count:
            first = self.size + 1
            self._last.close()
            self._last = Segment(self._folder, first)

    def close(self) -> None:
        """Close the files."""
        self._last.close()


def parts_of(folder: Path, first: int) -> Path:
    """The payloads' file of a segment."""
    return _folder(folder, first) / PARTS


def read_leaves(folder: Path, first: int, end: int) -> Iterator[Leaf]:
    """Leaves `first` … `end`−1; parts are empty where they expired; raises LogDamagedError."""
    names = segment_names(folder)
    for name, following in zip(names, [*names[1:], end], strict=True):
        begin, stop = max(first, name), min(end, following)
        if begin < stop:
            yield from _read_segment(_folder(folder, name), begin - name, stop - name)


def _read_segment(folder: Path, begin: int, stop: int) -> Iterator[Leaf]:
    try:
        index, leaves = (os.open(folder / name, os.O_RDONLY) for name in (INDEX, LEAVES))
    except OSError:
        raise LogDamagedError("a segment of the log is missing") from None
    parts = _open_parts(folder)
    try:
        entries = os.pread(index, _ENTRY.size * (stop - begin), _ENTRY.size * begin)
        if len(entries) != _ENTRY.size * (stop - begin):
            raise LogDamagedError("the index of the log is cut off")
        for leaf_at, parts_at in _ENTRY.iter_unpack(entries):
            salt, header = decode(read_record(leaves, leaf_at), 2)
            yield Leaf(salt, header, _parts(parts, parts_at))
    finally:
        for descriptor in (index, leaves, parts):
            if descriptor is not None:
                os.close(descriptor)


def _open_parts(folder: Path) -> int | None:
    try:
        return os.open(folder / PARTS, os.O_RDONLY)
    except FileNotFoundError:
        return None


def _parts(descriptor: int | None, offset: int) -> tuple[bytes, ...]:
    return () if descriptor is None else tuple(decode(read_record(descriptor, offset)))
