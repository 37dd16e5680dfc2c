"""Semantic remain percentage per level of the category tree (001 eq. 4): SRP_l = ρ_l / χ_l.

For a user, ρ_l counts the queries of each category of level l that are in the original log as well as in the
released one (the lesser of the two counts), χ_l the original queries that have a category at that level.
"""

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

Reals = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]
Counts = Mapping[str, int]


def category_at(path: str, level: int) -> str | None:
    """The category of a path at a level (1 is the root category); None if the path is shallower."""
    parts = path.split("/", level)
    return "/".join(parts[:level]) if len(parts) >= level and parts[0] else None


def level_counts(paths: Iterable[str], level: int) -> dict[str, int]:
    """How often each category of a level occurs among paths."""
    counts: dict[str, int] = {}
    for path in paths:
        category = category_at(path, level)
        if category is not None:
            counts[category] = counts.get(category, 0) + 1
    return counts


def remain(original: Counts, released: Counts) -> float:
    """SRP of one user at one level; NaN if the user has no query at that level."""
    total = sum(original.values())
    kept = sum(min(count, released.get(category, 0)) for category, count in original.items())
    return kept / total if total else float("nan")


def semantic_remain(original: Reals, released: Reals) -> Reals:
    """SRP of every user from counts (users × categories of one level); NaN for a user without any."""
    total = original.sum(1)
    kept = np.minimum(original, released).sum(1)
    result: Reals = np.divide(kept, total, out=np.full(len(total), np.nan), where=total > 0)
    return result


def semantic_remain_sparse(
    original: tuple[Longs, Longs, Longs], released: tuple[Longs, Longs, Longs], users: int
) -> Reals:
    """SRP of every user of one level from (user, category, count) triples; NaN for a user without a query there."""
    width = max([int(t[1].max(initial=0)) for t in (original, released)]) + 1
    before, after = (t[0] * width + t[1] for t in (original, released))
    _, mine, theirs = np.intersect1d(before, after, assume_unique=True, return_indices=True)
    kept = np.bincount(original[0][mine], np.minimum(original[2][mine], released[2][theirs]), minlength=users)
    total = np.bincount(original[0], original[2], minlength=users)
    result: Reals = np.divide(kept, total, out=np.full(users, np.nan), where=total > 0)
    return result
