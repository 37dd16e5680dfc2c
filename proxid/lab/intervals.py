"""Confidence intervals of rates whose records depend on each other (DESIGN 14).

Records that left together are dependent: one permutation decides all of them. The interval treats the cluster, not the
record, as the unit (linearised variance of a ratio of sums). For groups permuted by a uniform n-cycle the variance
under the theorem of DESIGN 8.4 is known exactly, which gives a test that needs no estimate.
"""

from dataclasses import dataclass
from math import erfc, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
from scipy import stats

from proxid.lab.logs.jit import Flags, Longs


@dataclass(frozen=True, slots=True)
class Rate:
    """A share with its 95 % interval, the records and the clusters it comes from."""

    value: float
    low: float
    high: float
    records: int
    clusters: int

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "value": self.value,
            "ci95": [self.low, self.high],
            "records": self.records,
            "clusters": self.clusters,
        }


def student_quantile(probability: float, freedom: int) -> float:
    """Quantile of Student's t: two clusters leave one degree of freedom, and 12.7 deviations to either side."""
    return float(stats.t.ppf(probability, freedom))


def clustered_rate(hits: Flags, cluster: Longs, *, confidence: float = 0.95) -> Rate:
    """The share of hits and its interval; clusters are small numbers from 0. NaN without records.

    With one cluster nothing is known about its spread: the interval is [0, 1].
    """
    if not len(hits):
        return Rate(float("nan"), 0.0, 1.0, 0, 0)
    size, total = np.bincount(cluster).astype(float), np.bincount(cluster, weights=hits)
    size, total = size[size > 0], total[size > 0]
    value, clusters = float(total.sum() / size.sum()), len(size)
    if clusters < 2:
        return Rate(value, 0.0, 1.0, len(hits), clusters)
    spread = float(((total - value * size) ** 2).sum()) * clusters / (clusters - 1)
    half = student_quantile(0.5 + confidence / 2, clusters - 1) * sqrt(spread) / float(size.sum())
    return Rate(value, max(0.0, value - half), min(1.0, value + half), len(hits), clusters)


def cycle_variance(size: Longs, guesses: Longs) -> Any:
    """Variance of the hits in groups of `size` when `guesses` records of each are guessed, under a uniform n-cycle.

    A guess is right with probability 1/(n-1). Two guesses of a group are right together with 1/((n-1)(n-2)) if their
    arcs fit on a cycle and never otherwise, so the value is an upper bound that fitting arcs attain. In a group of two
    there is one cycle: nothing is random.
    """
    n, s = size.astype(float), guesses.astype(float)
    p = 1 / np.maximum(n - 1, 1)
    pairs = s * (s - 1) * p / np.maximum(n - 2, 1)
    return np.where(n > 2, np.maximum(s * p + pairs - (s * p) ** 2, 0.0), 0.0)


ALPHA = 0.01
"""Chance that any of all the tests of a report says `different` though the theorem holds."""


@dataclass(frozen=True, slots=True)
class CycleTest:
    """Hits of one attacker on groups against what a uniform n-cycle gives, corrected for the number of cells.

    bound: half-width of the two-sided interval of the rate at level alpha / cells. margin: the smallest difference
    from `expected` that the interval rules out, as a share of it. verdict: `equal` (margin at most the one declared),
    `undecided` (too few records for it), `different` (the interval leaves the expected rate out).
    """

    rate: float
    expected: float
    bound: float
    z: float
    p_value: float
    margin: float
    verdict: str
    records: int
    groups: int

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


def cycle_test(
    hits: Flags, group: Longs, size: Longs, *, cells: int = 1, alpha: float = ALPHA, margin: float = 0.1
) -> CycleTest | None:
    """Test guesses inside groups; a record each: hit or not, its group, the group's size. None without records."""
    if not len(hits):
        return None
    guesses, sizes = np.bincount(group), np.zeros(int(group.max()) + 1, np.int64)
    sizes[group] = size
    guesses, sizes = guesses[guesses > 0], sizes[guesses > 0]
    expected = float((guesses / np.maximum(sizes - 1, 1)).sum())
    deviation = sqrt(float(cycle_variance(sizes, guesses).sum()))
    count = len(hits)
    z = (float(hits.sum()) - expected) / deviation if deviation else 0.0
    limit = NormalDist().inv_cdf(1 - alpha / cells / 2)
    rate, center = float(hits.mean()), expected / count
    bound = limit * deviation / count
    reach = (abs(rate - center) + bound) / center
    verdict = "different" if abs(z) > limit else "equal" if reach <= margin else "undecided"
    return CycleTest(rate, center, bound, z, erfc(abs(z) / sqrt(2)), reach, verdict, count, len(guesses))
