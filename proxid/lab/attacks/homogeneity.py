"""Homogeneity (003 §3.2, Example 1): if everybody who may be meant asked the same, k hides nothing.

The anonymity set of a record is its group or, in modes without groups, the run of k+1 records at its node it left in.
Reported: records in sets with one text, with one full category, and the share of the set's commonest category, which is
what an attacker who knows a person to be in the set learns of that person.
"""

from typing import Any

import numpy as np

from proxid.lab.attacks.registry import Options
from proxid.lab.logs.jit import Codes, Longs, Reals
from proxid.lab.released_log import Release, with_text


def anonymity_sets(release: Release) -> Longs:
    """A number a released record: its group, or its run of k+1 records at its node."""
    if release.grouped:
        return release.released.group.astype(np.int64)
    order = np.argsort(release.node, kind="stable")
    node = release.node[order].astype(np.int64)
    rank = np.arange(len(node)) - np.searchsorted(node, node, "left")
    result = np.empty(len(node), np.int64)
    result[order] = (node << 32) | (rank // (release.mechanism.k + 1))
    return result


def commonest_share(sets: Longs, value: Codes) -> Reals:
    """Of each record's set, the share of the commonest value."""
    _, place = np.unique(sets, return_inverse=True)
    keys, cell = np.unique((place.astype(np.int64) << 32) | value.astype(np.int64), return_inverse=True)
    count = np.bincount(cell, minlength=len(keys)).astype(float)
    top = np.zeros(int(place.max(initial=-1)) + 1)
    np.maximum.at(top, keys >> 32, count)
    size = np.bincount(place, minlength=len(top))
    result: Reals = (top / np.maximum(size, 1))[place]
    return result


def homogeneity(name: str, release: Release, options: Options) -> dict[str, Any]:
    """The attack as `proxid attack` calls it."""
    if not len(release.released):
        return {"reason": "nothing was released"}
    sets = anonymity_sets(release)
    category = commonest_share(sets, np.maximum(release.released.category, 0))
    shown = with_text(release.released, release.no_text)
    distinct = np.where(shown, release.released.query, -1 - np.arange(len(shown)) % (1 << 30)).astype(np.int64)
    text = commonest_share(sets, np.unique(distinct, return_inverse=True)[1].astype(np.int32))
    below = release.tree.depth[np.maximum(release.released.category, 0)] > release.tree.depth[release.node]
    several = np.bincount(np.unique(sets, return_inverse=True)[1])
    single = several[np.unique(sets, return_inverse=True)[1]] == 1
    return {
        "sets": len(several),
        "one_text_share": float(((text >= 1) & ~single).mean()),
        "one_category_share": float(((category >= 1) & below & ~single).mean()),
        "commonest_category_mean": float(category.mean()),
        "commonest_text_mean": float(text.mean()),
    }
