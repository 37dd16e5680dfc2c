"""The exponential mechanism (McSherry & Talwar 2007; 000 eq. 2) with integer weights.

Pr(o) ∝ exp(ε′·q(o) / (2Δ)). Floating-point sampling would give probabilities near these and a guarantee near ε′;
here every candidate's weight is an integer, a draw is one uniform integer below their sum, and so the table that is
tested is the table that is sampled. The least weight is 2^46·e^(−ε′/2), rounded by at most 1/2, and exp itself errs by
less than one part in 2^50: a weight changes by a factor within 1 ± ρ, ρ = 2^-46·e^(ε′/2), and a ratio of two
probabilities by at most (1+ρ)²/(1−ρ)² < e^(5ρ). The weights are made for ε′ − 5ρ, so that ε′ holds exactly.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from proxid.errors import ConfigError
from proxid.lab.release.semantic.quality import QualityTable

WEIGHT_BITS = 46
"""Weight of the best candidate: 2^46, so that 82,192 candidates (all of WordNet) still sum to less than 2^63."""
MAX_EPSILON = 40.0
MIN_EPSILON = 1e-9

_CELLS = 2_000_000
"""Draws times classes looked at together: bounds the memory of a call."""

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
RandomBytes = Callable[[int], bytes]
"""Source of randomness: `os.urandom` for a release, a seeded generator's bytes for a test."""


def check_epsilon(epsilon: float) -> None:
    """Raises ConfigError for a per-query ε at which the integer weights could not keep the guarantee."""
    if not MIN_EPSILON <= epsilon <= MAX_EPSILON:
        raise ConfigError(f"epsilon of one query is between {MIN_EPSILON:g} and {MAX_EPSILON:g}")


def weights(table: QualityTable, epsilon: Reals) -> Ints:
    """Integer weight of one candidate of each class, a row for each ε (epsilons × classes). Raises ConfigError."""
    for bound in (epsilon.min(), epsilon.max()):
        check_epsilon(float(bound))
    rounding = np.exp(epsilon / 2) * 2.0**-WEIGHT_BITS
    exponent = (table.quality - table.quality[0]) / (2 * table.sensitivity)  # the best quality comes first
    result: Ints = np.rint(np.exp(np.outer(epsilon - 5 * rounding, exponent)) * 2.0**WEIGHT_BITS).astype(np.int64)
    return result


def probabilities(table: QualityTable, epsilon: float) -> Reals:
    """Probability of every candidate of the domain: the sampled distribution itself."""
    weight = weights(table, np.array([epsilon]))[0]
    result = np.empty(len(table.members))
    result[table.members] = np.repeat(weight, table.sizes) / int(weight @ table.sizes)
    return result


def draw(table: QualityTable, epsilon: Reals, random: RandomBytes) -> Ints:
    """One output (domain number) for each ε, independently, all for the same input."""
    step = max(1, _CELLS // len(table.quality))
    parts = [_draw(table, epsilon[i : i + step], random) for i in range(0, len(epsilon), step)]
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, np.int64), *parts])


def _draw(table: QualityTable, epsilon: Reals, random: RandomBytes) -> Ints:
    distinct, row = np.unique(epsilon, return_inverse=True)
    weight = weights(table, distinct)
    edge = np.cumsum(weight * table.sizes, axis=1)
    point = uniform_below(edge[row, -1], random)
    group = (edge[row] <= point[:, None]).sum(1)
    below = edge[row, group] - weight[row, group] * table.sizes[group]
    chosen: Ints = table.members[table.start[group] + (point - below) // weight[row, group]]
    return chosen


def uniform_below(limit: Ints, random: RandomBytes) -> Ints:
    """A uniform integer in [0, l) for each limit l, 0 < l < 2^63, by rejection: no modulo bias."""
    result = np.empty(len(limit), np.int64)
    mask = (np.uint64(1) << _bits(limit - 1)) - np.uint64(1)
    missing = np.arange(len(limit))
    while len(missing):
        bits = (np.frombuffer(random(8 * len(missing)), np.uint64) & mask[missing]).astype(np.int64)
        good = bits < limit[missing]
        result[missing[good]] = bits[good]
        missing = missing[~good]
    return result


def _bits(number: Ints) -> npt.NDArray[np.uint64]:
    """Bits that hold each number; one more where it rounds up to a power of two, but never the sign bit."""
    return np.minimum(np.frexp(number.astype(np.float64))[1], 63).astype(np.uint64)
