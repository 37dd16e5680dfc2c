"""Where the records of a segment lie, also behind a damaged one (DESIGN 10.2).

A record whose check sum does not hold hides neither those before it nor those after it: its length is tried first; if
that is damaged too, the next record is looked for byte by byte. Leaves are known by the number in their header,
payloads by the hashes that their leaf commits to. The index is never asked: it is derived from what is found here.
"""

import mmap
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from proxid.encoding import decode
from proxid.errors import LogDamagedError, ProxidError
from proxid.evidence.leaf import LeafHeader, part_hash
from proxid.regular import open_regular
from proxid.runtime.evidence_log.files import FRAME, MAX_RECORD

LEAVES, PARTS, INDEX = "leaves", "parts", "index"


@dataclass(frozen=True, slots=True)
class Record:
    """A whole record: where it begins and ends in its file."""

    begin: int
    end: int


@dataclass(slots=True)
class Places:
    """Where the records of a segment lie, by the number of their leaf; those that are missing are damaged.

    Attributes:
        leaves, parts: whole records. stops: for each file and each missing record, where its search began.
        expired: the payloads' file is not there.
    """

    first: int
    leaves: dict[int, Record]
    parts: dict[int, Record]
    stops: dict[tuple[str, int], int]
    expired: bool = False

    def is_whole(self, number: int) -> bool:
        """Whether a leaf and its payload can be read."""
        return number in self.leaves and (self.expired or number in self.parts)

    def is_kept(self, number: int) -> bool:
        """Whether a leaf is there with its payload, which has not expired."""
        return number in self.leaves and number in self.parts

    def ends_at(self, number: int) -> bool:
        """Whether both files end whole before a leaf, which was never there or was cut off with all that follows."""
        torn = (LEAVES, number) in self.stops or (PARTS, number) in self.stops
        return not torn and not (self.expired and self.leaves) and max((*self.leaves, *self.parts), default=0) < number

    def damage(self, folder: Path, number: int) -> str:
        """Which file is damaged at a leaf, and where."""
        name = PARTS if number in self.leaves else LEAVES
        at = self.stops.get((name, number), self._end_before(name, number))
        return f"{folder / name}: leaf {number} is damaged or missing, at byte {at}"

    def _end_before(self, name: str, number: int) -> int:
        found = self.leaves if name == LEAVES else self.parts
        before = [record.end for at, record in found.items() if at < number]
        return max(before, default=0)


def locate(folder: Path, first: int) -> Places:
    """Every whole record of a segment; raises LogDamagedError if a leaf stands at another number."""
    places = Places(first, {}, {}, {}, expired=not (folder / PARTS).exists())
    headers: dict[int, LeafHeader] = {}
    with _Bytes(folder / LEAVES) as data:
        _walk_leaves(data, places, headers, folder)
    with _Bytes(folder / PARTS) as data:
        _walk_parts(data, places, headers)
    return places


class _Bytes:
    """A file's bytes, mapped; a file that is empty or not there has none."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.size = 0
        self._map: mmap.mmap | None = None

    def __enter__(self) -> "_Bytes":
        try:
            with suppress(FileNotFoundError), open_regular(self._path) as file:
                self.size = file.seek(0, 2)
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if self.size else None
        except OSError as error:
            raise LogDamagedError(f"{self._path}: cannot be read: {error.strerror}; nothing was changed") from None
        return self

    def __exit__(self, *_: object) -> None:
        if self._map is not None:
            self._map.close()

    def length(self, at: int) -> int | None:
        """The length that the record at an offset claims, if that many bytes are there."""
        if self._map is None or at + FRAME.size > self.size:
            return None
        length, _ = FRAME.unpack_from(self._map, at)
        return int(length) if length <= MAX_RECORD and at + FRAME.size + length <= self.size else None

    def record(self, at: int) -> bytes | None:
        """The data of the whole record at an offset, or None."""
        length = self.length(at)
        if length is None or self._map is None:
            return None
        _, check = FRAME.unpack_from(self._map, at)
        data = self._map[at + FRAME.size : at + FRAME.size + length]
        return data if zlib.crc32(data) == check else None


def _walk(data: _Bytes, at: int, accept: Callable[[int, bytes], bool]) -> int | None:
    """Behind a record that is no good at `at`: where the next one is that is accepted, or None."""
    length = data.length(at)
    if length is not None:
        following = at + FRAME.size + length
        found = data.record(following)
        if found is not None and accept(following, found):
            return following
    for offset in range(at + 1, data.size - FRAME.size + 1):
        found = data.record(offset)
        if found and accept(offset, found):
            return offset
    return None


def _header(data: bytes) -> LeafHeader | None:
    try:
        return LeafHeader.decode(decode(data, 2)[1])
    except ProxidError:
        return None


def _walk_leaves(data: _Bytes, places: Places, headers: dict[int, LeafHeader], folder: Path) -> None:
    at: int | None = 0
    number = places.first
    while at is not None and at < data.size:
        found = data.record(at)
        header = None if found is None else _header(found)
        if found is None or header is None:
            places.stops[LEAVES, number] = at
            at = _walk(data, at, lambda _, other, least=number: _is_later(other, least))  # type: ignore[misc]
            continue
        if header.number < number:
            raise LogDamagedError(f"{folder / LEAVES}: a leaf stands at another number, at byte {at}")
        number, end = header.number, at + FRAME.size + len(found)
        places.leaves[number], headers[number] = Record(at, end), header
        number, at = number + 1, end


def _is_later(data: bytes, least: int) -> bool:
    header = _header(data)
    return header is not None and header.number >= least


def _walk_parts(data: _Bytes, places: Places, headers: dict[int, LeafHeader]) -> None:
    """Payloads stand in the order of their leaves.

    One that its leaf does not commit to was not damaged by chance: it is shown as it is, and the audit names it.
    """
    at, number, known = 0, places.first, _Known(headers)
    while at < data.size:
        found = data.record(at)
        if found is not None:
            number = known.number_of(found, number)
            end = at + FRAME.size + len(found)
            places.parts[number] = Record(at, end)
            at, number = end, number + 1
            continue
        places.stops[PARTS, number] = at
        behind = _behind(data, at, number, known)
        if behind is None:
            return
        at, number = behind


class _Known:
    """Which leaf a payload belongs to."""

    def __init__(self, headers: dict[int, LeafHeader]) -> None:
        self._headers = headers
        self._numbers: dict[tuple[bytes, ...], int] = {}

    def number_of(self, data: bytes, expected: int) -> int:
        """The number of a payload that stands at the place of `expected`: a later one if those between are missing."""
        header = self._headers.get(expected)
        hashes = None if header is None else hashes_of(data)
        if header is None or hashes == committed(header):
            return expected
        return max(expected, self.later(hashes, expected) or expected)

    def later(self, hashes: tuple[bytes, ...] | None, number: int) -> int | None:
        """The leaf from a number on that commits to these parts, if there are any."""
        if not self._numbers:
            self._numbers = {committed(header): at for at, header in self._headers.items() if header.parts}
        found = self._numbers.get(hashes or ())
        return found if found is not None and found >= number else None

    def is_at(self, data: bytes, number: int) -> bool:
        """Whether a leaf commits to a payload."""
        return number in self._headers and hashes_of(data) == committed(self._headers[number])


def _behind(data: _Bytes, at: int, number: int, known: _Known) -> tuple[int, int] | None:
    """Behind a damaged payload: where the next one is whose leaf is known, and its number."""
    length = data.length(at)
    if length is not None:
        following = at + FRAME.size + length
        found = data.record(following)
        if found is not None and known.is_at(found, number + 1):
            return following, number + 1
    for offset in range(at + 1, data.size - FRAME.size + 1):
        found = data.record(offset)
        later = known.later(hashes_of(found), number) if found else None
        if later is not None:
            return offset, later
    return None


def committed(header: LeafHeader) -> tuple[bytes, ...]:
    """The hashes of a leaf's parts."""
    return tuple(digest for _, digest in header.parts)


def hashes_of(data: bytes) -> tuple[bytes, ...] | None:
    """The hashes of the parts in a payload's record; None if that is none."""
    try:
        return tuple(part_hash(part) for part in decode(data))
    except ProxidError:
        return None
