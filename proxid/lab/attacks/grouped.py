"""Attackers that know which records left together (DESIGN 8.4): the guess is always another member of the group.

In mode `mix` a group's owners and its published users are the same people, so a guess outside it is wasted. The theorem
says that none of these does better than 1/(n-1) in a group of n:
- `group-random` draws a member; `group-next` takes the next in order, which would find a cycle left unshuffled;
- `group-busiest` takes the member most published at the node before (record linkage 3 inside the group).
"""

import numpy as np

from proxid.lab.attacks.base import Attacker, Guesses, Observed
from proxid.lab.logs.jit import Codes, Columns, Longs, Scalar, compiled
from proxid.lab.stretches import PairCounts, count_pair, draw, pair_key, random_state

NAMES = ("group-random", "group-next", "group-busiest")


@compiled
def _pick(table: Columns, user: Codes, begin: int, end: int, i: int, context: int, random: Columns) -> Scalar:
    """The other member with the highest count in the context of record i; equal ones are drawn among."""
    best, score, ties = -1, -1, 1
    for j in range(begin, end):
        if user[j] == user[i]:
            continue
        value = count_pair(table, pair_key(context, user[j]), 0) if context >= 0 else 0
        if value > score:
            best, score, ties = j, value, 1
        elif value == score:
            ties += 1
            if draw(random, ties) == 0:
                best = j
    return best


@compiled
def _run(state: Columns, user: Codes, context: Codes, bounds: Longs, take_next: int, out: Columns) -> Scalar:
    """Guess every record of every group, then count the group into the history."""
    table, random = state
    made = 0
    for g in range(len(bounds) - 1):
        begin, end = bounds[g], bounds[g + 1]
        if end - begin < 2:
            continue
        for i in range(begin, end):
            pick = begin + (i - begin + 1) % (end - begin)
            if user[pick] == user[i]:
                pick = -1
            if not take_next:
                pick = _pick(table, user, begin, end, i, context[i], random)
            if pick >= 0:
                out[0][made], out[1][made] = i, user[pick]
                made += 1
        for i in range(begin, end):
            if context[i] >= 0:
                count_pair(table, pair_key(context[i], user[i]), 1)
    return made


class GroupAttacker(Attacker):
    """One of the group-aware attackers by name; records without a group are never guessed."""

    def __init__(self, name: str, *, no_text: int = -1, seed: int = 0) -> None:
        self.name, self.no_text = name, no_text
        self.counts, self.random = PairCounts(), random_state(seed)
        self.tail: list[Observed] = []

    def feed(self, batch: Observed) -> Guesses:
        """Guess all groups but the last, which may go on in the next batch."""
        whole = Observed.concatenate([*self.tail, batch])
        keep = 0
        if len(whole):
            last = whole.group != whole.group[-1]
            keep = int(np.flatnonzero(last)[-1]) + 1 if last.any() else 0
        self.tail = [whole.slice(keep, len(whole))]
        return self._guess(whole.slice(0, keep))

    def finish(self) -> Guesses:
        """Guess the last group."""
        parts, self.tail = self.tail, []
        return Guesses.concatenate([self._guess(part) for part in parts])

    @staticmethod
    def _groups(seen: Observed) -> tuple[Observed, Longs]:
        """The records that have a group, and where each group begins (one more at the end)."""
        seen = Observed(*(getattr(seen, name)[seen.group >= 0] for name in Observed.__slots__))
        edges = np.flatnonzero(np.diff(seen.group)) + 1
        return seen, np.concatenate([[0], edges, [len(seen)]]) if len(seen) else np.zeros(1, np.int64)

    def _guess(self, seen: Observed) -> Guesses:
        seen, bounds = self._groups(seen)
        self.counts.reserve(len(seen))
        out = (np.empty(len(seen), np.int64), np.empty(len(seen), np.int32))
        state = (self.counts.table, self.random)
        context = seen.node if self.name == "group-busiest" else np.full(len(seen), -1, np.int32)
        made = _run(state, seen.user, context, bounds, int(self.name == "group-next"), out)
        return Guesses(seen.row[out[0][:made]], out[1][:made].copy())

    @property
    def nbytes(self) -> int:
        """Bytes of the history."""
        return self.counts.nbytes
