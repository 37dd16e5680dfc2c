"""Distance between profiles record by record, without looking for the cheapest matching (002 §4.4.4, as worded).

The thesis speaks of the earth mover's distance and describes the sum of distances between the categories of an original
query and of the one published in its place. Here a person's records at a node are paired, in order, with the records
published under the person there. It bounds the earth mover's distance from above.
"""

import numpy as np

from proxid.lab.logs import CategoryTree
from proxid.lab.logs.jit import Codes, Longs
from proxid.lab.released_log import Release
from proxid.lab.utility.kept import kept, pair_keys


def paired_categories(release: Release) -> tuple[Codes, Codes] | None:
    """Own and published category of every pair, or None where the records of a node cannot be paired."""
    out = release.released
    if release.grouped and release.exact:
        left = (release.origin >= 0) & (out.group >= 0)
        own = np.argsort(pair_keys(out.group[left], release.owner[left]), kind="stable")
        got = np.argsort(pair_keys(out.group[left], out.user[left]), kind="stable")
        return release.original.category[release.origin[left][own]], out.category[left][got]
    mask = kept(release)
    mine = pair_keys(release.original.user[mask], release.original_node[mask])
    published = pair_keys(out.user, release.node)
    own, got = np.argsort(mine, kind="stable"), np.argsort(published, kind="stable")
    if not np.array_equal(mine[own], published[got]):
        return None
    return release.original.category[mask][own], out.category[got]


def tree_distances(tree: CategoryTree, first: Codes, second: Codes) -> Longs:
    """Edges between two nodes, pair by pair."""
    depth = tree.depth
    shared = np.zeros(len(first), np.int64)
    for level in range(1, int(depth.max(initial=0)) + 1):
        above = tree.ancestors(level)
        both = (depth[first] >= level) & (depth[second] >= level)
        shared += both & (above[first] == above[second])
    result: Longs = depth[first].astype(np.int64) + depth[second] - 2 * shared
    return result


def paired_distance(release: Release) -> float | None:
    """Mean edges between what a person asked and what was published under the person in its place."""
    pairs = paired_categories(release)
    if pairs is None or not len(pairs[0]):
        return None
    return float(tree_distances(release.tree, *(np.maximum(side, 0) for side in pairs)).mean())
