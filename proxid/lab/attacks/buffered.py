"""Attackers that run the anonymiser backwards: Algorithm 5 (002 §4.2.5) and Algorithm 3 (002 §3.3.5).

Both refill the anonymiser's buffers with the released stream and take a query and a user out where the anonymiser did.
They differ in when they take (more than k distinct users; or k entries, k growing by δ where all are one user), and in
whom: at random, the user with most entries, the one with most records at the node so far, or the product of the two.
Record linkage 1-3 obeys Restriction 4.1 backwards (the published user is not the owner); chapter 3's four do not.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from proxid.errors import InputError
from proxid.lab.attacks.base import Attacker, Guesses, Observed
from proxid.lab.logs.jit import Codes, Columns, Longs, Scalar, compiled
from proxid.lab.stretches import PairCounts, Stretches, Table, count_pair, draw, find_entry, pair_key, random_state


class Choice(IntEnum):
    """Whom the attacker takes for the owner."""

    RANDOM = 0
    MOST_ENTRIES = 1
    MOST_RECORDS = 2
    PRODUCT = 3


@compiled
def _best_user(entries: Table, begin: int, end: int, not_user: int, choice: int, random: Any) -> Scalar:
    """Position of the user with the highest score; equal ones are drawn among."""
    best, score, ties = -1, -1, 1
    for at in range(begin, end):
        if entries[at, 0] == not_user:
            continue
        value = entries[at, 1] if choice == 1 else entries[at, 2] if choice == 2 else entries[at, 1] * entries[at, 2]
        if value > score:
            best, score, ties = at, value, 1
        elif value == score:
            ties += 1
            if draw(random, ties) == 0:
                best = at
    return best


@compiled
def _random_user(entries: Table, begin: int, end: int, not_user: int, random: Any) -> Scalar:
    """Position of a user drawn by entries."""
    total = 0
    for at in range(begin, end):
        if entries[at, 0] != not_user:
            total += entries[at, 1]
    if total == 0:
        return -1
    left = draw(random, total)
    for at in range(begin, end):
        if entries[at, 0] != not_user:
            if left < entries[at, 1]:
                return at
            left -= entries[at, 1]
    return -1


@compiled
def _enter(users: Columns, waiting: Columns, records: Columns, node: int, user: int, row: int, counting: int) -> None:
    """Add an entry of a user, its record count and the query (lines 3-4 of Algorithm 3, 6-9 of Algorithm 5)."""
    start, _, size, entries = users
    past = count_pair(records, pair_key(node, user), 1) if counting else 0
    at = find_entry(entries, start[node], start[node] + size[node], user)
    if at < 0:
        at = start[node] + size[node]
        size[node] += 1
        entries[at, 0], entries[at, 1] = user, 0
    entries[at, 1] += 1
    entries[at, 2] = past
    at = waiting[0][node] + waiting[2][node]
    waiting[3][at, 0], waiting[3][at, 1] = row, user
    waiting[2][node] += 1


@compiled
def _link(users: Columns, waiting: Columns, node: int, rule: Any, random: Any, out: Columns, made: int) -> Scalar:
    """Take a random query and the user that the rule chooses; returns the number of guesses made so far."""
    start, _, size, entries = users
    first, count = waiting[0][node], waiting[2][node]
    query = first + draw(random, count)
    row, published = waiting[3][query, 0], waiting[3][query, 1]
    not_user = published if rule[2] else -1
    begin, end = start[node], start[node] + size[node]
    if rule[1] == 0:
        who = _random_user(entries, begin, end, not_user, random)
    else:
        who = _best_user(entries, begin, end, not_user, rule[1], random)
    if who < 0:
        return made
    out[0][made], out[1][made] = row, entries[who, 0]
    for column in range(2):
        waiting[3][query, column] = waiting[3][first + count - 1, column]
    waiting[2][node] -= 1
    entries[who, 1] -= 1
    if entries[who, 1] == 0:
        for column in range(3):
            entries[who, column] = entries[end - 1, column]
        size[node] -= 1
    return made + 1


@compiled
def _run(state: Columns, rule: Any, seen: Columns, k: int, delta: float, out: Columns) -> Scalar:
    """Feed records; `rule` = [gate, choice, exclude]; returns how many guesses were written to `out`."""
    users, waiting, records, limit, random = state
    row, user, node = seen
    made = 0
    for i in range(len(row)):
        at = node[i]
        _enter(users, waiting, records, at, user[i], row[i], int(rule[1] >= 2))
        if rule[0] == 0:
            while users[2][at] > k:
                made = _link(users, waiting, at, rule, random, out, made)
        elif waiting[2][at] >= limit[at]:
            if users[2][at] > 1:
                made = _link(users, waiting, at, rule, random, out, made)
            else:
                limit[at] = max(limit[at] + 1, np.int64(np.ceil(limit[at] * delta)))
    return made


@dataclass(frozen=True, slots=True)
class Rule:
    """One of the papers' attackers: when it takes, whom it takes, whether the published user is ruled out."""

    by_size: bool
    choice: Choice
    exclude: bool

    def packed(self) -> Longs:
        """The numbers the loop reads."""
        return np.array([self.by_size, self.choice, self.exclude], np.int64)


RULES = {
    "rl1": Rule(False, Choice.RANDOM, True),
    "rl2": Rule(False, Choice.MOST_ENTRIES, True),
    "rl3": Rule(False, Choice.PRODUCT, True),
    "deanon1": Rule(True, Choice.RANDOM, False),
    "deanon2": Rule(True, Choice.MOST_ENTRIES, False),
    "deanon3": Rule(True, Choice.MOST_RECORDS, False),
    "deanon4": Rule(True, Choice.PRODUCT, False),
}


class BufferedAttacker(Attacker):
    """Record linkage 1-3 and de-anonymisers 1-4 by name; k and δ are the anonymiser's."""

    def __init__(self, name: str, *, k: int, seed: int = 0, delta: float = 1.2) -> None:
        if k < 2 or delta <= 1:
            raise InputError("k is at least 2 and delta more than 1")
        self.k, self.delta, self.rule = k, delta, RULES[name].packed()
        self.users, self.waiting, self.records = Stretches(3), Stretches(2), PairCounts()
        self.limit, self.random = np.zeros(0, np.int64), random_state(seed)

    def feed(self, batch: Observed) -> Guesses:
        """Take the next records, give the guesses that are due."""
        self._reserve(batch.node)
        room = len(batch) + int(self.waiting.size.sum())
        out = (np.empty(room, np.int64), np.empty(room, np.int32))
        state = (self.users.columns, self.waiting.columns, self.records.table, self.limit, self.random)
        made = _run(state, self.rule, (batch.row, batch.user, batch.node), self.k, self.delta, out)
        return Guesses(out[0][:made].copy(), out[1][:made].copy())

    def _reserve(self, nodes: Codes) -> None:
        self.users.reserve(nodes)
        self.waiting.reserve(nodes)
        self.records.reserve(len(nodes) if self.rule[1] >= Choice.MOST_RECORDS else 0)
        new = len(self.users.size) - len(self.limit)
        self.limit = np.concatenate([self.limit, np.full(max(new, 0), self.k, np.int64)])

    @property
    def nbytes(self) -> int:
        """Bytes of buffers and of the records counted."""
        return self.users.nbytes + self.waiting.nbytes + self.records.nbytes
