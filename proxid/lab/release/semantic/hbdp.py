"""Histogram-based differential privacy, the baseline of 000 §4 (HBDP).

A histogram a user, with a bin for every concept of τ(D), issued or not; discrete Laplace noise on every bin. Another
user's log changes two times M counts at most, M the declared maximum of queries a user (the paper reads M off the
data, which is private); a user with more is cut to M, chosen from the user's own queries. Negative counts become 0.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt
import opendp.prelude as dp

from proxid.errors import ConfigError
from proxid.lab.release.noise import LARGEST_SCALE
from proxid.lab.release.semantic.budget import check_total
from proxid.lab.release.semantic.domain import Ints
from proxid.lab.release.semantic.exponential import RandomBytes

Noise = Callable[[Ints], Ints]

MOST_QUERIES: Final = 1 << 31


def sensitivity(maximum: int) -> int:
    """L1 distance of two users' histograms: all M queries of one go, all M of the other come."""
    if not 1 <= maximum <= MOST_QUERIES:
        raise ConfigError(f"max_queries is between 1 and {MOST_QUERIES}")
    return 2 * maximum


def discrete_laplace(epsilon: float, maximum: int) -> Noise:
    """OpenDP's discrete Laplace of scale 2M/ε on every bin; its own map says that 2M costs no more than ε."""
    check_total(epsilon)
    dp.enable_features("contrib")
    distance = sensitivity(maximum)
    if not distance / epsilon <= LARGEST_SCALE:
        raise ConfigError("epsilon is too small for max_queries: noise of that scale cannot be drawn")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    # binary_search_param picks the least scale whose privacy map (with its outward rounding) stays within epsilon.
    scale = dp.binary_search_param(lambda s: dp.m.make_laplace(*space, scale=s), distance, epsilon)
    mechanism = dp.m.make_laplace(*space, scale=scale)
    return lambda counts: np.array(mechanism(counts.tolist()), np.int64)


def bound_user(concepts: Ints, maximum: int, random: RandomBytes) -> Ints:
    """At most M of one user's queries, a uniform choice."""
    if len(concepts) <= maximum:
        return concepts
    keys = np.frombuffer(random(8 * len(concepts)), np.uint64)
    return concepts[np.argsort(keys, kind="stable")[:maximum]]


def noisy_histogram(places: Ints, bins: int, noise: Noise) -> npt.NDArray[np.int64]:
    """One user's released counts of every bin; `places` are the bins of the user's (bounded) queries."""
    return np.maximum(noise(np.bincount(places, minlength=bins)), 0)
