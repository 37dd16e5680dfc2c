"""Compiled hash tables that the columnar engines keep their state in (DESIGN 8, 13).

`PairMap` finds a number by a pair of codes and forgets pairs again, so that its size follows what waits and not what
was seen. Open addressing with linear probing; a removal shifts back what follows, so no tombstones pile up.
"""

import numpy as np

from proxid.lab.logs.jit import Codes, Columns, Longs, Scalar, compiled, inlined, step

FREE = -1
_PRIME = np.uint64(0x9E3779B97F4A7C15)


@inlined
def pair_key(first: Scalar, second: Scalar) -> Scalar:
    """One 64-bit key of two non-negative 32-bit codes."""
    return (np.int64(first) << 32) | np.int64(second)


@inlined
def _home(key: Scalar, mask: Scalar) -> Scalar:
    mixed = np.uint64(key) * _PRIME
    return np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(mask))


@inlined
def find_place(keys: Longs, key: Scalar) -> Scalar:
    """Where a key is, or the free place where it belongs (keys[place] tells which)."""
    mask = len(keys) - 1
    at = _home(key, mask)
    while keys[at] != FREE and keys[at] != key:
        at = (at + 1) & mask
    return at


@step
def remove_place(keys: Longs, values: Codes, hole: Scalar) -> None:
    """Free a place and move back what was pushed past it."""
    mask = len(keys) - 1
    at = hole
    while True:
        at = (at + 1) & mask
        if keys[at] == FREE:
            break
        if ((at - _home(keys[at], mask)) & mask) >= ((at - hole) & mask):
            keys[hole], values[hole] = keys[at], values[at]
            hole = at
    keys[hole] = FREE


@compiled
def _move_all(old: Columns, new: Columns) -> None:
    for i in range(len(old[0])):
        if old[0][i] != FREE:
            place = find_place(new[0], old[0][i])
            new[0][place], new[1][place] = old[0][i], old[1][i]


class PairMap:
    """Numbers by pairs of codes, as two arrays that compiled loops work on."""

    def __init__(self, room: int = 1024) -> None:
        self.keys, self.values = _arrays(room)

    def reserve(self, pairs: int) -> None:
        """Make room for so many pairs in all."""
        if pairs * 2 > len(self.keys):
            fresh = _arrays(pairs * 2)
            _move_all((self.keys, self.values), fresh)
            self.keys, self.values = fresh

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.keys.nbytes + self.values.nbytes


def _arrays(room: int) -> tuple[Longs, Codes]:
    size = 1 << max(4, (room - 1).bit_length())
    return np.full(size, FREE, np.int64), np.zeros(size, np.int32)
