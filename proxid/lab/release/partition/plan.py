"""Frequent items by partition selection: noise scale and threshold for (epsilon, delta) (DESIGN 13).

Neighbours replace one user. The mechanism: count the users of each item (at most m distinct items a user), add noise to
the items that occur, publish those over a threshold T with their noisy counts. Two noises:

- gaussian. Let the replaced user's old history hold `a` items that nobody else has, the new one `b`. Outputs that show
  one of the `a` have probability 1 - Phi((T-1)/s)^a; missing the `b` costs a factor Phi((T-1)/s)^-b; the other items'
  counts differ by at most sqrt(2m - a - b) in L2 (not 2 sqrt(m): old and new history are two disjoint 0/1 vectors at
  worst), a Gaussian mechanism with its exact privacy profile (Balle & Wang 2018). So
  delta >= max over a, b <= m of Phi^a profile(sqrt(2m - a - b)/s, epsilon + b ln Phi) + 1 - Phi^a.
  s and T are the pair with the smallest T for which that holds.
- laplace. s = 2m/epsilon and T = 1 - s ln(2 delta/m): ZEALOUS with tau = 1, without the m - 1 of its printed bound (an
  item that only one user has, has count 1). Better than gaussian for m = 1 and small delta.

Thresholded Gaussian histograms: Wilson et al. 2020, Gopi et al. 2020 ("Differentially private set union").
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Final

import numpy as np
from scipy import special

from proxid.errors import ConfigError
from proxid.lab.logs.jit import Reals
from proxid.lab.release.guarantee import Guarantee, Relation, require_epsilon_delta
from proxid.lab.release.noise import STEPS, to_grid_up
from proxid.lab.release.zealous.plan import indistinguishable_threshold, smallest_scale

MOST_ITEMS: Final = 200
"""Items of a user that a plan is searched for: the bound is a maximum over m² cases, some thousand times."""
NOISES: Final = ("auto", "gaussian", "laplace")
GRID_SLACK: Final = 1e-6
"""Share of delta kept back for the grid: the discrete Gaussian's profile differs from the continuous one's by less."""
_WIDEST: Final = 1e9
"""Largest standard deviation looked for."""
_MOST_NOISE: Final = 1.25
"""Largest scale tried, as a multiple of the least that hides the counts."""


@dataclass(frozen=True, slots=True)
class PartitionPlan:
    """m items a user, the noise and its scale (standard deviation for gaussian), threshold T, and the guarantee."""

    m: int
    noise: str
    scale: float
    t: float
    guarantee: Guarantee

    @property
    def threshold(self) -> int:
        """T in grid steps, rounded up."""
        return to_grid_up(self.t)

    def as_dict(self) -> dict[str, float | str]:
        """The plan's numbers; the threshold as it is applied."""
        return {"m": self.m, "noise": self.noise, "scale": self.scale, "threshold": self.threshold / STEPS}


def partition_plan(m: int, epsilon: float, delta: float, noise: str = "auto") -> PartitionPlan:
    """The plan for (epsilon, delta), approximate, replacing one user; auto takes the noise with the lower threshold.

    Raises ConfigError when the parameters give no guarantee; the rule says why.
    """
    require_epsilon_delta(epsilon, delta)
    if not 1 <= m <= MOST_ITEMS:
        raise ConfigError(f"m is between 1 and {MOST_ITEMS}: the bound is a maximum over m² cases, and takes for ever")
    held = Guarantee(epsilon, delta, Relation.REPLACE)
    if noise not in NOISES:
        raise ConfigError(f"noise is one of {', '.join(NOISES)}")
    plans = []
    if noise != "gaussian":
        t = laplace_threshold(m, epsilon, delta)
        plans.append(PartitionPlan(m, "laplace", smallest_scale(m, epsilon), t, held))
    if noise != "laplace":
        scale, t = gaussian_scale_and_threshold(m, epsilon, delta * (1 - GRID_SLACK))
        plans.append(PartitionPlan(m, "gaussian", scale, t, held))
    best = min(plans, key=lambda plan: plan.t)
    if not math.isfinite(best.t):
        raise ConfigError("epsilon and delta are too small for gaussian noise: no threshold would hold them")
    return best


def laplace_threshold(m: int, epsilon: float, delta: float) -> float:
    """T for Laplace noise of scale 2m/epsilon: one user's own items pass with m/2 e^(-(T-1)/s) <= delta at most."""
    return indistinguishable_threshold(m, epsilon, delta) - (m - 1)


@lru_cache(maxsize=256)
def gaussian_scale_and_threshold(m: int, epsilon: float, delta: float) -> tuple[float, float]:
    """The standard deviation and threshold with the smallest threshold that this module's bound allows."""
    if gaussian_profile(math.sqrt(2 * m) / _WIDEST, epsilon) > delta:
        return _WIDEST, math.inf
    least = _bisect(lambda s: gaussian_profile(math.sqrt(2 * m) / s, epsilon) <= delta, 1e-3, _WIDEST)
    low, high = 1 + 1e-9, _MOST_NOISE
    for _ in range(14):  # the threshold falls and then rises with the scale
        left, right = low + (high - low) / 3, high - (high - low) / 3
        better_left = threshold_for(m, epsilon, delta, least * left) < threshold_for(m, epsilon, delta, least * right)
        low, high = (low, right) if better_left else (left, high)  # no threshold at all: more noise is needed
    return least * high, threshold_for(m, epsilon, delta, least * high)


def threshold_for(m: int, epsilon: float, delta: float, scale: float) -> float:
    """The smallest threshold for a standard deviation; infinite when there is none."""
    top = 1 + 40 * scale
    if not _enough(m, epsilon, scale, delta, top):
        return math.inf
    return _bisect(partial(_enough, m, epsilon, scale, delta), 1.0, top)


def _enough(m: int, epsilon: float, scale: float, delta: float, t: float) -> bool:
    return gaussian_delta(m, epsilon, scale, t) <= delta


def gaussian_delta(m: int, epsilon: float, scale: float, t: float) -> float:
    """The delta of thresholded Gaussian counts: the maximum over a, b of this module's docstring."""
    tail = _upper_tail((t - 1) / scale)
    ln_stay = math.log1p(-tail) if tail < 1 else -math.inf
    alone = np.arange(m + 1, dtype=np.float64)
    stay, shown = np.exp(alone * ln_stay), -np.expm1(alone * ln_stay)
    mu = np.sqrt(2 * m - alone[:, None] - alone[None, :]) / scale
    profile = _profiles(mu, epsilon + alone[None, :] * ln_stay)
    return float((stay[:, None] * profile + shown[:, None]).max())


def _profiles(mu: Reals, epsilon: Reals) -> Reals:
    """`gaussian_profile` of many pairs at once."""
    epsilon = np.broadcast_to(epsilon, mu.shape)
    grown = np.exp(np.minimum(epsilon, 700.0))
    safe = np.where(mu > 0, mu, 1.0)
    near, far = (0.5 * special.erfc((epsilon / safe + side * safe / 2) / math.sqrt(2)) for side in (-1, 1))
    found: Reals = np.where(mu > 0, np.maximum(0.0, near - grown * far), np.maximum(0.0, 1 - grown))
    return found


def gaussian_profile(mu: float, epsilon: float) -> float:
    """delta(epsilon) of a Gaussian mechanism, mu = sensitivity / standard deviation (Balle & Wang 2018, Theorem 8)."""
    if mu == 0:
        return max(0.0, -math.expm1(min(epsilon, 700.0)))
    far = epsilon / mu + mu / 2
    return max(0.0, _upper_tail(epsilon / mu - mu / 2) - math.exp(min(epsilon, 700.0)) * _upper_tail(far))


def _upper_tail(z: float) -> float:
    """1 - Phi(z), accurate far out."""
    return 0.5 * math.erfc(z / math.sqrt(2))


def _bisect(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The smallest x, to 1e-9 of itself and from above, at which a monotone condition holds; it holds at `high`."""
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if holds(middle) else (middle, high)
        if high - low <= 1e-9 * high:
            break
    return high
