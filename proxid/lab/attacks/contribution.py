"""The attack on microaggregated logs (DESIGN 13): the most active member of a cluster owns most of its queries.

People who publish the same log are a set. An attacker who knows how many queries everybody issued guesses, for every
record of the set, its busiest member: right with that member's contribution and not with 1/k. A person whose released
log is nobody else's is a set of one, so that on other releases this is the guess "as published".
"""

from typing import Any

import numpy as np

from proxid.lab.attacks.base import Guesses
from proxid.lab.attacks.registry import Options
from proxid.lab.attacks.scoring import linkage
from proxid.lab.logs.jit import Codes, Longs
from proxid.lab.released_log import Release


def sets_of_equal_logs(release: Release) -> Longs:
    """Number of the set of every released record: its publisher's released log, as a multiset of texts."""
    order = np.lexsort([release.released.query, release.released.user])
    user, query = release.released.user[order], release.released.query[order]
    first = np.flatnonzero(np.r_[True, np.diff(user) != 0]) if len(user) else np.zeros(0, np.int64)
    names: dict[bytes, int] = {}
    number = [names.setdefault(part.tobytes(), len(names)) for part in np.split(query, first[1:])] if len(user) else []
    size = np.diff(np.append(first, len(user)))
    result = np.empty(len(user), np.int64)
    result[order] = np.repeat(np.array(number, np.int64), size)
    return result


def busiest_members(release: Release, sets: Longs) -> Codes:
    """The member of each record's set with most records in the input; the lowest code of equally busy ones."""
    count = np.bincount(release.original.user, minlength=int(release.released.user.max(initial=0)) + 1)
    pairs = np.unique(np.column_stack([sets, release.released.user]), axis=0)
    order = np.lexsort([pairs[:, 1], -count[pairs[:, 1]], pairs[:, 0]])
    ordered = pairs[order]
    head = np.flatnonzero(np.r_[True, np.diff(ordered[:, 0]) != 0]) if len(ordered) else np.zeros(0, np.int64)
    busiest: Codes = ordered[head, 1][sets].astype(np.int32)
    return busiest


def contribution(name: str, release: Release, options: Options) -> dict[str, Any]:
    """The attack as `proxid attack` calls it."""
    if not len(release.released):
        return {"reason": "nothing was released"}
    sets = sets_of_equal_logs(release)
    guesses = Guesses(np.arange(len(sets)), busiest_members(release, sets))
    members = np.unique(np.column_stack([sets, release.released.user]), axis=0)[:, 0]
    return {"smallest_set": int(np.bincount(members).min()), **linkage(release, guesses)}
