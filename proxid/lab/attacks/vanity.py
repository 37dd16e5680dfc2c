"""The vanity scan (DESIGN 8.7): texts that name their owner whoever they are published under, and intersection.

A text that one person alone issued, and more than once, is a vanity candidate: a name, an address, a habit. Each of its
records that shows the text links to that person. Intersection needs no background at all: a text shown in several
groups belongs, if one person issues it, to somebody who is a member of all of them.
"""

from collections import defaultdict
from typing import Any

import numpy as np

from proxid.lab.attacks.registry import Options
from proxid.lab.attacks.scoring import contains, input_pairs
from proxid.lab.attacks.sybil import issuers
from proxid.lab.logs.jit import Flags
from proxid.lab.released_log import Release, with_text


def vanity(name: str, release: Release, options: Options) -> dict[str, Any]:
    """The attack as `proxid attack` calls it."""
    count = issuers(release)
    times = np.bincount(release.original.query, minlength=len(count))
    single, repeated = count == 1, (count == 1) & (times > 1)
    shown = with_text(release.released, release.no_text)
    report: dict[str, Any] = {
        "input_single_issuer_share": _share(single, release.original.query, np.ones(len(release.original), bool)),
        "input_vanity_share": _share(repeated, release.original.query, np.ones(len(release.original), bool)),
        "released_with_text_share": float(shown.mean()) if len(shown) else float("nan"),
        "released_single_issuer_share": _share(single, release.released.query, shown),
        "released_vanity_share": _share(repeated, release.released.query, shown),
        "vanity_records_shown": int(repeated[release.released.query[shown]].sum()),
    }
    if release.grouped:
        report["intersection"] = _intersection(release, shown)
    return report


def _share(which: Flags, query: Any, mask: Flags) -> float:
    """Share, of all records, of those under the mask whose text is one of `which`."""
    return float(which[query[mask]].sum() / len(query)) if len(query) else float("nan")


def _intersection(release: Release, shown: Flags) -> dict[str, Any]:
    """Texts shown in two groups or more: how many leave one person in the intersection, and how many rightly."""
    members = _members(release)
    groups: dict[int, list[tuple[int, int]]] = defaultdict(list)
    rows = np.flatnonzero(shown & (release.released.group >= 0))
    columns = (release.released.query, release.released.group, release.released.user)
    for query, group, user in zip(*(column[rows].tolist() for column in columns), strict=True):
        groups[query].append((group, user))
    linkable = [(query, seen) for query, seen in groups.items() if len({group for group, _ in seen}) > 1]
    found = [(query, person) for query, seen in linkable if (person := _sole_candidate(seen, members)) is not None]
    keys = np.array([(person << 32) | query for query, person in found], np.int64)
    right = contains(input_pairs(release), keys)
    return {
        "linkable_texts": len(linkable),
        "identified": len(found),
        "right": int(right.sum()),
        "records": sum(len(groups[query]) for (query, _), yes in zip(found, right.tolist(), strict=True) if yes),
    }


def _members(release: Release) -> dict[int, set[int]]:
    members: dict[int, set[int]] = defaultdict(set)
    for group, user in zip(release.released.group.tolist(), release.released.user.tolist(), strict=True):
        members[group].add(user)
    return members


def _sole_candidate(seen: list[tuple[int, int]], members: dict[int, set[int]]) -> int | None:
    """The one person who is in every group of a text and was never published with it, if there is exactly one."""
    group, user = seen[0]
    left = members[group] - {user}
    for group, user in seen[1:]:
        left = (left & members[group]) - {user}
        if not left:
            return None
    return next(iter(left)) if len(left) == 1 else None
