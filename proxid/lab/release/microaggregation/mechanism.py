"""Microaggregation of a log from arrays (001): classify, partition, aggregate.

M_UxU has a cell for every pair of users, so that a log of many users is cut into blocks of users at random and every
block is partitioned alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from proxid.lab.release.microaggregation.aggregate import aggregate, contributions, query_lists
from proxid.lab.release.microaggregation.matrices import (
    Ints,
    LevelMatrix,
    classification_matrix,
    classify_fields,
    incidence_matrix,
)
from proxid.lab.release.microaggregation.partition import check_k, partition

BLOCK_USERS = 5000
"""Users in a block: its M_UxU takes 100 MB."""


@dataclass(frozen=True, eq=False)
class Queries:
    """A log as columns of numbers: user, query text, category field (-1: none); `fields[i]` is field i's text."""

    user: Ints
    query: Ints
    field: Ints
    fields: Sequence[str]
    users: int


@dataclass(frozen=True, eq=False)
class Representative:
    """What every member of a cluster publishes: queries, and (secret) the member each one came from."""

    members: list[int]
    query: Ints
    owner: Ints
    contribution: float
    """The largest share of a member: the chance with which that member owns a query of this representative."""


def matrices(queries: Queries, levels: int, first: int) -> list[LevelMatrix]:
    """M_UxC of every level."""
    classified = classify_fields(queries.fields, levels, first)
    return [
        classification_matrix(queries.user, queries.field, queries.users, classified, level)
        for level in range(1, levels + 1)
    ]


def blocks(users: int, k: int, rng: np.random.Generator) -> list[Ints]:
    """Users in random blocks of at most BLOCK_USERS and at least k."""
    count = max(1, min(-(-users // BLOCK_USERS), users // k))
    order = rng.permutation(users) if count > 1 else np.arange(users)
    return [np.sort(part) for part in np.array_split(order, count)]


def _within(matrix: LevelMatrix, block: Ints) -> LevelMatrix:
    """The rows of M_UxC that belong to a block, users renumbered."""
    place = np.full(matrix.users, -1, np.int64)
    place[block] = np.arange(len(block))
    keep = place[matrix.user] >= 0
    return LevelMatrix(
        place[matrix.user[keep]], matrix.category[keep], matrix.count[keep], len(block), matrix.categories
    )


def make_clusters(queries: Queries, k: int, levels: int, first: int, rng: np.random.Generator) -> list[list[int]]:
    """Data preparation and partition. Raises ConfigError for unusable parameters."""
    check_k(k, queries.users)
    of_level, clusters = matrices(queries, levels, first), []
    for block in blocks(queries.users, k, rng):
        incidence = incidence_matrix([_within(matrix, block) for matrix in of_level])
        clusters += [block[cluster].tolist() for cluster in partition(incidence, k)]
    return clusters


def microaggregate(
    queries: Queries,
    clusters: list[list[int]],
    rng: np.random.Generator,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[Representative]:
    """The representative of every cluster."""
    lists, result = query_lists(queries.user, queries.query, queries.users), []
    for done, cluster in enumerate(clusters):
        query, owner = aggregate(cluster, lists, rng)
        totals = np.array([lists.of(user)[1].sum() for user in cluster])
        result.append(Representative(cluster, query, owner, float(contributions(totals).max())))
        progress(done + 1, len(clusters))
    return result


def released_columns(representatives: list[Representative]) -> tuple[Ints, Ints, Ints]:
    """Published user, query and (secret) owner of every released row: members publish the whole representative."""
    user = [np.repeat(np.array(r.members, np.int64), len(r.query)) for r in representatives]
    query = [np.tile(r.query, len(r.members)) for r in representatives]
    owner = [np.tile(r.owner, len(r.members)) for r in representatives]
    empty = np.empty(0, np.int64)
    return np.concatenate([empty, *user]), np.concatenate([empty, *query]), np.concatenate([empty, *owner])
