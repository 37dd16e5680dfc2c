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

from proxid.anonymise.release.semantic.quality import QualityTable
from proxid.errors import ConfigError

WEIGHT_BITS = 46
"""Weight of the best candidate: 2^46, so that 2^17 candidates (all of WordNet) still sum to an int64."""
MAX_EPSILON = 40.0
MIN_EPSILON = 1e-9

RandomBytes = Callable[[int], bytes]
"""Source of randomness: `os.urandom` for a release, a seeded generator's bytes for a test."""


def check_epsilon(epsilon: float) -> None:
    """Raises ConfigError for a per-query ε at which the integer weights could not keep the guarantee."""
    if not MIN_EPSILON <= epsilon <= MAX_EPSILON:
        raise ConfigError(f"epsilon of one query is between {MIN_EPSILON:g} and {MAX_EPSILON:g}")


def weights(quality: npt.NDArray[np.float64], sensitivity: float, epsilon: float) -> npt.NDArray[np.int64]:
    """Integer weight of a candidate of each quality; the best quality of the table is first."""
    check_epsilon(epsilon)
    rounding = np.exp(epsilon / 2) * 2.0**-WEIGHT_BITS
    exponent = (epsilon - 5 * rounding) * (quality - quality[0]) / (2 * sensitivity)
    result: npt.NDArray[np.int64] = np.rint(np.exp(exponent) * 2.0**WEIGHT_BITS).astype(np.int64)
    return result


def probabilities(table: QualityTable, epsilon: float) -> npt.NDArray[np.float64]:
    """Probability of every candidate of the domain: the sampled distribution itself."""
    weight = weights(table.quality, table.sensitivity, epsilon)
    result = np.empty(len(table.members))
    result[table.members] = np.repeat(weight, table.sizes) / int(weight @ table.sizes)
    return result


def draw(table: QualityTable, epsilon: float, count: int, random: RandomBytes) -> npt.NDArray[np.int64]:
    """`count` independent outputs (domain numbers) for one input."""
    weight = weights(table.quality, table.sensitivity, epsilon)
    edge = np.cumsum(weight * table.sizes)
    point = uniform_below(int(edge[-1]), count, random)
    group = np.searchsorted(edge, point, side="right")
    inside = point - (edge - weight * table.sizes)[group]
    chosen: npt.NDArray[np.int64] = table.members[table.start[group] + inside // weight[group]]
    return chosen


def uniform_below(limit: int, count: int, random: RandomBytes) -> npt.NDArray[np.int64]:
    """Uniform integers in [0, limit), limit < 2^63, by rejection: no modulo bias."""
    mask = np.uint64((1 << (limit - 1).bit_length()) - 1)
    kept: list[npt.NDArray[np.int64]] = [np.empty(0, np.int64)]
    while (missing := count - sum(map(len, kept))) > 0:
        bits = np.frombuffer(random(8 * (2 * missing + 4)), np.uint64) & mask
        kept.append(bits[bits < np.uint64(limit)].astype(np.int64)[:missing])
    return kept[1] if len(kept) == 2 else np.concatenate(kept)
