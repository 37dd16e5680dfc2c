"""Classification matrices M_UxC of every level and the incidence matrix M_UxU (001, Algorithms 1 and 2)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from proxid.errors import ConfigError

Ints = npt.NDArray[np.int64]
Counts = npt.NDArray[np.int32]
SEPARATOR = "|"
"""Parts the categories of one query in a log's category field, the most significant first."""
MOST_CATEGORIES = 5


def categories_of(field: str, first: int) -> list[str]:
    """The first `first` category paths of a category field; none for an empty field."""
    return [path for path in field.split(SEPARATOR) if path][:first]


@dataclass(frozen=True, eq=False)
class LevelMatrix:
    """M_UxC of one level as triples: user, category (numbers from 0), how many queries; sorted by category."""

    user: Ints
    category: Ints
    count: Ints
    users: int
    categories: int

    def dense(self) -> npt.NDArray[np.float64]:
        """users × categories."""
        matrix = np.zeros((self.users, self.categories))
        matrix[self.user, self.category] = self.count
        return matrix


@dataclass(frozen=True, eq=False)
class Classified:
    """Categories of every distinct category field: `level[l][start[f]:start[f+1]]` are those of field f at level l+1.

    A query counts once in a category of a level, however many of its paths run through it (Algorithm 1's result is
    "the number of queries for each category and user"); a path shallower than the level has no category there.
    """

    start: list[Ints]
    member: list[Ints]
    categories: list[int]

    @property
    def depth(self) -> int:
        """L, the deepest level considered."""
        return len(self.start)


def classify_fields(fields: Sequence[str], levels: int, first: int) -> Classified:
    """Split category fields into the categories of levels 1..`levels`. Raises ConfigError for unusable numbers."""
    if levels < 1:
        raise ConfigError("levels is at least 1")
    if not 1 <= first <= MOST_CATEGORIES:
        raise ConfigError(f"categories is between 1 and {MOST_CATEGORIES}")
    paths = [[path.split("/") for path in categories_of(field, first)] for field in fields]
    starts, members, sizes = [], [], []
    for level in range(1, levels + 1):
        names: dict[tuple[str, ...], int] = {}
        rows = [
            sorted({names.setdefault(tuple(p[:level]), len(names)) for p in parts if len(p) >= level})
            for parts in paths
        ]
        start = np.zeros(len(fields) + 1, np.int64)
        np.cumsum([len(row) for row in rows], out=start[1:]) if rows else None
        starts.append(start)
        members.append(np.array([c for row in rows for c in row], np.int64))
        sizes.append(len(names))
    return Classified(starts, members, sizes)


def classification_matrix(user: Ints, field: Ints, users: int, classified: Classified, level: int) -> LevelMatrix:
    """Algorithm 1 at one level: how many of each user's queries are in each category.

    user, field: one number a query (field indexes what `classified` was made of, -1: none).
    """
    start, member = classified.start[level - 1], classified.member[level - 1]
    user, field = user[field >= 0], field[field >= 0]
    size = start[field + 1] - start[field]
    offset = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    category = member[np.repeat(start[field], size) + offset]
    cell, count = np.unique(category * users + np.repeat(user, size), return_counts=True)
    return LevelMatrix(cell % users, cell // users, count, users, classified.categories[level - 1])


def incidence_matrix(matrices: Sequence[LevelMatrix]) -> Counts:
    """Algorithm 2: M_UxU(i, j) = Σ over levels and categories of min(count_i, count_j); the diagonal is 0."""
    users = matrices[0].users
    result = np.zeros((users, users), np.int32)
    for matrix in matrices:
        edges = np.flatnonzero(np.r_[True, np.diff(matrix.category) != 0, True])
        for a, b in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            if b - a > 1:  # a category of one user adds to the diagonal alone
                who, count = matrix.user[a:b], matrix.count[a:b].astype(np.int32)
                result[np.ix_(who, who)] += np.minimum.outer(count, count)
    np.fill_diagonal(result, 0)
    return result
