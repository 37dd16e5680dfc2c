"""Statistical disclosure (Danezis 2003) on groups: linking through what is published, which no permutation hides.

The theorem of DESIGN 8.4 bounds what arrivals tell: who, when, at which node. It does not bound content (8.4.2): if one
person keeps asking the same text, or keeps to one category below the node, that person is a member of every group in
which it appears. For each member u and content c of a group the attacker compares how often u has been in groups with c
(and was not the one published with it, who is never the owner) with how often chance would have it:

    score(u, c) = (together - groups(u)·share(c)) / sqrt(groups(u)·share(c) + 1)

`disclosure-text` needs texts that repeat: the ladder and one entry a text and epoch are there to leave it nothing.
`disclosure-category` is what ℓ leaves: above 1/(n-1) as far as people have lasting interests below the node.
"""

from math import sqrt

import numpy as np

from proxid.lab.attacks.base import Guesses, Observed
from proxid.lab.attacks.grouped import GroupAttacker
from proxid.lab.logs.jit import Codes, Columns, Longs, Scalar, compiled
from proxid.lab.stretches import PairCounts, count_pair, draw, pair_key

NAMES = ("disclosure-category", "disclosure-text")
ALL = (1 << 31) - 1
"""Stands for any user in a key: the number of groups themselves."""
_PAIRS_AT_ONCE = 4_000_000


@compiled
def _score(tables: Columns, node: int, content: int, user: int) -> Scalar:
    together, members = tables
    groups = count_pair(members, pair_key(node, ALL), 0)
    expected = count_pair(members, pair_key(node, user), 0) * (
        count_pair(together, pair_key(content, ALL), 0) / max(groups, 1)
    )
    seen = count_pair(together, pair_key(content, user), 0)
    return (seen - expected) / sqrt(expected + 1.0)


@compiled
def _guess(tables: Columns, seen: Columns, begin: int, end: int, i: int, random: Columns) -> Scalar:
    """The member whose presence goes with record i's content most; equal ones are drawn among."""
    user, node, content = seen
    best, score, ties = -1, -1e300, 1
    for j in range(begin, end):
        if user[j] == user[i]:
            continue
        value = _score(tables, node[i], content[i], user[j]) if content[i] >= 0 else 0.0
        if value > score + 1e-12:
            best, score, ties = j, value, 1
        elif value >= score - 1e-12:
            ties += 1
            if draw(random, ties) == 0:
                best = j
    return best


@compiled
def _remember(tables: Columns, seen: Columns, begin: int, end: int) -> None:
    """Count a group: its members, and who was there with which content."""
    user, node, content = seen
    together, members = tables
    count_pair(members, pair_key(node[begin], ALL), 1)
    for i in range(begin, end):
        count_pair(members, pair_key(node[i], user[i]), 1)
        if content[i] < 0:
            continue
        times = 0
        for j in range(begin, i + 1):
            times += content[j] == content[i]
        if times > 1:
            continue
        for j in range(i + 1, end):
            times += content[j] == content[i]
        count_pair(together, pair_key(content[i], ALL), 1)
        for j in range(begin, end):
            if times > 1 or user[j] != user[i]:
                count_pair(together, pair_key(content[i], user[j]), 1)


@compiled
def _run(tables: Columns, seen: Columns, bounds: Longs, random: Columns, out: Columns) -> Scalar:
    made = 0
    for g in range(len(bounds) - 1):
        for i in range(bounds[g], bounds[g + 1]):
            pick = _guess(tables, seen, bounds[g], bounds[g + 1], i, random)
            if pick >= 0:
                out[0][made], out[1][made] = i, seen[0][pick]
                made += 1
        _remember(tables, seen, bounds[g], bounds[g + 1])
    return made


class DisclosureAttacker(GroupAttacker):
    """The statistical disclosure attack on full categories or on texts."""

    def __init__(self, name: str, *, no_text: int = -1, seed: int = 0) -> None:
        super().__init__(name, no_text=no_text, seed=seed)
        self.members = PairCounts()

    def _guess(self, seen: Observed) -> Guesses:
        seen, bounds = self._groups(seen)
        parts = [self._guess_groups(seen, part) for part in _pieces(bounds)]
        return Guesses.concatenate(parts)

    def _guess_groups(self, seen: Observed, bounds: Longs) -> Guesses:
        sizes = np.diff(bounds)
        self.counts.reserve(int((sizes * (sizes + 1)).sum()))
        self.members.reserve(int((sizes + 1).sum()))
        rows = int(bounds[-1] - bounds[0])
        out = (np.empty(rows, np.int64), np.empty(rows, np.int32))
        tables = (self.counts.table, self.members.table)
        made = _run(tables, (seen.user, seen.node, self._content(seen)), bounds, self.random, out)
        return Guesses(seen.row[out[0][:made]], out[1][:made].copy())

    def _content(self, seen: Observed) -> Codes:
        if self.name == "disclosure-category":
            return seen.category
        return np.where(seen.query == self.no_text, np.int32(-1), seen.query).astype(np.int32)

    @property
    def nbytes(self) -> int:
        """Bytes of the two tables."""
        return self.counts.nbytes + self.members.nbytes


def _pieces(bounds: Longs) -> list[Longs]:
    """Runs of groups that add a bounded number of pairs each."""
    pieces, begin, pairs = [], 0, 0
    for i, size in enumerate(np.diff(bounds).tolist()):
        pairs += size * (size + 1)
        if pairs > _PAIRS_AT_ONCE or i == len(bounds) - 2:
            pieces.append(bounds[begin : i + 2])
            begin, pairs = i + 1, 0
    return pieces
