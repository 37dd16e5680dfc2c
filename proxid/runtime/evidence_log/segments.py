"""Leaves by number in segments (DESIGN 10.2): headers for ever, payloads until they expire.

    FIRST/leaves    E(salt, header) of the leaves from number FIRST on
    FIRST/parts     E(part, part, …) of the same leaves; removed when the payloads expire
    FIRST/index     for each leaf u64(offset in leaves) ‖ u64(offset in parts): derived, rebuilt after a crash

Payloads are on disk before the leaf that commits to them. The number is the key: a leaf whose number is there
already is never written again. A torn end is cut off only behind every leaf that was acknowledged.
"""

import os
import struct
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, Self

from proxid.encoding import decode
from proxid.errors import LogDamagedError, ProxidError
from proxid.evidence.leaf import Leaf
from proxid.regular import open_regular, regular_bytes
from proxid.runtime.evidence_log.admitted import NOTHING, Admitted, runs
from proxid.runtime.evidence_log.files import AppendFile, append_records, read_record
from proxid.runtime.evidence_log.generations import SUCCESSOR
from proxid.runtime.evidence_log.places import INDEX, LEAVES, PARTS, Places, committed, locate
from proxid.runtime.whole import sync_folder

_ENTRY: Final = struct.Struct(">QQ")
NOWHERE: Final = (1 << 64) - 1
"""The offset that stands in an index for a record that is damaged."""
SEGMENT_BYTES: Final = 64 * 1024 * 1024


def segment_names(folder: Path) -> list[int]:
    """First numbers of the segments, rising."""
    return sorted(int(p.name) for p in folder.iterdir() if p.name.isdigit())


def leaves_of(folder: Path) -> int:
    """How many leaves the files of a log hold, whatever its head says; 0 if they are gone."""
    names = segment_names(folder) if folder.exists() else []
    return max(locate(segment_folder(folder, names[-1]), names[-1]).leaves, default=names[-1] - 1) if names else 0


def segment_folder(folder: Path, first: int) -> Path:
    """Where a segment lies."""
    return folder / f"{first:012d}"


def _kept(places: Places, folder: Path, acknowledged: int, admitted: Admitted) -> int:
    """Number of the last leaf that stays; raises LogDamagedError if an acknowledged one is not whole."""
    damaged = [n for n in range(places.first, acknowledged + 1) if not places.is_kept(n)]
    unknown = [n for n in damaged if not admitted.covers(n)]
    if unknown and places.ends_at(unknown[0]):
        raise LogDamagedError(
            f"{folder}: the log ends after leaf {unknown[0] - 1}: it holds fewer leaves than its signed head, or than "
            f"the store says were logged ({acknowledged}); nothing was changed. Put back the newest copy of the "
            f"evidence folder that holds them; if there is none: {SUCCESSOR}"
        )
    if unknown:
        raise LogDamagedError(damage_text(places.damage(folder, unknown[0]), folder, unknown))
    kept = max(acknowledged, places.first - 1)
    while places.is_kept(kept + 1):
        kept += 1
    return kept


def damage_text(what: str, folder: Path, numbers: Sequence[int]) -> str:
    """What is damaged, and what to do about it."""
    leaves = ", ".join(runs(numbers))
    return (
        f"{what}, and it was acknowledged; nothing was changed. Put {folder.name} back from the newest copy of the "
        f"evidence folder that has these leaves whole; if there is none, admit it: "
        f"proxid mend damaged --config FILE --leaves {leaves.replace(', ', ' --leaves ')} --reason disk"
    )


def rebuild_index(index: AppendFile, folder: Path, places: Places, last: int) -> bool:
    """Make a segment's index what it must be up to a leaf; whether it was not."""
    expected = b"".join(
        _ENTRY.pack(*(found[n].begin if n in found else NOWHERE for found in (places.leaves, places.parts)))
        for n in range(places.first, last + 1)
    )
    path = folder / INDEX
    stored = regular_bytes(path) if path.exists() else b""
    if places.expired:  # where the payloads lay is of no use to anybody any more
        stored_at = [entry[0] for entry in _ENTRY.iter_unpack(stored[: len(stored) // _ENTRY.size * _ENTRY.size])]
        if stored_at == [entry[0] for entry in _ENTRY.iter_unpack(expected)]:
            return False
    if stored == expected:
        return False
    # Only what is wrong is written: other processes may be reading.
    same = len(expected) if stored[: len(expected)] == expected else 0
    index.truncate(same)
    index.append(expected[same:])
    return True


class Segment:
    """The segment that is written to.

    Args:
        acknowledged: number of the last leaf that was acknowledged, whoever says so. admitted: damaged leaves that the
            operator has admitted.

    Raises:
        LogDamagedError: an acknowledged leaf is not whole; nothing was written.
    """

    def __init__(self, folder: Path, first: int, acknowledged: int = 0, admitted: Admitted = NOTHING) -> None:
        self.folder = segment_folder(folder, first)
        self.first = first
        places = locate(self.folder, first)
        kept = _kept(places, self.folder, acknowledged, admitted)
        if not self.folder.exists():
            self.folder.mkdir(mode=0o700)
            sync_folder(folder)
        self._leaves = AppendFile(self.folder / LEAVES)
        self._parts = AppendFile(self.folder / PARTS)
        self._index = AppendFile(self.folder / INDEX)
        self.begun = (self.folder / PARTS).stat().st_ctime if self._parts.size == 0 else self.folder.stat().st_mtime
        self._cut(places, kept)
        self.count = kept - first + 1
        sync_folder(self.folder)

    def _cut(self, places: Places, kept: int) -> None:
        """Keep the leaves up to a number with their payloads; cut off what a crash left behind them."""
        for file, found in ((self._leaves, places.leaves), (self._parts, places.parts)):
            # Behind a last record that is damaged nothing can be told from it: what comes next is written after all.
            if kept < self.first or kept in found:
                file.truncate(found[kept].end if kept in found else 0)
        rebuild_index(self._index, self.folder, places, kept)

    @property
    def bytes(self) -> int:
        """Size on disk."""
        return self._leaves.size + self._parts.size

    def append(self, leaves: Sequence[Leaf]) -> None:
        """Append leaves durably: payloads, then leaves, then the index; all of them, or none if it fails."""
        sizes = [(file, file.size) for file in (self._parts, self._leaves, self._index)]
        try:
            parts_at = append_records(self._parts, [leaf.stored[1] for leaf in leaves])
            self._parts.sync()
            leaves_at = append_records(self._leaves, [leaf.stored[0] for leaf in leaves])
            self._leaves.sync()
            self._index.append(b"".join(_ENTRY.pack(*pair) for pair in zip(leaves_at, parts_at, strict=True)))
        except OSError:
            for file, size in sizes:
                file.truncate(size)
            raise
        self.count += len(leaves)

    def close(self) -> None:
        """Close the files."""
        for file in (self._leaves, self._parts, self._index):
            file.close()


class SegmentWriter:
    """All segments of a log, of which the last is written to.

    Args:
        folder: of the segments. limit: bytes after which a new segment begins.
        acknowledged, admitted: see `Segment`.

    Raises:
        LogDamagedError: an acknowledged leaf of the last segment is not whole; nothing was written.
    """

    def __init__(
        self, folder: Path, limit: int = SEGMENT_BYTES, acknowledged: int = 0, admitted: Admitted = NOTHING
    ) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder = folder
        self._limit = limit
        names = segment_names(folder)
        self._last = Segment(folder, names[-1] if names else 1, acknowledged, admitted)
        self._rotate_before = 0.0

    def rotate_begun_before(self, moment: float) -> None:
        """End a segment that was begun before a Unix time with the next batch."""
        self._rotate_before = moment

    @property
    def size(self) -> int:
        """Number of the last leaf."""
        return self._last.first + self._last.count - 1

    @property
    def first(self) -> int:
        """Number of the last segment's first leaf."""
        return self._last.first

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
            following = Segment(self._folder, first)
            self._last.close()
            self._last = following

    def close(self) -> None:
        """Close the files."""
        self._last.close()


def parts_of(folder: Path, first: int) -> Path:
    """The payloads' file of a segment."""
    return segment_folder(folder, first) / PARTS


def read_leaves(folder: Path, first: int, end: int, lost: Callable[[int], bytes] | None = None) -> Iterator[Leaf]:
    """Leaves `first` … `end`−1; parts are empty where they expired.

    Args:
        lost: gives the hash of a leaf that is damaged, which then comes without what it said; None: it is an error.

    Raises:
        LogDamagedError: names file, leaf and offset.
    """
    names = segment_names(folder)
    for name, following in zip(names, [*names[1:], end], strict=True):
        begin, stop = max(first, name), min(end, following)
        if begin < stop:
            with SegmentReader(segment_folder(folder, name), name, lost) as segment:
                yield from (segment.leaf(number) for number in range(begin, stop))


class SegmentReader:
    """Leaves of one segment; the index is only believed where it leads to the leaf that was asked for."""

    def __init__(self, folder: Path, first: int, lost: Callable[[int], bytes] | None) -> None:
        self._folder, self._first, self._lost = folder, first, lost
        self._places: Places | None = None

    def __enter__(self) -> Self:
        self._files = {name: _open(self._folder / name) for name in (INDEX, LEAVES, PARTS)}
        return self

    def __exit__(self, *_: object) -> None:
        for descriptor in self._files.values():
            if descriptor is not None:
                os.close(descriptor)

    def leaf(self, number: int) -> Leaf:
        """One leaf; raises LogDamagedError."""
        return self._by_index(number) or self._by_places(number)

    def _by_index(self, number: int) -> Leaf | None:
        index, leaves, parts = (self._files[name] for name in (INDEX, LEAVES, PARTS))
        if index is None or leaves is None:
            return None
        entry = os.pread(index, _ENTRY.size, _ENTRY.size * (number - self._first))
        if len(entry) != _ENTRY.size:
            return None
        leaf_at, parts_at = _ENTRY.unpack(entry)
        try:
            salt, header = decode(read_record(leaves, leaf_at), 2)
            leaf = Leaf(salt, header, () if parts is None else tuple(decode(read_record(parts, parts_at))))
            if leaf.known.number != number or (parts is not None and leaf.part_hashes != committed(leaf.known)):
                return None
        except ProxidError:
            return None
        return leaf

    def _by_places(self, number: int) -> Leaf:
        if self._places is None:
            self._places = locate(self._folder, self._first)
        places, leaves, parts = self._places, self._files[LEAVES], self._files[PARTS]
        if not places.is_whole(number) and self._lost is None:
            raise LogDamagedError(damage_text(places.damage(self._folder, number), self._folder, [number]))
        if number not in places.leaves or leaves is None:
            assert self._lost is not None
            return Leaf(b"", b"", lost=self._lost(number))
        salt, header = decode(read_record(leaves, places.leaves[number].begin), 2)
        if parts is None or number not in places.parts:
            return Leaf(salt, header, damaged=not places.expired)
        try:
            return Leaf(salt, header, tuple(decode(read_record(parts, places.parts[number].begin))))
        except ProxidError:  # zeros are a record whose sum holds, and hold no payload
            if self._lost is None:
                raise LogDamagedError(damage_text("a payload is damaged", self._folder, [number])) from None
            return Leaf(salt, header, damaged=True)


def _open(path: Path) -> int | None:
    try:
        with open_regular(path) as file:
            return os.dup(file.fileno())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise LogDamagedError(f"{path}: cannot be read: {error.strerror}") from None
