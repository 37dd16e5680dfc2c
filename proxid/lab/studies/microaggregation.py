"""001's experiments: SRP per level for k = 2..5, first and five categories, and the time (001 §4, Figures 3-4).

Beside the paper's clusters stand random ones of the same sizes, and the theoretical 1/k.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from proxid.lab.release.microaggregation.matrices import Ints, LevelMatrix
from proxid.lab.release.microaggregation.mechanism import (
    Queries,
    Representative,
    make_clusters,
    matrices,
    microaggregate,
    released_columns,
)
from proxid.lab.release.microaggregation.partition import random_partition
from proxid.lab.utility.srp import semantic_remain_sparse

Reals = npt.NDArray[np.float64]
SIZES = (2, 3, 4, 5)
CATEGORIES = (1, 5)
SIMILAR, RANDOM = "similar", "random"
Progress = Callable[[int, int], None]


@dataclass(eq=False)
class Remains:
    """What is left: `values[categories, partition, k]` is levels × users (NaN: no query at that level).

    seconds: CPU time by (categories, k, levels) of the whole method, on a tree of so many levels. classified: share of
    queries with a category at a level. largest: largest contributions, median over clusters, by (partition, k), with
    one category.
    """

    levels: int
    values: dict[tuple[int, str, int], Reals] = field(default_factory=dict)
    seconds: dict[tuple[int, int, int], float] = field(default_factory=dict)
    classified: list[float] = field(default_factory=list)
    largest: dict[tuple[str, int], float] = field(default_factory=dict)


def field_of_query(queries: Queries) -> Ints:
    """Category field of every distinct text: that of its first record."""
    field_of = np.full(int(queries.query.max()) + 1, -1, np.int64)
    field_of[queries.query[::-1]] = queries.field[::-1]
    return field_of


def srp(queries: Queries, original: list[LevelMatrix], user: Ints, query: Ints, first: int) -> Reals:
    """SRP of every user at every level (levels × users) of a released log given by user and query text."""
    field_of = field_of_query(queries)
    released = Queries(user, query, field_of[query], queries.fields, queries.users)
    after = matrices(released, len(original), first)
    rows = [
        semantic_remain_sparse(
            (before.user, before.category, before.count), (left.user, left.category, left.count), queries.users
        )
        for before, left in zip(original, after, strict=True)
    ]
    return np.array(rows)


def _timed(result: Remains, queries: Queries, cell: tuple[int, int], seed: int) -> list[Representative]:
    """The method at a number of categories and k on trees of 1, 2, … levels; what it makes on the whole tree."""
    first, k = cell
    for levels in range(1, result.levels + 1):
        rng, begin = np.random.default_rng(seed), time.process_time()
        made = microaggregate(queries, make_clusters(queries, k, levels, first, rng), rng)
        result.seconds[first, k, levels] = time.process_time() - begin
    return made


def run(
    queries: Queries, levels: int, seed: int, progress: Progress = lambda done, total: None,
    sizes: tuple[int, ...] = SIZES, categories: tuple[int, ...] = CATEGORIES,
) -> Remains:  # fmt: skip
    """Every cell of Figures 3 and 4. Raises ConfigError for unusable parameters."""
    result, done, steps = Remains(levels), 0, 2 * len(sizes) * len(categories)
    for first in categories:
        original = matrices(queries, levels, first)
        if first == 1:
            result.classified = [m.count.sum() / len(queries.user) for m in original]
        for k in sizes:
            for kind in (SIMILAR, RANDOM):
                rng = np.random.default_rng(seed)
                if kind == SIMILAR:
                    representatives = _timed(result, queries, (first, k), seed)
                else:
                    representatives = microaggregate(queries, random_partition(queries.users, k, rng), rng)
                if first == 1:
                    result.largest[kind, k] = float(np.median([r.contribution for r in representatives]))
                user, query, _ = released_columns(representatives)
                result.values[first, kind, k] = srp(queries, original, user, query, first)
                progress(done := done + 1, steps)
    return result
