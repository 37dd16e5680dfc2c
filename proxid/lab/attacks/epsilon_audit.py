"""A statistical audit of (epsilon, delta): a lower bound on the epsilon that a mechanism really has (DESIGN 13).

The mechanism runs on two neighbouring logs S and S'. An event is chosen on some runs and counted on fresh ones, so
that the choice does not bias the count; with p its chance under S and q under S', epsilon >= ln((p - delta)/q), and
with one-sided Clopper-Pearson limits ln((p_low - delta)/q_high) exceeds the true epsilon with probability 2 alpha at
most. Such an audit proves nothing; it has power where epsilon <= 1 and delta >= 0.01, and finds mistakes.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]
Run = Callable[[int], Values]
"""Runs a mechanism n times: an (n, items) array of published counts, NaN where an item was not published."""

ALPHA: Final = 1e-4
_QUANTILES: Final = 64


def clopper_pearson(hits: int, runs: int, alpha: float = ALPHA) -> tuple[float, float]:
    """One-sided limits of a chance: each is passed with probability alpha at most."""
    low = 0.0 if hits == 0 else _beta_quantile(alpha, hits, runs - hits + 1)
    high = 1.0 if hits == runs else _beta_quantile(1 - alpha, hits + 1, runs - hits)
    return low, high


def epsilon_bound(hits: int, hits_prime: int, runs: int, delta: float, alpha: float = ALPHA) -> float:
    """ln((p_low - delta)/q_high); minus infinity when the event shows nothing beyond delta."""
    low, _ = clopper_pearson(hits, runs, alpha)
    _, high = clopper_pearson(hits_prime, runs, alpha)
    return math.log((low - delta) / high) if low > delta else -math.inf


@dataclass(frozen=True, slots=True)
class Direction:
    """Where items differ: `higher` are positions with a larger count under S, `lower` under S'; counts under S."""

    higher: npt.NDArray[np.int64]
    lower: npt.NDArray[np.int64]
    counts: Values

    def swapped(self, counts_prime: Values) -> "Direction":
        """The same difference seen from S'."""
        return Direction(self.lower, self.higher, counts_prime)


def statistics(values: Values, difference: Direction, floor: float) -> dict[str, Values]:
    """What may tell S from S', larger under S: published items, the sum of counts, all items to one side at once."""
    seen = ~np.isnan(values)
    filled = np.where(seen, values, floor)
    up, down = filled[:, difference.higher], filled[:, difference.lower]
    sides = np.concatenate(
        [up - difference.counts[difference.higher], difference.counts[difference.lower] - down], axis=1
    )
    shown = seen[:, difference.higher].sum(axis=1) - seen[:, difference.lower].sum(axis=1)
    return {"shown": shown.astype(float), "sum": up.sum(axis=1) - down.sum(axis=1), "joint": sides.min(axis=1)}


@dataclass(frozen=True, slots=True)
class Event:
    """A statistic is at least `at_least`."""

    statistic: str
    at_least: float

    def hits(self, found: dict[str, Values]) -> int:
        """In how many runs the event happened."""
        return int((found[self.statistic] >= self.at_least).sum())


def choose_event(found: dict[str, Values], found_prime: dict[str, Values], delta: float) -> Event:
    """The event with the largest bound on these runs, over quantiles of every statistic."""
    runs = len(next(iter(found.values())))
    best, chosen = -math.inf, Event("shown", math.inf)
    for name, values in found.items():
        for cut in np.unique(np.quantile(values, np.linspace(0, 1, _QUANTILES), method="nearest")).tolist():
            event = Event(name, cut)
            bound = epsilon_bound(event.hits(found), event.hits(found_prime), runs, delta)
            if bound > best:
                best, chosen = bound, event
    return chosen


def audited_epsilon(run: Run, run_prime: Run, difference: Direction, delta: float, runs: int, floor: float) -> float:
    """The lower bound on epsilon for S against S': event chosen on `runs` runs of each, counted on as many fresh ones.

    floor: the value an item that is not published stands for, below every published one.
    """

    def both() -> tuple[dict[str, Values], dict[str, Values]]:
        return statistics(run(runs), difference, floor), statistics(run_prime(runs), difference, floor)

    event = choose_event(*both(), delta)
    found, found_prime = both()
    return epsilon_bound(event.hits(found), event.hits(found_prime), runs, delta)


def _beta_quantile(chance: float, a: float, b: float) -> float:
    low, high = 0.0, 1.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _incomplete_beta(middle, a, b) < chance else (low, middle)
    return (low + high) / 2


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function by its continued fraction (modified Lentz)."""
    if not 0 < x < 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(1 - x, b, a)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    c, d = 1.0, 1 / _nonzero(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d, c = 1 / _nonzero(1 + term * d), _nonzero(1 + term / c)
            value *= d * c
        if abs(d * c - 1) < 1e-14:
            break
    return front * value / a


def _nonzero(value: float) -> float:
    return value if abs(value) > 1e-300 else 1e-300
