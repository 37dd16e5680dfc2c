"""The random n-cycle of a group, expanded from the epoch seed (DESIGN 8.4, 8.4.1).

Who is published with whose record is a pure function of (seed, group number, number of members), so a crash between
forming a group and releasing it repeats the draw, and the auditor recomputes it from the committed seed.

    block_i = SHA-512(E(label, seed, group, i)),   i = 0, 1, …      read as sixteen big-endian u32 words

A word w gives a number below b, exactly uniform, unless w ≥ 2³² − (2³² mod b): then the next word is taken.
"""

import hashlib
import struct
from collections.abc import Iterator

from proxid.encoding import encode, label
from proxid.errors import InputError

CYCLE_LABEL = label("cycle")
ORDER_LABEL = label("order")
SEED_LABEL = label("seed")
SEED_BYTES = 32

_TAIL = struct.Struct(">IQIQ")
_WORDS = struct.Struct(">16I")
_SPAN = 1 << 32


class CycleSource:
    """Cycles and orders of one epoch seed; keeps hash states of the seed, so drop it with the seed."""

    def __init__(self, seed: bytes) -> None:
        """Raises InputError unless the seed has 32 bytes."""
        if len(seed) != SEED_BYTES:
            raise InputError("an epoch seed has 32 bytes")
        self._cycle = hashlib.sha512(encode(CYCLE_LABEL, seed, 0, 0)[: -_TAIL.size])
        self._order = hashlib.sha512(encode(ORDER_LABEL, seed, 0, 0)[: -_TAIL.size])

    def cycle(self, group: int, n: int) -> tuple[int, ...]:
        """A uniformly random n-cycle (Sattolo 1986): record i is published under member cycle[i].

        Raises:
            InputError: fewer than two members, which no cycle can hide.
        """
        if n < 2:
            raise InputError("a cycle needs at least two members")
        words = _words(self._cycle, group)
        cycle = list(range(n))
        for i in range(n - 1, 0, -1):
            j = _below(words, i)
            cycle[i], cycle[j] = cycle[j], cycle[i]
        return tuple(cycle)

    def order(self, group: int, n: int) -> tuple[int, ...]:
        """A uniformly random order of n pairs (Fisher and Yates): pair order[0] is shown first."""
        words = _words(self._order, group)
        order = list(range(n))
        for i in range(n - 1, 0, -1):
            j = _below(words, i + 1)
            order[i], order[j] = order[j], order[i]
        return tuple(order)


def group_cycle(seed: bytes, group: int, n: int) -> tuple[int, ...]:
    """The n-cycle of group number `group` under a 32-byte epoch seed; see `CycleSource.cycle`."""
    return CycleSource(seed).cycle(group, n)


def show_order(seed: bytes, group: int, n: int) -> tuple[int, ...]:
    """The order in which a group's n pairs are shown; see `CycleSource.order`."""
    return CycleSource(seed).order(group, n)


def seed_commitment(seed: bytes, epoch: int, ms: str) -> bytes:
    """What the Main Service `ms` commits to before an epoch: SHA-256(E("seed", ms, epoch, seed))."""
    if len(seed) != SEED_BYTES:
        raise InputError("an epoch seed has 32 bytes")
    return hashlib.sha256(encode(SEED_LABEL, ms, epoch, seed)).digest()


def _words(state: "hashlib._Hash", group: int) -> Iterator[int]:
    counter = 0
    while True:
        block = state.copy()
        block.update(_TAIL.pack(8, group, 8, counter))
        yield from _WORDS.unpack(block.digest())
        counter += 1


def _below(words: Iterator[int], bound: int) -> int:
    limit = _SPAN - _SPAN % bound
    for word in words:
        if word < limit:
            return word % bound
    raise AssertionError("the stream of words does not end")
