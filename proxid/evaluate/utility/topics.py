"""Jensen-Shannon divergence of people's topics before and after, topics being a level of the tree (000 eq. 9-11)."""

from typing import Any

import numpy as np

from proxid.evaluate.jsd import jensen_shannon, profiles
from proxid.evaluate.release import Release
from proxid.evaluate.utility.kept import kept
from proxid.logs import LogBatch
from proxid.logs.jit import Codes, Flags, Longs, Reals

LEVELS = (1, 2)
_CELLS = 4_000_000
"""Users times topics looked at together: bounds the memory of the dense tables."""


def topic_divergence(release: Release) -> dict[str, Any]:
    """The metric: mean over users at levels 1 and 2; held records and people without any left out."""
    whole = np.ones(len(release.released), bool)
    mask = kept(release)
    result: dict[str, Any] = {}
    for level in LEVELS:
        topic = _topics(release, level)
        values = _divergence((release.original, mask), (release.released, whole), topic)
        result[f"level_{level}"] = float(values.mean()) if len(values) else float("nan")
    result["users_without_release"] = 1 - _users(release.original, mask) / max(
        _users(release.original, np.ones(len(mask), bool)), 1
    )
    return result


def _users(batch: LogBatch, which: Flags) -> int:
    return len(np.unique(batch.user[which]))


def _topics(release: Release, level: int) -> Longs:
    """The topic of each node: a number a node of the level, -1 above it."""
    above, depth = release.tree.ancestors(level), release.tree.depth
    names = np.unique(above[depth >= level])
    topic = np.searchsorted(names, above)
    return np.where(depth >= level, topic, -1)


def _divergence(original: tuple[LogBatch, Flags], released: tuple[LogBatch, Flags], topic: Longs) -> Reals:
    """JSD of every user that has records on both sides."""
    columns = [(batch.user[mask], topic[batch.category[mask]]) for batch, mask in (original, released)]
    users = np.intersect1d(columns[0][0], columns[1][0])
    topics = int(topic.max(initial=-1)) + 1
    step = max(1, _CELLS // max(topics, 1))
    sides = [_by_user(users, user, t) for user, t in columns]
    parts = []
    for begin in range(0, len(users), step):
        end = min(begin + step, len(users))
        tables = [_table(user, t, begin, end, topics) for user, t in sides]
        parts.append(jensen_shannon(*tables))
    return np.concatenate(parts) if parts else np.zeros(0)


def _by_user(users: Codes, user: Codes, topic: Longs) -> tuple[Longs, Longs]:
    """Records of the users that count, in their order, users renumbered from 0."""
    place = np.searchsorted(users, user)
    found = np.flatnonzero(users[np.minimum(place, max(len(users) - 1, 0))] == user) if len(users) else place[:0]
    order = found[np.argsort(place[found], kind="stable")]
    return place[order], topic[order]


def _table(user: Longs, topic: Longs, begin: int, end: int, topics: int) -> Reals:
    low, high = np.searchsorted(user, [begin, end])
    return profiles(user[low:high] - begin, topic[low:high], end - begin, topics)
