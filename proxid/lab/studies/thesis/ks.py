"""The Kolmogorov-Smirnov test of 002 §4.4.3, for the reproduction of figure 4.7 (not as evidence).

The thesis compares two cumulative distributions: the record linkage rates it measured and 1/k. It prints D = 0.08 and
p = 0.9977, which is the exact p-value of two samples of 50 points each. That test asks whether the *set* of rates looks
like the *set* of values 1/k; it says nothing about any single k, and accepts rates that are over 1/k at every one.
"""

from collections.abc import Sequence
from math import floor

import numpy as np


def ks_distance(first: Sequence[float], second: Sequence[float]) -> float:
    """The largest difference of the two empirical distribution functions."""
    a, b = np.sort(np.asarray(first, float)), np.sort(np.asarray(second, float))
    points = np.concatenate([a, b])
    steps = [np.searchsorted(side, points, "right") / len(side) for side in (a, b)]
    return float(np.abs(steps[0] - steps[1]).max())


def ks_p_value(distance: float, size: int) -> float:
    """Exact two-sided p-value of two samples of `size` points without ties (Gnedenko and Korolyuk 1951).

    With D = j/n, P(D ≥ j/n) = 2 Σ_{i≥1} (-1)^{i+1} C(2n, n - i·j) / C(2n, n).
    """
    step = floor(distance * size + 0.5)
    if step <= 0:
        return 1.0
    ratio, total, term = 1.0, 0.0, 0
    for i in range(1, size // step + 1):
        while term < i * step:
            ratio *= (size - term) / (size + term + 1)
            term += 1
        total += (1 if i % 2 else -1) * ratio
    return min(1.0, 2 * total)
