"""How many guesses were right, counted the ways DESIGN 14 asks for.

- Pair linkage (the papers'): the guessed user and the record's text occur together in the input. It counts
  coincidences: another person's identical query is a hit.
- Same-record linkage: the guessed user issued this very record. Over the attacked records, and over the whole input,
  where whatever is still held counts as not linked; the share held stands beside.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from proxid.lab.attacks.base import Guesses
from proxid.lab.intervals import Rate, clustered_rate, cycle_test
from proxid.lab.logs.jit import Codes, Flags, Longs
from proxid.lab.released_log import Release, with_text

RUN = 20
"""Without groups, records of a node count as dependent within runs of RUN·(k+1), many times what a buffer holds."""


@dataclass(frozen=True, slots=True)
class Hits:
    """A column a guess: pair linkage, same record, whether the owner is known, whether the guess is a group member."""

    pair: Flags
    same: Flags
    known: Flags
    inside: Flags


def clusters(release: Release) -> Longs:
    """The cluster of each released record, numbered from 0: its group, or its run at its node."""
    if "clusters" not in release.cache:
        release.cache["clusters"] = _clusters(release)
    result: Longs = release.cache["clusters"]
    return result


def _clusters(release: Release) -> Longs:
    if release.grouped:
        return np.unique(release.released.group, return_inverse=True)[1]
    order = np.argsort(release.node, kind="stable")
    ordered = release.node[order]
    rank = np.arange(len(ordered)) - np.searchsorted(ordered, ordered, "left")
    result = np.empty(len(ordered), np.int64)
    result[order] = (ordered.astype(np.int64) << 32) | (rank // (RUN * (release.mechanism.k + 1)))
    return np.unique(result, return_inverse=True)[1]


def input_pairs(release: Release) -> Longs:
    """Sorted keys of the (user, text) pairs that occur in the input."""
    if "pairs" not in release.cache:
        release.cache["pairs"] = np.unique(_pair(release.original.user, release.original.query))
    result: Longs = release.cache["pairs"]
    return result


def _pair(user: Codes, query: Codes) -> Longs:
    return (user.astype(np.int64) << 32) | query.astype(np.int64)


def member_keys(release: Release) -> Longs:
    """Sorted keys of the (group, user) pairs of the release."""
    if "members" not in release.cache:
        release.cache["members"] = np.unique(_pair(release.released.group, release.released.user))
    result: Longs = release.cache["members"]
    return result


def contains(sorted_keys: Longs, keys: Longs) -> Flags:
    """Whether each key is among sorted ones."""
    if not len(sorted_keys):
        return np.zeros(len(keys), bool)
    at = np.minimum(np.searchsorted(sorted_keys, keys), len(sorted_keys) - 1)
    result: Flags = sorted_keys[at] == keys
    return result


def judge(release: Release, guesses: Guesses) -> Hits:
    """Mark every guess."""
    row, user = guesses.row, guesses.user
    shown = with_text(release.released, release.no_text)[row]
    pair = shown & contains(input_pairs(release), _pair(user, release.released.query[row]))
    same = release.owner[row] == user
    group = release.released.group[row]
    member = (group >= 0) & (user != release.released.user[row])
    member &= contains(member_keys(release), _pair(group, user))
    return Hits(pair, same & release.known[row], release.known[row], member)


def linkage(release: Release, guesses: Guesses, *, cells: int = 1, margin: float = 0.1) -> dict[str, Any]:
    """The report on an attacker's guesses; `cells` corrects the test of `mix` for the number of tests made."""
    hits = judge(release, guesses)
    cluster = clusters(release)[guesses.row]
    report: dict[str, Any] = {
        "guessed": len(guesses),
        "held": _held(release, len(guesses)),
        "pair_linkage": _pair_report(release, hits, cluster),
        "same_record": _same_report(release, hits, cluster),
        "bound": release.mechanism.bound,
    }
    if release.person >= 0:
        mine = release.owner[guesses.row] == release.person
        report["person"] = person_report(release, int(mine.sum()), int((mine & hits.same).sum()))
    if release.grouped:
        report["groups"] = _group_report(release, guesses, hits, cells, margin)
    return report


def person_report(release: Release, attacked: int, found: int) -> dict[str, int]:
    """One person's records: in the input, released and attacked, found, that is, laid at this person's door."""
    asked = int((release.original.user == release.person).sum())
    return {"records": asked, "attacked": attacked, "found": found}


def _held(release: Release, guessed: int) -> dict[str, float]:
    """What was not attacked: share of the input never released, share of the release never guessed."""
    rows_in, rows_out = len(release.original), len(release.released)
    return {
        "by_mechanism": 1 - rows_out / rows_in if rows_in else 0.0,
        "by_attacker": 1 - guessed / rows_out if rows_out else 0.0,
    }


def _over_input(rate: Rate, attacked: int, rows_in: int) -> dict[str, Any]:
    """The same hits over all input: held records count as not linked."""
    share = attacked / rows_in if rows_in else float("nan")
    return Rate(rate.value * share, rate.low * share, rate.high * share, rows_in, rate.clusters).as_dict()


def _pair_report(release: Release, hits: Hits, cluster: Longs) -> dict[str, Any]:
    rate = clustered_rate(hits.pair, cluster)
    coincidence = float((~hits.same[hits.pair]).mean()) if release.exact and hits.pair.any() else float("nan")
    return {
        "exact": True,
        "of_attacked": rate.as_dict(),
        "of_input": _over_input(rate, len(hits.pair), len(release.original)),
        "coincidences": coincidence,
    }


def _same_report(release: Release, hits: Hits, cluster: Longs) -> dict[str, Any]:
    known = hits.known
    rate = clustered_rate(hits.same[known], cluster[known])
    report = {
        "exact": release.exact,
        "known_share": float(known.mean()) if len(known) else 0.0,
        "of_attacked": rate.as_dict(),
        "of_input": _over_input(rate, len(known), len(release.original)) if release.exact else None,
    }
    if not release.exact:
        report["note"] = "without a truth file: over the records whose text leaves one possible owner, a biased choice"
    return report


def _group_report(release: Release, guesses: Guesses, hits: Hits, cells: int, margin: float) -> dict[str, Any]:
    """Guesses inside the record's group against 1/(n-1), two-sided, at level ALPHA / cells."""
    counted = hits.inside & hits.known
    sizes = _group_sizes(release)
    rows = guesses.row[counted]
    group = clusters(release)[rows]
    result = cycle_test(hits.same[counted], group, sizes[rows], cells=cells, margin=margin)
    return {
        "groups": int(clusters(release).max(initial=-1)) + 1,
        "inside_share": float(hits.inside.mean()) if len(hits.inside) else float("nan"),
        "cells": cells,
        "test": result.as_dict() if result else None,
    }


def _group_sizes(release: Release) -> Longs:
    """Size of each released record's group; 0 without one."""
    if "sizes" not in release.cache:
        size = np.bincount(clusters(release))[clusters(release)]
        release.cache["sizes"] = np.where(release.released.group >= 0, size, 0)
    result: Longs = release.cache["sizes"]
    return result
