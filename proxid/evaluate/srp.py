"""Semantic remain percentage per level of the category tree (001 eq. 4): SRP_l = ρ_l / χ_l.

For a user, ρ_l counts the queries of each category of level l that are in the original log as well as in the
released one (the lesser of the two counts), χ_l the original queries that have a category at that level.
"""

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

Reals = npt.NDArray[np.float64]
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
