"""Which records of the input a release accounts for; the rest is held and counted as lost (DESIGN 14).

In mode `mix` with the truth known these are the records that left: each member of a group gave one and received one. In
modes `thesis` and `thesis3` a person's *entries* leave, independent of the person's own queries: of a person's records
at a node the first r count as accounted for when the person was published r times there. So both profiles of a person
have equal mass at every node.
"""

from typing import Any

import numpy as np

from proxid.lab.logs.jit import Codes, Flags, Longs
from proxid.lab.released_log import Release


def pair_keys(user: Codes, node: Codes) -> Longs:
    """One sortable key of a (user, node) pair."""
    return (user.astype(np.int64) << 32) | node.astype(np.int64)


def kept(release: Release) -> Flags:
    """A flag a record of the input: it is accounted for."""
    if "kept" not in release.cache:
        flags = np.zeros(len(release.original), bool)
        if release.exact and release.grouped:
            flags[release.origin[release.origin >= 0]] = True
        else:
            _keep_by_entries(release, flags)
        release.cache["kept"] = flags
    result: Flags = release.cache["kept"]
    return result


def _keep_by_entries(release: Release, flags: Flags) -> None:
    """Match published users with their own arrivals: at the same node first, then (groups moved up) below it."""
    keys, counts = np.unique(pair_keys(release.released.user, release.node), return_counts=True)
    mine = pair_keys(release.original.user, release.original_node)
    flags[_first_of_each(mine, keys, counts)] = True
    counts = counts - _occurrences(mine[flags], keys)
    depth = release.tree.depth[keys & 0xFFFFFFFF]
    for level in range(release.mechanism.level - 1, -1, -1):
        here = (depth == level) & (counts > 0)
        if here.any():
            above = release.tree.ancestors(level)
            free = np.flatnonzero(~flags)
            mine = pair_keys(release.original.user[free], above[release.original_node[free]])
            flags[free[_first_of_each(mine, keys[here], counts[here])]] = True


def _occurrences(values: Longs, keys: Longs) -> Longs:
    """How often each of the sorted keys occurs; every value is one of them."""
    return np.bincount(np.searchsorted(keys, values), minlength=len(keys)).astype(np.int64)


def _first_of_each(mine: Longs, keys: Longs, counts: Any) -> Any:
    """Positions of the first `counts[j]` occurrences of `keys[j]` in `mine`."""
    if not len(keys):
        return np.zeros(0, np.int64)
    order = np.argsort(mine, kind="stable")
    ordered = mine[order]
    first = np.searchsorted(ordered, ordered, "left")
    at = np.minimum(np.searchsorted(keys, ordered), len(keys) - 1)
    allowed = np.where(keys[at] == ordered, counts[at], 0)
    return order[np.arange(len(ordered)) - first < allowed]
