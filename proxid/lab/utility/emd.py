"""Earth mover's distance between people's profiles over the category tree (002 §4.4.4, DESIGN 14).

A profile is how many records a person has in each category; moving one along an edge costs 1. On a tree the optimum
needs no search: across every edge moves exactly the difference of the two masses below it. Two normalisations:
N1 divides by n times the distance of the tree's two deepest leaves, N2 by the depths of both profiles (everything moved
through the root). Means are weighted by records; the plain mean over people stands beside. Held records are left out of
the distance and reported as lost.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from proxid.lab.logs import CategoryTree
from proxid.lab.logs.jit import Codes, Flags, Longs, Reals, Scalar, compiled
from proxid.lab.released_log import Release
from proxid.lab.utility.kept import kept
from proxid.lab.utility.paired import paired_distance


@dataclass(frozen=True, slots=True)
class Distances:
    """A number a user: distance in edges, records compared, depths of both profiles added up."""

    distance: Reals
    records: Reals
    depths: Reals


@compiled
def _widest(parent: Codes, below: Longs) -> Scalar:
    widest = 0
    for node in range(len(parent) - 1, 0, -1):
        arm, up = below[node] + 1, parent[node]
        widest = max(widest, below[up] + arm)
        below[up] = max(below[up], arm)
    return widest


def diameter(tree: CategoryTree) -> int:
    """Edges between the two leaves furthest apart; the root is above the top categories."""
    return int(_widest(tree.parent, np.zeros(len(tree), np.int64)))


@compiled
def _preorder(parent: Codes, place: Longs, size: Longs, room: Longs) -> None:
    """Number nodes so that every subtree is an interval; `size` and `room` start at 1, a parent's code is smaller."""
    for node in range(len(parent) - 1, 0, -1):
        size[parent[node]] += size[node]
    for node in range(1, len(parent)):
        place[node] = room[parent[node]]
        room[parent[node]] += size[node]
        room[node] = place[node] + 1


def profile_distances(
    tree: CategoryTree, original: tuple[Codes, Codes], published: tuple[Codes, Codes], users: int
) -> Distances:
    """Distance of every user's two profiles, each given as (user, category) columns of equal mass a user."""
    depth, place = tree.depth, np.zeros(len(tree), np.int64)
    _preorder(tree.parent, place, *(np.ones(len(tree), np.int64) for _ in range(2)))
    user, category = (np.concatenate(pair) for pair in zip(original, published, strict=True))
    sign = np.repeat([1.0, -1.0], [len(original[0]), len(published[0])])
    order = np.argsort((user.astype(np.int64) << 32) | place[category], kind="stable")
    user, category, sign = user[order], category[order], sign[order]
    distance = np.zeros(users)
    for level in range(1, int(depth.max(initial=0)) + 1):
        crossing = np.where(depth[category] >= level, sign, 0.0)
        distance += _across_level(user, tree.ancestors(level)[category], crossing, users)
    records = np.bincount(original[0], minlength=users).astype(float)
    depths = np.bincount(user, weights=depth[category], minlength=users)
    return Distances(distance, records, depths.astype(np.float64))


def _across_level(user: Codes, node: Codes, sign: Reals, users: int) -> Reals:
    """Mass that crosses the edges above the nodes of one level; records sorted by user and subtree."""
    if not len(user):
        return np.zeros(users)
    first = np.flatnonzero(np.concatenate([[True], (np.diff(user) != 0) | (np.diff(node) != 0)]))
    surplus = np.abs(np.add.reduceat(sign, first))
    return np.bincount(user[first], weights=surplus, minlength=users).astype(np.float64)


def _columns(user: Codes, category: Codes, which: Flags) -> tuple[Codes, Codes]:
    return user[which], np.maximum(category[which], 0)


def profile_distance(release: Release) -> dict[str, Any]:
    """The metric: loss under N1, N2 and paired, over everything released; and over groups that were not moved up."""
    whole = kept(release)
    result = _summary(release, whole, np.ones(len(release.released), bool))
    result["tree_diameter"] = diameter(release.tree)
    paired = paired_distance(release)
    if paired is not None:
        result["paired_loss_n1"] = paired / max(diameter(release.tree), 1)
    result["lost_share"] = 1 - float(whole.mean()) if len(whole) else float("nan")
    if release.grouped:
        result["unraised"] = _unraised(release)
    return result


def _unraised(release: Release) -> dict[str, Any]:
    """The same over records that left at the node where they began to wait; needs the truth file."""
    if not release.exact:
        return {"reason": "needs the truth file"}
    left = release.origin >= 0
    stayed = left & (release.original_node[np.maximum(release.origin, 0)] == release.node)
    mixed = np.unique(release.released.group[left & ~stayed])
    stayed &= ~np.isin(release.released.group, mixed)
    flags = np.zeros(len(release.original), bool)
    flags[release.origin[stayed]] = True
    return _summary(release, flags, stayed)


def _summary(release: Release, original: Flags, published: Flags) -> dict[str, Any]:
    users = int(max(release.original.user.max(initial=-1), release.released.user.max(initial=-1))) + 1
    found = profile_distances(
        release.tree,
        _columns(release.original.user, release.original.category, original),
        _columns(release.released.user, release.released.category, published),
        users,
    )
    active, span = found.records > 0, max(diameter(release.tree), 1)
    if not active.any():
        return {"reason": "nothing was released"}
    distance, records, depths = (a[active] for a in (found.distance, found.records, np.maximum(found.depths, 1)))
    return {
        "loss_n1": float(distance.sum() / (span * records.sum())),
        "loss_n2": float(distance.sum() / depths.sum()),
        "loss_n1_user_mean": float((distance / (span * records)).mean()),
        "loss_n2_user_mean": float((distance / depths).mean()),
        "mean_distance_edges": float(distance.mean()),
        "mean_maximum_edges": float((span * records).mean()),
        "users": int(active.sum()),
        "records": int(records.sum()),
    }
