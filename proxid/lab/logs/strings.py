"""Dictionary encoding: a growing set of strings, each with a code (DESIGN 13).

The bytes of all strings lie side by side in one array; an open-addressed table of `hash | code` finds them. A log's
strings become `int32` codes in a compiled loop, which is what makes columns faster than records.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TypeVar, overload

import numpy as np

from proxid.lab.logs.jit import Bytes, Codes, Columns, Hashes, Longs, Scalar, compiled, step
from proxid.lab.logs.raw import SLACK, load64, prefetch, store64

A = TypeVar("A", Bytes, Longs)
EMPTY = np.uint64(0)
_LOW = np.uint64(0xFFFFFFFF)
_HIGH = np.uint64(0xFFFFFFFF00000000)
_PRIME = np.uint64(0x9E3779B97F4A7C15)
_AHEAD = 32
_MIX = np.uint64(0xD6E8FEB86659FD93)


@step
def mixed(state: Scalar, word: Scalar) -> Scalar:
    """A hash that goes on over a word."""
    state = (state ^ word) * _PRIME
    return state ^ (state >> np.uint64(29))


@compiled
def hash_bytes(data: Bytes, start: Scalar, stop: Scalar, seed: Scalar) -> Scalar:
    """64-bit hash of `data[start:stop]`, eight bytes a step."""
    state = seed ^ (np.uint64(stop - start) * _MIX)
    at = start
    while at + 8 <= stop:
        state = mixed(state, load64(data, at))
        at += 8
    if at < stop:
        state = mixed(state, load64(data, at) & _low_bytes(stop - at))
    state = (state ^ (state >> np.uint64(32))) * _MIX
    return state ^ (state >> np.uint64(29))


@step
def _low_bytes(count: Scalar) -> Scalar:
    """A mask of the lowest bytes of a word, fewer than eight."""
    return (np.uint64(1) << np.uint64(8 * count)) - np.uint64(1)


@step
def same_bytes(a: Bytes, a_start: Scalar, b: Bytes, b_start: Scalar, length: Scalar) -> Scalar:
    """Whether two stretches of bytes are equal."""
    at = 0
    while at + 8 <= length:
        if load64(a, a_start + at) != load64(b, b_start + at):
            return False
        at += 8
    return at == length or ((load64(a, a_start + at) ^ load64(b, b_start + at)) & _low_bytes(length - at)) == EMPTY


@step
def copy_bytes(source: Bytes, start: Scalar, stop: Scalar, target: Bytes, to: Scalar) -> None:
    """Copy `source[start:stop]` to `target[to:]`; up to seven bytes behind it are overwritten."""
    while start < stop:
        store64(target, to, load64(source, start))
        start += 8
        to += 8


@compiled
def find_slot(table: Columns, data: Bytes, start: Scalar, stop: Scalar, key: Scalar) -> Scalar:
    """The slot that holds `data[start:stop]`, or the empty slot where it belongs.

    `table` = (arena, bounds, slots, fill): bytes, where each string begins (one more at the end), hash-and-code
    words, and [number of strings, hash seed].
    """
    arena, bounds, slots, _ = table
    mask = np.uint64(len(slots) - 1)
    at = key & mask
    while slots[at] != EMPTY:
        word = slots[at]
        if (word & _HIGH) == (key & _HIGH):
            code = np.int64(word & _LOW) - 1
            begin = bounds[code]
            if bounds[code + 1] - begin == stop - start and same_bytes(arena, begin, data, start, stop - start):
                return np.int64(at)
        at = (at + np.uint64(1)) & mask
    return np.int64(at)


@step
def intern_keyed(table: Columns, data: Bytes, start: Scalar, stop: Scalar, key: Scalar) -> Scalar:
    """Like `intern_bytes`, for a string whose hash is known."""
    arena, bounds, slots, fill = table
    slot = find_slot(table, data, start, stop, key)
    if slots[slot] != EMPTY:
        return np.int64(slots[slot] & _LOW) - 1
    code = fill[0]
    begin = bounds[code]
    copy_bytes(data, start, stop, arena, begin)
    bounds[code + 1] = begin + (stop - start)
    slots[slot] = (key & _HIGH) | np.uint64(code + 1)
    fill[0] = code + 1
    return code


@step
def intern_bytes(table: Columns, data: Bytes, start: Scalar, stop: Scalar) -> Scalar:
    """The code of `data[start:stop]`, which is added when new; the caller has reserved the room."""
    return intern_keyed(table, data, start, stop, hash_bytes(data, start, stop, np.uint64(table[3][1])))


@compiled
def intern_all(table: Columns, data: Bytes, starts: Longs, stops: Longs, codes: Codes, keep_empty: Scalar) -> None:
    """Codes of the strings `data[starts[i]:stops[i]]`; -1 for an empty one unless `keep_empty`.

    Hashes are taken a few strings ahead, so that their slots are near when they are looked at.
    """
    slots, fill = table[2], table[3]
    seed, mask = np.uint64(fill[1]), np.uint64(len(slots) - 1)
    for first in range(0, len(codes), _AHEAD):
        last = min(first + _AHEAD, len(codes))
        for i in range(first, last):
            prefetch(slots, np.int64(hash_bytes(data, starts[i], stops[i], seed) & mask))
        for i in range(first, last):
            if keep_empty or starts[i] < stops[i]:
                codes[i] = intern_bytes(table, data, starts[i], stops[i])
            else:
                codes[i] = -1


@compiled
def _rehash(table: Columns) -> None:
    """Fill an empty slot array from the strings; they are known to be distinct."""
    arena, bounds, slots, fill = table
    mask = np.uint64(len(slots) - 1)
    for code in range(fill[0]):
        key = hash_bytes(arena, bounds[code], bounds[code + 1], np.uint64(fill[1]))
        at = key & mask
        while slots[at] != EMPTY:
            at = (at + np.uint64(1)) & mask
        slots[at] = (key & _HIGH) | np.uint64(code + 1)


class StringTable(Sequence[str]):
    """Strings by code and codes by string; codes count from 0 in the order of first appearance."""

    def __init__(self, texts: Iterable[str] = (), *, seed: int = 0) -> None:
        self.arena: Bytes = np.empty(1 << 12, np.uint8)
        self.bounds: Longs = np.zeros(1 << 8, np.int64)
        self.slots: Hashes = np.zeros(1 << 9, np.uint64)
        self.fill: Longs = np.array([0, seed], np.int64)
        self.encode(list(texts))

    def __len__(self) -> int:
        return int(self.fill[0])

    @overload
    def __getitem__(self, code: int) -> str: ...
    @overload
    def __getitem__(self, code: slice) -> list[str]: ...
    def __getitem__(self, code: int | slice) -> str | list[str]:
        if isinstance(code, slice):
            return [self[i] for i in range(*code.indices(len(self)))]
        if not 0 <= code < len(self):
            raise IndexError("no string has this code")
        return self.arena[self.bounds[code] : self.bounds[code + 1]].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        return iter(self.since(0))

    def since(self, first: int) -> list[str]:
        """The strings from a code on: many at once are quicker."""
        bounds = self.bounds[first : len(self) + 1]
        data, ends = self.arena[bounds[0] : bounds[-1]].tobytes(), (bounds - bounds[0]).tolist()
        return [data[start:stop].decode() for start, stop in pairwise(ends)]

    def __contains__(self, text: object) -> bool:
        return isinstance(text, str) and self.find(text) >= 0

    @property
    def table(self) -> Columns:
        """(arena, bounds, slots, fill): the arrays as a compiled loop takes them; stale after `reserve`."""
        return (self.arena, self.bounds, self.slots, self.fill)

    @property
    def nbytes(self) -> int:
        """Bytes of memory held."""
        return self.arena.nbytes + self.bounds.nbytes + self.slots.nbytes

    def reserve(self, strings: int, nbytes: int) -> None:
        """Make room for so many more strings of so many bytes in all."""
        count = len(self)
        if (used := int(self.bounds[count])) + nbytes + SLACK > len(self.arena):
            self.arena = _grown(self.arena, used, used + nbytes + SLACK)
        if count + strings + 1 > len(self.bounds):
            self.bounds = _grown(self.bounds, count + 1, count + strings + 1)
        if (count + strings) * 4 > len(self.slots) * 3:
            self.slots = np.zeros(1 << ((count + strings) * 4 // 3).bit_length(), np.uint64)
            _rehash(self.table)

    def code(self, text: str) -> int:
        """The code of a text, which is added when new."""
        return int(self.encode([text])[0])

    def find(self, text: str) -> int:
        """The code of a text, or -1."""
        encoded = text.encode()
        data = np.frombuffer(encoded + bytes(SLACK), np.uint8)
        key = np.uint64(hash_bytes(data, 0, len(encoded), np.uint64(self.fill[1])))
        word = self.slots[find_slot(self.table, data, 0, len(encoded), key)]
        return int(word & _LOW) - 1

    def encode(self, texts: Sequence[str]) -> Codes:
        """Codes of many texts, new ones added; int32, in the order given."""
        return self.encode_bytes(*joined(texts))

    def encode_bytes(self, data: Bytes, bounds: Longs) -> Codes:
        """Codes of the UTF-8 strings `data[bounds[i]:bounds[i + 1]]`, new ones added."""
        return self.encode_cells(_with_slack(data, bounds), bounds[:-1], bounds[1:], keep_empty=True)

    def encode_present(self, data: Bytes, bounds: Longs) -> Codes:
        """The same; -1 for an empty string."""
        return self.encode_cells(_with_slack(data, bounds), bounds[:-1], bounds[1:], keep_empty=False)

    def encode_cells(self, data: Bytes, starts: Longs, stops: Longs, *, keep_empty: bool) -> Codes:
        """Codes of the UTF-8 strings `data[starts[i]:stops[i]]`, new ones added; -1 for empty ones if not kept.

        `data` has SLACK bytes behind the last string.
        """
        codes = np.empty(len(starts), np.int32)
        self.reserve(len(codes), int((stops - starts).sum()))
        intern_all(self.table, data, starts, stops, codes, keep_empty)
        return codes

    def decode(self, codes: Codes) -> list[str]:
        """The strings of many codes; a negative code gives an empty string."""
        kept = np.unique(codes[codes >= 0])
        starts, stops = self.bounds[kept].tolist(), self.bounds[kept + 1].tolist()
        arena = self.arena.data
        texts = [str(arena[start:stop], "utf-8") for start, stop in zip(starts, stops, strict=True)]
        names = dict(zip(kept.tolist(), texts, strict=True))
        return [names.get(code, "") for code in codes.tolist()]


def joined(texts: Sequence[str]) -> tuple[Bytes, Longs]:
    """The bytes of texts side by side, and where each begins (one more at the end)."""
    parts = [text.encode() for text in texts]
    bounds = np.zeros(len(parts) + 1, np.int64)
    np.cumsum([len(part) for part in parts], out=bounds[1:]) if parts else None
    return np.frombuffer(b"".join([*parts, bytes(SLACK)]), np.uint8), bounds


def _with_slack(data: Bytes, bounds: Longs) -> Bytes:
    return data if len(data) >= bounds[-1] + SLACK else np.append(data[: bounds[-1]], np.zeros(SLACK, np.uint8))


def _grown(array: A, used: int, wanted: int) -> A:
    """A copy with room for `wanted` items; grows by half, so that many small steps stay linear."""
    bigger = np.zeros(max(wanted, len(array) * 3 // 2), array.dtype)
    bigger[:used] = array[:used]
    return bigger
