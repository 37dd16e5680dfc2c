"""Noisy counts over a threshold (003 steps 4 and 5; 004 step 4): exact, and quick when nearly all items stay below.

An item far below the threshold passes rarely. Items with equal counts pass independently with one probability p, so
the gap to the next one that passes is geometric; and a Laplace draw over its threshold exceeds it by a geometric
amount (no memory). Both are drawn from the same samplers: the published distribution is that of one draw an item.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from proxid.lab.release.noise import LARGEST_SCALE, STEPS, Noise, Steps, geometric, laplace_tail

RARE: Final = 0.02
"""Below this chance to pass, items are skipped by gaps instead of drawn one by one."""
RAREST: Final = 1.0 / LARGEST_SCALE
"""Below this one, gaps outgrow the samplers' largest scale; such items are drawn one by one."""

Index = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Kept:
    """Items over the threshold: their positions, ascending, and their noisy counts in grid steps."""

    index: Index
    steps: Steps


def laplace_over(counts: Steps, threshold: int, scale: float, noise: Noise) -> Kept:
    """Which counts exceed a threshold after Laplace noise, and by what noisy count.

    counts: whole numbers. threshold: grid steps. scale: of the noise, in counts.
    """
    by_one: list[Index] = []
    kept: list[Kept] = []
    for count, members in _by_count(counts, threshold):
        if count is None:
            by_one.append(members)
            continue
        missing = threshold - count * STEPS
        chance = laplace_tail(missing, scale * STEPS) if missing >= 0 else 1.0
        if RAREST < chance < RARE:
            kept.append(_rare(members, threshold, chance, scale, noise))
        else:
            by_one.append(members)
    kept.append(_each(counts, np.concatenate([np.empty(0, np.int64), *by_one]), threshold, scale, noise))
    index = np.concatenate([part.index for part in kept])
    order = np.argsort(index)
    return Kept(index[order], np.concatenate([part.steps for part in kept])[order])


def gaussian_over(counts: Steps, threshold: int, scale: float, noise: Noise) -> Kept:
    """Like `laplace_over` with Gaussian noise of that standard deviation, one draw an item."""
    noisy = counts * STEPS + noise.gaussian(len(counts), scale * STEPS)
    index = np.flatnonzero(noisy > threshold)
    return Kept(index, noisy[index])


def _by_count(counts: Steps, threshold: int) -> Iterator[tuple[int | None, Index]]:
    """Positions of items that share a count below the threshold; the others together, under None."""
    yield None, np.flatnonzero(counts * STEPS >= threshold)
    low = np.flatnonzero(counts * STEPS < threshold)
    if not len(low):
        return
    order = low[np.argsort(counts[low], kind="stable")]
    values, starts = np.unique(counts[order], return_index=True)
    yield from zip(values.tolist(), np.split(order, starts[1:]), strict=True)


def _rare(members: Index, threshold: int, chance: float, scale: float, noise: Noise) -> Kept:
    gap_scale = -1.0 / np.log1p(-chance)
    last, size, found = -1, len(members), [np.empty(0, np.int64)]
    while last < size:
        want = int((size - last) * chance * 1.2) + 4
        gaps = np.minimum(geometric(want, gap_scale, noise), size)
        at = last + np.cumsum(gaps + 1)
        found.append(at[at < size])
        last = int(at[-1])
    passed = members[np.concatenate(found)]
    return Kept(passed, threshold + 1 + geometric(len(passed), scale * STEPS, noise))


def _each(counts: Steps, members: Index, threshold: int, scale: float, noise: Noise) -> Kept:
    noisy = counts[members] * STEPS + noise.laplace(len(members), scale * STEPS)
    over = noisy > threshold
    return Kept(members[over], noisy[over])
