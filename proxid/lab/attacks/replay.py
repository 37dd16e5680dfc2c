"""Replays the thesis's buffers beside a release: when each record left, and what an informed adversary knew then.

The users' entries of a buffer follow from the arrivals and the published users alone (002 §3.3.4.2, §4.2.5: an arrival
adds one, a release takes the published one away), so the moment of every release follows from the two files. Whose
*queries* still wait needs the owner of each released record. Before each release the exact posterior of its owner is

    Algorithm 4:  P(owner = o | published x, state)  ∝  waiting(o) / (entries - entries(o)),    o ≠ x
    Algorithm 2:  P(owner = o | published x, state)  ∝  waiting(o)

since a query is drawn uniformly, and then a user among the entries that are not its owner's, or among all (DESIGN 8.3).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from proxid.errors import InputError
from proxid.lab.logs.jit import Codes, Columns, Longs, Reals, Scalar, compiled
from proxid.lab.mechanism import Mechanism
from proxid.lab.stretches import Stretches, Table, draw, find_entry, random_state

MISMATCH, OUT_OF_STEP = -2, -1


@compiled
def entry_of(users: Columns, node: int, user: int) -> Scalar:
    """Position of a user's entry [user, entries, waiting] at a node, added when new."""
    start, _, size, entries = users
    at = find_entry(entries, start[node], start[node] + size[node], user)
    if at < 0:
        at = start[node] + size[node]
        size[node] += 1
        entries[at, 0], entries[at, 1], entries[at, 2] = user, 0, 0
    return at


@compiled
def drop_if_empty(users: Columns, node: int, user: int) -> None:
    """Remove a user's entry that counts nothing any more."""
    start, _, size, entries = users
    at = find_entry(entries, start[node], start[node] + size[node], user)
    if at >= 0 and entries[at, 1] == 0 and entries[at, 2] == 0:
        last = start[node] + size[node] - 1
        for column in range(3):
            entries[at, column] = entries[last, column]
        size[node] -= 1


@compiled
def _exclude(entries: Table, begin: int, end: int, owner: int, colluders: int, random: Any, out: Longs) -> Scalar:
    """Draw distinct positions of users other than the owner, who collude; returns how many."""
    others = 0
    for at in range(begin, end):
        if entries[at, 0] != owner:
            others += 1
    wanted, taken, seen = min(colluders, others), 0, 0
    for at in range(begin, end):
        if entries[at, 0] == owner:
            continue
        if draw(random, others - seen) < wanted - taken:
            out[taken] = at
            taken += 1
        seen += 1
    return taken


@compiled
def posterior(
    entries: Table, stretch: Any, published: int, closed: Longs, free: int, result: Reals, random: Any
) -> Scalar:
    """Position of the likeliest owner (equal ones drawn among); result[0] is its probability.

    stretch = (begin, end, colluders): `closed[:colluders]` are positions of people who know that the text is not
    theirs. free: Algorithm 2, where the published user may be the owner.
    """
    begin, end, colluders = stretch
    total_entries = 0
    for at in range(begin, end):
        total_entries += entries[at, 1]
    best, score, mass, ties = -1, 0.0, 0.0, 1
    for at in range(begin, end):
        others = total_entries - entries[at, 1]
        if entries[at, 2] == 0 or (not free and (entries[at, 0] == published or others == 0)):
            continue
        shut = False
        for i in range(colluders):
            shut = shut or closed[i] == at
        if shut:
            continue
        weight = entries[at, 2] / (1.0 if free else others)
        mass += weight
        if weight > score * (1 + 1e-12):
            best, score, ties = at, weight, 1
        elif weight >= score * (1 - 1e-12):
            ties += 1
            if draw(random, ties) == 0:
                best = at
    result[0] = score / mass if mass > 0 else 0.0
    return best


@compiled
def _release(users: Columns, distinct: Longs, node: int, row: int, facts: Columns, tools: Columns) -> Scalar:
    """Account for one released record: guess its owner, then take it out of the buffer."""
    user, owner, guess, top, _ = facts
    colluders, closed, free, result, random = tools
    start, _, size, entries = users
    begin, end = start[node], start[node] + size[node]
    if owner[row] >= 0:
        taken = _exclude(entries, begin, end, owner[row], colluders, random, closed) if colluders else 0
        best = posterior(entries, (begin, end, taken), user[row], closed, free, result, random)
        if best >= 0:
            guess[row], top[row] = entries[best, 0], result[0]
        at = find_entry(entries, begin, end, owner[row])
        if at < 0 or entries[at, 2] == 0:
            return MISMATCH
        entries[at, 2] -= 1
    at = find_entry(entries, begin, end, user[row])
    if at < 0 or entries[at, 1] == 0:
        return MISMATCH
    entries[at, 1] -= 1
    if entries[at, 1] == 0:
        distinct[node] -= 1
    drop_if_empty(users, node, user[row])
    if owner[row] >= 0:
        drop_if_empty(users, node, owner[row])
    return 0


@compiled
def _due(gate: Columns, node: int, free: int, already: int) -> Scalar:
    """Whether a record leaves the node now; `gate` = (distinct users, entries, size that lets go, [k], [δ])."""
    distinct, count, limit, k, delta = gate
    if not free:
        return distinct[node] > k[0]
    if already or count[node] < limit[node]:
        return False
    if distinct[node] == 1:
        limit[node] = max(limit[node] + 1, np.int64(np.ceil(limit[node] * delta[0])))
        return False
    return True


@compiled
def _replay(users: Columns, arrivals: Columns, queue: Columns, facts: Columns, gate: Columns, tools: Columns) -> Scalar:
    """Read arrivals; at each, the records that left then. Returns 0, OUT_OF_STEP or MISMATCH."""
    arriving, nodes = arrivals
    order, next_row, stop = queue
    for i in range(len(arriving)):
        node = nodes[i]
        at = entry_of(users, node, arriving[i])
        entries = users[3]
        if entries[at, 1] == 0:
            gate[0][node] += 1
        entries[at, 1] += 1
        entries[at, 2] += 1
        gate[1][node] += 1
        sent = 0
        while _due(gate, node, tools[2], sent):
            if next_row[node] >= stop[node]:
                return OUT_OF_STEP
            row = order[next_row[node]]
            next_row[node] += 1
            facts[4][row] = i + 1
            status = _release(users, gate[0], node, row, facts, tools)
            if status < 0:
                return status
            gate[1][node] -= 1
            sent += 1
    return 0


@dataclass(frozen=True, slots=True)
class Replayed:
    """A column a released record: the informed guess (-1 none), its posterior, and arrivals read when it left."""

    guess: Codes
    posterior: Reals
    at: Longs


def replay(
    arrivals: tuple[Codes, Codes],
    released: tuple[Codes, Codes, Codes],
    mechanism: Mechanism,
    *,
    colluders: int = 0,
    seed: int = 0,
) -> Replayed:
    """Replay mode `thesis` or `thesis3`: arrivals = (user, node), released = (user, node, owner or -1).

    colluders: people of the buffer, drawn anew for each record among all but its owner, who tell what they asked. At a
    node with any record of unknown owner nothing is guessed, but `at` is still exact.
    Raises InputError when the release is not this mode's at this k, ℓ and δ.
    """
    user, node, owner = released
    count = int(max(arrivals[1].max(initial=-1), node.max(initial=-1))) + 1
    users, k = Stretches(3), mechanism.k
    if len(arrivals[1]):
        users.reserve(np.concatenate([arrivals[1], np.array([count - 1], np.int32)]))
    stop = np.cumsum(np.bincount(node, minlength=count))
    queue = (np.argsort(node, kind="stable"), np.concatenate([[0], stop])[:-1].copy(), stop)
    facts = (
        user,
        _known_nodes(node, owner, count),
        np.full(len(user), -1, np.int32),
        np.zeros(len(user)),
        np.full(len(user), -1, np.int64),
    )
    zeros = [np.zeros(count, np.int64) for _ in range(2)]
    gate = (*zeros, np.full(count, k, np.int64), np.array([k], np.int64), np.array([mechanism.delta]))
    free = int(mechanism.mode == "thesis3")
    tools = (colluders, np.zeros(max(colluders, 1), np.int64), free, np.zeros(1), random_state(seed))
    status = _replay(users.columns, arrivals, queue, facts, gate, tools)
    if status < 0 or (queue[1] != stop).any():
        raise InputError(f"the release is not that of mode {mechanism.mode} at this k and level")
    return Replayed(facts[2], facts[3], facts[4])


def _known_nodes(node: Codes, owner: Codes, count: int) -> Codes:
    """Owners, but -1 at every node that has a record of unknown owner: there the waiting counts are unknown."""
    holes = np.bincount(node[owner < 0], minlength=count) > 0
    return np.where(holes[node], -1, owner).astype(np.int32) if count else owner
