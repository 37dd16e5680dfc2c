"""The random n-cycle of a group, expanded from the epoch seed (DESIGN 8.4, 8.4.1).

Who is published with whose record is a pure function of (seed, group number, number of members), so a crash between
forming a group and releasing it repeats the draw, and the auditor recomputes it from the committed seed.

    stream = SHAKE-256(E("proxid/v1/cycle", seed, group)) as big-endian u32 words, as many as are needed

A word w gives w mod b, exactly uniform below b, unless w ≥ 2³² − (2³² mod b): such a word is skipped. Numbers below
1, 2, …, n − 1 make the cycle, numbers below 2, 3, …, n after them the order in which the pairs are shown.
"""

import hashlib
import struct
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from operator import mod
from typing import Any

import numpy as np
import numpy.typing as npt

from proxid.encoding import encode, label
from proxid.errors import InputError

CYCLE_LABEL = label("cycle")
SEED_LABEL = label("seed")
SEED_BYTES = 32

_U64 = struct.Struct(">Q")
_SPAN = 1 << 32
_LARGE = b"\xff\xff"
_SHORT = 1 << 16
_WIDE = 40
"""Members from which on arrays are faster."""


class CycleSource:
    """Cycles and orders of one epoch seed; keeps a hash state of the seed, so drop it with the seed."""

    def __init__(self, seed: bytes) -> None:
        """Raises InputError unless the seed has 32 bytes."""
        self._state = hashlib.shake_256(encode(CYCLE_LABEL, _seed(seed), 0)[: -_U64.size])

    def draw(self, group: int, n: int) -> tuple[list[int], list[int]]:
        """A uniformly random n-cycle and, independent of it, a uniformly random order of n pairs.

        Record i is published under member cycle[i]; pair order[0] is shown first.

        Raises:
            InputError: fewer than two members, which no cycle can hide.
        """
        for_cycle, for_order = self.numbers(group, n)
        cycle, order = list(range(n)), list(range(n))
        swap(cycle, for_cycle)
        swap(order, for_order)
        return cycle, order

    def numbers(self, group: int, n: int) -> tuple[list[int], list[int]]:
        """Uniform numbers below 1, …, n − 1, and below 2, …, n: with `swap`, a cycle and an order.

        Raises:
            InputError: fewer than two members.
        """
        if n < 2:
            raise InputError("a cycle needs at least two members")
        state = self._state.copy()
        state.update(_U64.pack(group))
        numbers = _numbers_if_no_word_is_skipped(state.digest(8 * (n - 1)), n)
        if numbers is None:
            numbers = numbers_from(_words(state.digest), (*range(1, n), *range(2, n + 1)))
        return numbers[: n - 1], numbers[n - 1 :]


def numbers_from(words: Iterator[int], bounds: Sequence[int], span: int = _SPAN) -> list[int]:
    """One uniform number below each bound, from uniform words below `span`; words that would bias it are skipped."""
    return [next(w for w in words if w < span - span % bound) % bound for bound in bounds]


def swap(items: list[Any], numbers: list[int]) -> None:
    """Permute in place: for i = 1, …, n − 1 exchange items i and j, j being the next number.

    Uniform j < i insert i at a random place of a cycle: a uniformly random n-cycle (Sattolo 1986). Uniform j ≤ i
    give a uniformly random order (Fisher and Yates).
    """
    for i, j in enumerate(numbers, 1):
        items[i], items[j] = items[j], items[i]


def group_cycle(seed: bytes, group: int, n: int) -> tuple[int, ...]:
    """The n-cycle of group number `group` under a 32-byte epoch seed; see `CycleSource.draw`."""
    return tuple(CycleSource(seed).draw(group, n)[0])


def show_order(seed: bytes, group: int, n: int) -> tuple[int, ...]:
    """The order in which a group's n pairs are shown; see `CycleSource.draw`."""
    return tuple(CycleSource(seed).draw(group, n)[1])


def seed_commitment(seed: bytes, epoch: int, ms: str) -> bytes:
    """What the Main Service `ms` commits to before an epoch: SHA-256(E("proxid/v1/seed", ms, epoch, seed))."""
    return hashlib.sha256(encode(SEED_LABEL, ms, epoch, _seed(seed))).digest()


def _seed(seed: bytes) -> bytes:
    if len(seed) != SEED_BYTES:
        raise InputError("an epoch seed has 32 bytes")
    return seed


def _numbers_if_no_word_is_skipped(output: bytes, n: int) -> list[int] | None:
    """What `numbers_from` makes of the words, much faster; None if one is so large that a bound may skip it."""
    # Such a word begins with two bytes 255 (n up to 65,536), which is quicker to look for and rare.
    suspicious = n > _SHORT or _LARGE in output
    if n < _WIDE:
        bounds, unpack = _plan(n)
        words = unpack(output)
        return None if suspicious and max(words) >= _SPAN - n else list(map(mod, words, bounds))
    many = np.frombuffer(output, ">u4")
    return None if suspicious and many.max() >= _SPAN - n else (many % _divisors(n)).tolist()


@lru_cache(maxsize=_WIDE)
def _plan(n: int) -> tuple[tuple[int, ...], Any]:
    """The bounds of the numbers that n members need, and the unpacker of as many words."""
    bounds = (*range(1, n), *range(2, n + 1))
    return bounds, struct.Struct(f">{len(bounds)}I").unpack


@lru_cache(maxsize=64)
def _divisors(n: int) -> npt.NDArray[np.uint32]:
    return np.array((*range(1, n), *range(2, n + 1)), np.uint32)


def _words(digest: Callable[[int], bytes]) -> Iterator[int]:
    """The words of a stream, without end: a longer output of an XOF begins with the shorter one."""
    size, done = 1024, 0
    while True:
        output = digest(size)
        for at in range(done, size, 4):
            yield int.from_bytes(output[at : at + 4], "big")
        size, done = 2 * size, size
