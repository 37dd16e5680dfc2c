"""The informed adversary on mode `mix`: the exact posterior of a record's owner in a group (DESIGN 8.4).

It knows who arrived when and where, so it knows a group's members; colluding members also know their own texts, hence
which record of the group is theirs and under whom it was published. Contracting those known arcs leaves a uniform cycle
of n - c chains. The record published under x belongs to the last person of a chain other than x's own, each equally
likely: with c ≤ m members colluding, 1/(n - c - 1) ≤ 1/k.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from proxid.lab.logs.jit import Codes, Columns, Longs, Reals, Scalar, compiled
from proxid.lab.stretches import draw, random_state


@compiled
def _draw_members(begin: int, end: int, colluders: int, flag: Any, random: Any) -> None:
    """Flag so many members of a group, drawn without replacement."""
    wanted, taken = min(colluders, end - begin), 0
    for i in range(begin, end):
        flag[i] = 0
        if draw(random, end - i) < wanted - taken:
            flag[i] = 1
            taken += 1


@compiled
def _own_records(user: Codes, owner: Codes, begin: int, end: int, own: Longs) -> None:
    """own[i] = the record of the group that belongs to the user published in record i, or -1."""
    for i in range(begin, end):
        own[i] = -1
        for j in range(begin, end):
            if owner[j] == user[i]:
                own[i] = j


@compiled
def _chain_end(own: Longs, flag: Any, i: int, steps: int) -> Scalar:
    """Follow known arcs from the user published in record i; the record under which the last of the chain is published.

    `flag[j]` says that the owner of record j colludes, so its arc owner -> published user is known.
    """
    for _ in range(steps):
        if own[i] < 0 or not flag[own[i]]:
            break
        i = own[i]
    return i


@compiled
def _group(user: Codes, own: Longs, flag: Any, begin: int, end: int, out: Columns, random: Any) -> None:
    """Guess the records of one group that are nobody's who colludes; candidates do not collude themselves."""
    guess, top = out
    for i in range(begin, end):
        if flag[i]:
            continue
        last = _chain_end(own, flag, i, end - begin)
        candidates = 0
        for j in range(begin, end):
            if user[j] == user[last] or (own[j] >= 0 and flag[own[j]]):
                continue
            candidates += 1
            if draw(random, candidates) == 0:
                guess[i] = user[j]
        top[i] = 1.0 / candidates if candidates else 0.0


@compiled
def _run(people: Columns, bounds: Longs, colluders: int, room: Columns, out: Columns, random: Any) -> None:
    """Guess group after group; people = (published user, owner), room = (flag, own) for the loop's use."""
    user, owner = people
    flag, own = room
    for g in range(len(bounds) - 1):
        begin, end = bounds[g], bounds[g + 1]
        if colluders:
            _draw_members(begin, end, colluders, flag, random)
            _own_records(user, owner, begin, end, own)
        _group(user, own, flag, begin, end, out, random)


@dataclass(frozen=True, slots=True)
class GroupPosterior:
    """A column a released record: the guess (-1: the record is a colluder's own, or in no group), its posterior."""

    guess: Codes
    posterior: Reals


def informed_groups(user: Codes, owner: Codes, group: Codes, *, colluders: int = 0, seed: int = 0) -> GroupPosterior:
    """The informed adversary's guess of every record of every group, `colluders` random members of each helping."""
    guess, top = np.full(len(user), -1, np.int32), np.zeros(len(user))
    rows = np.flatnonzero(group >= 0)
    if len(rows):
        bounds = np.concatenate([[0], np.flatnonzero(np.diff(group[rows])) + 1, [len(rows)]])
        inner = (np.full(len(rows), -1, np.int32), np.zeros(len(rows)))
        room = (np.zeros(len(rows), np.uint8), np.full(len(rows), -1, np.int64))
        _run((user[rows], owner[rows]), bounds, colluders, room, inner, random_state(seed))
        guess[rows], top[rows] = inner
    return GroupPosterior(guess, top)


def group_faults(user: Codes, owner: Codes, group: Codes, least: int) -> int:
    """Groups in which the theorem's premises fail, as far as owners are known (-1: unknown).

    The premises: at least so many people, nobody twice, the owners are the published, nobody is published with the own
    record.
    """
    rows = np.flatnonzero(group >= 0)
    if not len(rows):
        return 0
    _, place, size = np.unique(group[rows], return_inverse=True, return_counts=True)
    bad = size < least
    members = np.sort((place.astype(np.int64) << 32) | user[rows])
    bad[members[1:][np.diff(members) == 0] >> 32] = True
    known = owner[rows] >= 0
    owners = np.sort((place[known].astype(np.int64) << 32) | owner[rows][known])
    bad[owners[1:][np.diff(owners) == 0] >> 32] = True
    at = np.minimum(np.searchsorted(members, owners), len(members) - 1)
    bad[owners[members[at] != owners] >> 32] = True
    bad[place[owner[rows] == user[rows]]] = True
    return int(bad.sum())
