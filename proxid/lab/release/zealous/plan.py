"""ZEALOUS's parameters and what they guarantee (003 Theorems 1 and 2, Proposition 4; DESIGN 13).

Two analyses of one algorithm, both for neighbours that replace one user's history, U public and fixed:

- probabilistic (Theorem 2): lambda >= 2m/eps and
  tau' - tau >= max(-lambda ln(2 - 2 e^(-1/lambda)), -lambda ln(2 delta / (U m / tau))).
- indistinguishability (Theorem 1): lambda >= 2m/eps, tau = 1, tau' >= m - lambda ln(2 delta / m). The printed (3) lacks
  the 2 that the paper's Table 1 has. With tau > 1 an item just at tau may vanish with one user, so the bound's m
  becomes max(m, tau).
"""

import math
from dataclasses import dataclass
from typing import Final

from proxid.errors import ConfigError
from proxid.lab.release.guarantee import DeltaKind, Guarantee, Relation, require_epsilon_delta
from proxid.lab.release.noise import LARGEST_SCALE, STEPS, to_grid_up

ANALYSES = ("probabilistic", "indistinguishability")
MOST: Final = 1 << 40
"""Users, and items of one: more than there can be, few enough for exact arithmetic."""


@dataclass(frozen=True, slots=True)
class ZealousPlan:
    """m items a user, noise scale lambda, thresholds tau (before noise) and tau' (after it); their guarantee."""

    m: int
    scale: float
    tau: int
    tau_prime: float
    guarantee: Guarantee

    @property
    def threshold(self) -> int:
        """tau' in grid steps, rounded up."""
        return to_grid_up(self.tau_prime)

    def as_dict(self) -> dict[str, float]:
        """The plan's numbers by the paper's names; the threshold as it is applied."""
        return {"m": self.m, "lambda": self.scale, "tau": self.tau, "tau_prime": self.threshold / STEPS}


def smallest_scale(m: int, epsilon: float) -> float:
    """lambda = 2m/eps (equation 1 and 4): replacing a user changes at most 2m counts by one each."""
    _require_m(m)
    require_epsilon_delta(epsilon, 0.0, zero_delta=True)
    scale = 2 * m / epsilon
    if not 0 < scale <= LARGEST_SCALE:
        raise ConfigError("epsilon is too small (or too large) for this m: noise of that scale cannot be drawn")
    return scale if 2 * m / scale <= epsilon else math.nextafter(scale, math.inf)


def probabilistic_threshold(m: int, epsilon: float, delta: float, users: int, tau: int) -> float:
    """The smallest tau' of Theorem 2 for a given tau."""
    require_epsilon_delta(epsilon, delta)
    _require_users(users)
    _require_tau(tau)
    scale = smallest_scale(m, epsilon)
    hides_tau = -scale * _ln_two_minus(scale)
    rare = -scale * math.log(2 * delta / (users * m / tau))
    return tau + max(0.0, hides_tau, rare)


def indistinguishable_threshold(m: int, epsilon: float, delta: float, tau: int = 1) -> float:
    """The smallest tau' of Theorem 1, with max(m, tau) for m where tau is not 1 (DESIGN 13)."""
    require_epsilon_delta(epsilon, delta)
    scale = smallest_scale(m, epsilon)
    floor = max(m, _require_tau(tau))
    return max(float(tau), tau - scale * _ln_two_minus(scale), floor - scale * math.log(2 * delta / m))


def optimal_tau(m: int, epsilon: float, delta: float, users: int) -> int:
    """tau that minimises tau' of Theorem 2 (Proposition 4): the better neighbour of lambda, both tried."""
    scale = smallest_scale(m, epsilon)
    tries = {max(1, math.floor(scale)), math.ceil(scale)}
    return min(sorted(tries), key=lambda tau: probabilistic_threshold(m, epsilon, delta, users, tau))


def probabilistic_delta(m: int, scale: float, tau: int, tau_prime: float, users: int) -> float:
    """The delta that Theorem 2 gives for thresholds: U m / (2 tau) e^(-(tau' - tau)/lambda), at most 1."""
    exponent = min(0.0, -(tau_prime - tau) / scale)
    return min(1.0, users * m / (2 * tau) * math.exp(exponent))


def indistinguishable_delta(m: int, scale: float, tau_prime: float, tau: int = 1) -> float:
    """The delta that Theorem 1 gives for thresholds: m/2 e^(-(tau' - max(m, tau))/lambda), at most 1."""
    return min(1.0, m / 2 * math.exp(min(0.0, -(tau_prime - max(m, tau)) / scale)))


def zealous_plan(
    analysis: str,
    m: int,
    epsilon: float,
    delta: float,
    users: int,
    tau: int | None = None,
    tau_prime: float | None = None,
) -> ZealousPlan:
    """A plan that holds (epsilon, delta) by one analysis; tau and tau' are the best ones unless given.

    Raises ConfigError when the parameters give no guarantee; the rule says why.
    """
    if analysis == "probabilistic":
        tau = tau or optimal_tau(m, epsilon, delta, users)
        least = probabilistic_threshold(m, epsilon, delta, users, tau)
        kind = DeltaKind.PROBABILISTIC
    elif analysis == "indistinguishability":
        tau = tau or 1
        least = indistinguishable_threshold(m, epsilon, delta, tau)
        kind = DeltaKind.APPROXIMATE
    else:
        raise ConfigError(f"analysis is one of {', '.join(ANALYSES)}")
    if tau_prime is not None and not tau_prime >= least:
        raise ConfigError(
            f"tau_prime {tau_prime:.6g} is below {least:.6g}, the least that gives this epsilon and delta"
        )
    chosen = least if tau_prime is None else tau_prime
    held = Guarantee(epsilon, delta, Relation.REPLACE, kind)
    return ZealousPlan(m, smallest_scale(m, epsilon), tau, chosen, held)


def better_plan(m: int, epsilon: float, delta: float, users: int) -> ZealousPlan:
    """The analysis that publishes more at the same numbers: the lower tau', both being approximate guarantees."""
    plans = [zealous_plan(analysis, m, epsilon, delta, users) for analysis in ANALYSES]
    return min(plans, key=lambda plan: plan.tau_prime)


def _ln_two_minus(scale: float) -> float:
    """ln(2 - 2 e^(-1/scale))."""
    return math.log(-2 * math.expm1(-1 / scale))


def _require_m(m: int) -> None:
    if m < 1:
        raise ConfigError("m is at least 1: nobody would contribute")
    if m > MOST:
        raise ConfigError(f"m is at most {MOST}")


def _require_tau(tau: int) -> int:
    if tau < 1:
        raise ConfigError("tau is at least 1: at 0 absent items would have to be published too")
    return tau


def _require_users(users: int) -> None:
    if not 1 <= users <= MOST:
        raise ConfigError(f"users, the public number of users, is between 1 and {MOST}")
