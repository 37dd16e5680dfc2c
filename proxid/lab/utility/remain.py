"""Semantic remain percentage of a release by level (001 eq. 4): the metric `srp`; what is held counts as lost."""

from typing import Any

import numpy as np

from proxid.lab.logs import LogBatch
from proxid.lab.logs.jit import Codes, Longs
from proxid.lab.released_log import Release
from proxid.lab.utility.srp import semantic_remain_sparse

LEVELS = 5


def semantic_remain_by_level(release: Release) -> dict[str, Any]:
    """The metric: mean SRP over users at levels 1 to 5; a level that no record reaches is left out."""
    users = 1 + max(int(batch.user.max(initial=-1)) for batch in (release.original, release.released))
    depth, result = release.tree.depth, {}
    for level in range(1, LEVELS + 1):
        above = release.tree.ancestors(level)
        original, released = (_counts(batch, above, depth, level) for batch in (release.original, release.released))
        if len(original[0]):
            result[f"level_{level}"] = float(np.nanmean(semantic_remain_sparse(original, released, users)))
    return result


def _counts(batch: LogBatch, above: Codes, depth: Codes, level: int) -> tuple[Longs, Longs, Longs]:
    """(user, category, how many) of the records that have a category at the level."""
    deep = (batch.category >= 0) & (depth[batch.category] >= level)
    key = (batch.user[deep].astype(np.int64) << 32) | above[batch.category[deep]]
    cell, count = np.unique(key, return_counts=True)
    return cell >> 32, cell & 0xFFFFFFFF, count
