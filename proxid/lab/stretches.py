"""What an attacker remembers of a stream, in arrays that compiled loops can walk (DESIGN 14).

`Stretches` holds a growing list of entries a node; `PairCounts` counts (node, user) pairs. Both grow between batches,
never inside a loop, so a loop may index without checks once `reserve` has been called for its batch.
"""

from typing import Any

import numpy as np

from proxid.lab.logs.jit import Columns, Longs, Scalar, compiled

Table = Any
"""A two-dimensional int64 array: one entry a row."""
EMPTY = -1
_PRIME = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)


@compiled
def draw(random: Any, below: int) -> Scalar:
    """A number in [0, below) from a splitmix64 state of one word; the bias is under below / 2^32."""
    random[0] += _PRIME
    word = random[0]
    word = (word ^ (word >> np.uint64(30))) * _MIX1
    word = (word ^ (word >> np.uint64(27))) * _MIX2
    word ^= word >> np.uint64(31)
    return np.int64(((word >> np.uint64(32)) * np.uint64(below)) >> np.uint64(32))


def random_state(seed: int) -> Any:
    """The state that `draw` advances."""
    return np.array([seed], np.uint64)


@compiled
def find_entry(entries: Table, begin: int, end: int, user: int) -> Scalar:
    """Position of the entry of a user in `entries[begin:end]`, or -1."""
    for at in range(begin, end):
        if entries[at, 0] == user:
            return at
    return -1


@compiled
def _move(old: Columns, new_start: Longs, target: Table) -> None:
    start, head, size, entries = old
    for node in range(len(start)):
        begin = start[node] + head[node]
        for i in range(size[node]):
            for column in range(entries.shape[1]):
                target[new_start[node] + i, column] = entries[begin + i, column]


class Stretches:
    """A list of entries a node, each entry `width` numbers, side by side in one array."""

    def __init__(self, width: int) -> None:
        self.start = np.zeros(0, np.int64)
        self.head = np.zeros(0, np.int64)
        self.size = np.zeros(0, np.int64)
        self.entries = np.zeros((0, width), np.int64)

    @property
    def columns(self) -> Columns:
        """(start, head, size, entries): node's entries are `entries[start + head:][:size]`."""
        return (self.start, self.head, self.size, self.entries)

    @property
    def nbytes(self) -> int:
        """Bytes of the entries that are in use."""
        return int(self.size.sum()) * self.entries.shape[1] * 8

    def reserve(self, nodes: Any) -> None:
        """Make room for one more entry at each of these nodes (with repetition)."""
        coming = np.bincount(nodes, minlength=len(self.size)).astype(np.int64)
        old = [np.zeros(len(coming), np.int64) for _ in range(3)]
        for grown, array in zip(old, (self.start, self.head, self.size), strict=True):
            grown[: len(array)] = array
        room = np.concatenate([[0], np.cumsum(old[2] + coming)])
        entries = np.empty((int(room[-1]), self.entries.shape[1]), np.int64)
        _move((*old, self.entries), room[:-1], entries)
        self.start, self.head, self.size, self.entries = room[:-1], np.zeros_like(old[1]), old[2], entries


@compiled
def count_pair(table: Columns, key: int, by: int) -> Scalar:
    """Add to the count of a pair; returns the new count. `table` = (keys, counts, [number of pairs])."""
    keys, counts, fill = table
    mask = np.int64(len(keys) - 1)
    at = np.int64(np.uint64(key) * _PRIME >> np.uint64(20)) & mask
    while keys[at] != EMPTY and keys[at] != key:
        at = (at + 1) & mask
    if keys[at] == EMPTY:
        if by == 0:
            return 0
        keys[at] = key
        fill[0] += 1
    counts[at] += by
    return counts[at]


@compiled
def _refill(old: Columns, new: Columns) -> None:
    for at in range(len(old[0])):
        if old[0][at] != EMPTY:
            count_pair(new, old[0][at], old[1][at])


class PairCounts:
    """Counts by a 64-bit key, in an open-addressed table."""

    def __init__(self) -> None:
        self.table: Columns = self._empty(1 << 10)

    @staticmethod
    def _empty(slots: int) -> Columns:
        return np.full(slots, EMPTY, np.int64), np.zeros(slots, np.int64), np.zeros(1, np.int64)

    def __len__(self) -> int:
        return int(self.table[2][0])

    @property
    def nbytes(self) -> int:
        """Bytes of the pairs that are in use: a key and a count each."""
        return 16 * len(self)

    def reserve(self, more: int) -> None:
        """Make room for so many more pairs."""
        if (wanted := (len(self) + more) * 2) > len(self.table[0]):
            bigger = self._empty(1 << wanted.bit_length())
            _refill(self.table, bigger)
            self.table = bigger


@compiled
def pair_key(node: int, user: int) -> Scalar:
    """One key of a (node, user) pair; both are codes under 2^31."""
    return (np.int64(node) << np.int64(32)) | np.int64(user)
