"""Two parties of one audience lay their feeds side by side: whose aliases are whose names.

Both get an entry for the same request at the same node and in the same time bucket. So a person's day, the multiset of
its (node, bucket), is the same in both feeds whatever the person is called there, and where nobody else has the same
day it joins the two names. No order, number or alias policy changes that; only few requests a day do.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from proxid.lab.attacks.registry import Options
from proxid.lab.logs.jit import Codes, Hashes, Longs, Reals
from proxid.lab.released_log import Release

DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Joined:
    """Person-days, and how many of them have a vector of (node, bucket), or of nodes alone, that nobody else has."""

    person_days: int
    by_node_and_bucket: int
    by_node: int

    def as_dict(self) -> dict[str, float]:
        """For reports."""
        days = max(self.person_days, 1)
        return {
            "person_days": self.person_days,
            "joined": self.by_node_and_bucket / days,
            "joined_by_node_counts": self.by_node / days,
        }


def _alone(day: Longs, person: Longs, cell: Longs, seed: int) -> tuple[int, int]:
    """Person-days, and those alone with their multiset of cells, told apart by sums of random 64-bit words."""
    numbers, place = np.unique(cell, return_inverse=True)
    words: Hashes = np.random.default_rng(seed).integers(1, 1 << 63, len(numbers), dtype=np.uint64)
    lives, life = np.unique((day << 32) | person, return_inverse=True)
    total = np.zeros(len(lives), np.uint64)
    np.add.at(total, life, words[place])
    vectors = np.column_stack([(lives >> 32).astype(np.uint64), total])
    _, times = np.unique(vectors, axis=0, return_counts=True)
    return len(lives), int((times == 1).sum())


def join_feeds(person: Codes, node: Codes, time: Reals, seed: int = 0, day_s: float = DAY) -> Joined:
    """Join two feeds of the same entries. time: Unix seconds of each entry's bucket, NaN where there is none."""
    at = np.nan_to_num(time)
    day = np.floor(at / day_s).astype(np.int64)
    day -= day.min(initial=0)
    buckets = np.unique(at, return_inverse=True)[1].astype(np.int64)
    where, who = node.astype(np.int64), person.astype(np.int64)
    days, fine = _alone(day, who, (where << 32) | buckets, seed)
    return Joined(days, fine, _alone(day, who, where, seed)[1])


def join(name: str, release: Release, options: Options) -> dict[str, Any]:
    """The attack as `proxid attack` calls it: the release under two names a person."""
    shown = release.released
    return {
        "covered_by_theorem": False,
        **join_feeds(shown.user, release.node, shown.time, options.seed).as_dict(),
    }
