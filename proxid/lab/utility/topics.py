"""Jensen-Shannon divergence of people's categories before and after, by level of the tree (000 eq. 9-11).

JSD = ½ Σ p·log2(2p/(p+q)) + ½ Σ q·log2(2q/(p+q)) over a person's categories; 0 where the release kept the profile. Down
to the level at which records waited it is 0 by construction, below it is what mixing costs.
"""

from typing import Any

import numpy as np

from proxid.lab.logs.jit import Codes, Longs, Reals
from proxid.lab.released_log import Release
from proxid.lab.utility.kept import kept, pair_keys

LEVELS = (1, 2, 3, 4)


def topic_divergence(release: Release) -> dict[str, Any]:
    """The metric: mean over users at levels 1 to 4 and at full depth; held records are left out."""
    mask = kept(release)
    before = release.original.user[mask], release.original.category[mask]
    after = release.released.user, release.released.category
    result: dict[str, Any] = {}
    for name, level in [*((f"level_{level}", level) for level in LEVELS), ("full", 1 << 30)]:
        above = release.tree.ancestors(level)
        values = divergences((before[0], above[before[1]]), (after[0], above[after[1]]))
        result[name] = float(values.mean()) if len(values) else float("nan")
    everybody, left = len(np.unique(release.original.user)), len(np.unique(before[0]))
    result["users_without_release"] = 1 - left / max(everybody, 1)
    return result


def divergences(before: tuple[Codes, Codes], after: tuple[Codes, Codes]) -> Reals:
    """JSD in bits of every user that has records on both sides, in order of user code."""
    keys, p, q = _joined(before, after)
    user = keys >> 32
    mass = [np.bincount(user, weights=side) for side in (p, q)]
    both = (mass[0] > 0) & (mass[1] > 0)
    inside = both[user]
    p, q, user = p[inside] / mass[0][user[inside]], q[inside] / mass[1][user[inside]], user[inside]
    mean = (p + q) / 2
    terms = (_part(p, mean) + _part(q, mean)) / 2
    result: Reals = np.clip(np.bincount(user, weights=terms, minlength=len(both))[both], 0.0, 1.0)
    return result


def _joined(before: tuple[Codes, Codes], after: tuple[Codes, Codes]) -> tuple[Longs, Reals, Reals]:
    """Every (user, category) of either side with its count on both."""
    parts = [pair_keys(*before), pair_keys(*after)]
    keys, place = np.unique(np.concatenate(parts), return_inverse=True)
    first = place[: len(parts[0])]
    second = place[len(parts[0]) :]
    p, q = (np.bincount(side, minlength=len(keys)).astype(np.float64) for side in (first, second))
    return keys, p, q


def _part(share: Reals, mean: Reals) -> Reals:
    ratio = np.divide(share, mean, out=np.ones_like(share), where=share > 0)
    result: Reals = share * np.log2(ratio)
    return result
