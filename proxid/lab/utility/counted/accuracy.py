"""Inaccuracy of a release of frequent items (003 Definitions 5 and 6, Theorem 3).

Items of more than τ* + ξ users are very frequent, those of fewer than τ* − ξ very infrequent; the slack ξ leaves out
the ones between. An algorithm's inaccuracy is the expected number of very frequent items that it misses and of very
infrequent ones that it publishes; it is c-accurate if it publishes every very frequent item with probability c or more.
"""

import math
from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Wrong:
    """Of one run: very frequent items, those of them that were missed, very infrequent ones that were published."""

    frequent: int
    missed: int
    published: int

    @property
    def inaccuracy(self) -> int:
        """What Definition 5 takes the expectation of."""
        return self.missed + self.published


def wrong(counts: Mapping[Any, float], released: Collection[Hashable], threshold: float, slack: float) -> Wrong:
    """Compare one release with the counts of the log. threshold: τ*. slack: ξ, in users."""
    frequent = {item for item, count in counts.items() if count > threshold + slack}
    infrequent = sum(counts.get(item, 0.0) < threshold - slack for item in released)
    return Wrong(len(frequent), len(frequent - set(released)), infrequent)


def accuracy_of_zealous(slack: float, scale: float) -> float:
    """c of Theorem 3: the chance that an item of ξ users over τ′ is published under noise of scale λ.

    The theorem names items of τ* + ξ users, at its τ′ = τ* + ξ; those are published every other time. What its proof
    bounds, and this is, is the chance of items of τ′ + ξ.
    """
    return 1 - math.exp(-slack / scale) / 2
