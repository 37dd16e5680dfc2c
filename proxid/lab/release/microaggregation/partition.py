"""Clusters of k users with common interests (001, Algorithms 3 and 4).

The most similar pair of users starts a cluster; the user most similar to the whole cluster (the sum of the merged
rows) joins until it has k. The last cluster takes the rest: the paper's ⌈n/k⌉ clusters would leave one smaller than k.
Of equally similar users the first one is taken.
"""

import numpy as np
import numpy.typing as npt

from proxid.errors import ConfigError
from proxid.lab.release.microaggregation.matrices import Counts, Ints

GONE = np.iinfo(np.int32).min // 2
"""Similarity of a user that is already placed; half of the least number, so that two of them still add up."""


def check_k(k: int, users: int) -> None:
    """Raises ConfigError when no partition into clusters of at least k ≥ 2 users exists."""
    if k < 2:
        raise ConfigError("k is at least 2: a cluster of one user hides nobody")
    if users < k:
        raise ConfigError("the log has fewer than k users")


class _Similarities:
    """M_UxU with the best partner of every row kept, so that the most similar pair is found without a full scan."""

    def __init__(self, incidence: Counts) -> None:
        self.matrix = incidence.copy()
        np.fill_diagonal(self.matrix, GONE)
        self.partner = self.matrix.argmax(1)
        self.best = self.matrix[np.arange(len(self.matrix)), self.partner]

    def pair(self) -> list[int]:
        """The most similar two users left."""
        i = int(self.best.argmax())
        return [i, int(self.partner[i])]

    def remove(self, users: list[int]) -> None:
        """Take users out; rows whose best partner left look for a new one."""
        self.matrix[:, users] = GONE
        self.matrix[users, :] = GONE
        self.best[users] = GONE
        stale = np.flatnonzero(np.isin(self.partner, users) & (self.best > GONE))
        if len(stale):
            rows = self.matrix[stale]
            self.partner[stale] = rows.argmax(1)
            self.best[stale] = rows[np.arange(len(stale)), self.partner[stale]]


def make_cluster(similar: _Similarities, k: int) -> list[int]:
    """Algorithm 4: one cluster of k users."""
    cluster = similar.pair()
    merged = similar.matrix[cluster].sum(0, dtype=np.int64)
    while len(cluster) < k:
        merged[cluster] = 2 * GONE * len(cluster)
        cluster.append(int(merged.argmax()))
        merged += similar.matrix[cluster[-1]]
    return cluster


def partition(incidence: Counts, k: int) -> list[list[int]]:
    """Algorithm 3: all clusters, each of k users, the last of k to 2k − 1. Raises ConfigError."""
    left = len(incidence)
    check_k(k, left)
    similar, clusters = _Similarities(incidence), []
    while left >= 2 * k:
        cluster = make_cluster(similar, k)
        similar.remove(cluster)
        clusters.append(cluster)
        left -= k
    placed = {user for cluster in clusters for user in cluster}
    clusters.append([user for user in range(len(incidence)) if user not in placed])
    return clusters


def random_partition(users: int, k: int, rng: np.random.Generator) -> list[list[int]]:
    """Clusters of the same sizes without a look at interests: what the evaluation compares with."""
    check_k(k, users)
    order: npt.NDArray[np.int64] = rng.permutation(users)
    cuts = [k * i for i in range(1, users // k)]
    return [part.tolist() for part in np.split(order, cuts)]


def labels(clusters: list[list[int]]) -> Ints:
    """Number of the cluster of every user."""
    result = np.empty(sum(map(len, clusters)), np.int64)
    for number, cluster in enumerate(clusters):
        result[cluster] = number
    return result
