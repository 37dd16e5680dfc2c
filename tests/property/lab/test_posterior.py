"""The informed adversary's posteriors against enumeration of everything the mechanism can do (DESIGN 8.3, 8.4)."""

from collections import defaultdict
from fractions import Fraction
from itertools import permutations
from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxid.errors import InputError
from proxid.lab.attacks.cycles import group_faults, informed_groups
from proxid.lab.attacks.replay import replay
from proxid.lab.mechanism import Mechanism
from tests.support.lab_stream import released, stream

Run = tuple[tuple[int, int], ...]
"""(published user, owner) of each released record, in order."""
State = tuple[tuple[int, ...], tuple[int, ...], Run]


def thesis_runs(arrivals: list[int], k: int) -> dict[Run, Fraction]:
    """Probability of every run of Algorithm 4 at one node, by trying every choice it can make."""
    states: dict[State, Fraction] = {((), (), ()): Fraction(1)}
    for user in arrivals:
        states = {((*e, user), (*q, user), run): p for (e, q, run), p in states.items()}
        while any(len(set(e)) > k for e, _, _ in states):
            after: dict[State, Fraction] = defaultdict(Fraction)
            for (entries, queries, run), p in states.items():
                if len(set(entries)) <= k:
                    after[entries, queries, run] += p
                    continue
                for i, owner in enumerate(queries):
                    others = [j for j, entry in enumerate(entries) if entry != owner]
                    for j in others:
                        key = (
                            tuple(sorted(entries[:j] + entries[j + 1 :])),
                            tuple(sorted(queries[:i] + queries[i + 1 :])),
                            (*run, (entries[j], owner)),
                        )
                        after[key] += p / len(queries) / len(others)
            states = after
    return _runs(states)


def thesis3_runs(arrivals: list[int], k: int, delta: float) -> dict[Run, Fraction]:
    """The same for Algorithm 2, whose k grows by δ while all its users are one."""
    states: dict[tuple[State, int], Fraction] = {(((), (), ()), k): Fraction(1)}
    for user in arrivals:
        after: dict[tuple[State, int], Fraction] = defaultdict(Fraction)
        for ((e, q, run), limit), p in states.items():
            entries, queries = (*e, user), (*q, user)
            if len(entries) < limit:
                after[(entries, queries, run), limit] += p
            elif len(set(entries)) == 1:
                after[(entries, queries, run), max(limit + 1, ceil(limit * delta))] += p
            else:
                for i, owner in enumerate(queries):
                    for j, entry in enumerate(entries):
                        left = (
                            tuple(sorted(entries[:j] + entries[j + 1 :])),
                            tuple(sorted(queries[:i] + queries[i + 1 :])),
                        )
                        after[(*left, (*run, (entry, owner))), limit] += p / len(queries) / len(entries)
        states = after
    return _runs({state: p for (state, _), p in states.items()})


def _runs(states: dict[State, Fraction]) -> dict[Run, Fraction]:
    runs: dict[Run, Fraction] = defaultdict(Fraction)
    for (_, _, run), p in states.items():
        runs[run] += p
    return runs


def best_posterior(runs: dict[Run, Fraction], run: Run, i: int) -> Fraction:
    """P of the likeliest owner of record i, knowing its published user and the owners' waiting counts before it.

    Those counts follow from the multiset of owners that left before; the entries, and when records leave, from the
    published users in their order.
    """
    known = ([u for u, _ in run[: i + 1]], sorted(o for _, o in run[:i]))
    mass: dict[int, Fraction] = defaultdict(Fraction)
    for other, p in runs.items():
        if len(other) > i and ([u for u, _ in other[: i + 1]], sorted(o for _, o in other[:i])) == known:
            mass[other[i][1]] += p
    return max(mass.values()) / sum(mass.values())


@pytest.mark.parametrize("mode", ["thesis", "thesis3"])
@pytest.mark.parametrize("arrivals", [[0, 0, 1, 2, 1], [0, 1, 2, 0, 3], [0, 0, 0, 1, 2, 1], [0, 1, 0, 1, 2]])
def test_posterior_is_that_of_enumeration(mode: str, arrivals: list[int]) -> None:
    mechanism = Mechanism(mode=mode, k=2, level=1)
    runs = thesis_runs(arrivals, 2) if mode == "thesis" else thesis3_runs(arrivals, 2, mechanism.delta)
    assert sum(runs.values()) == 1
    node = np.zeros(len(arrivals), np.int32)
    for run in list(runs)[:40]:
        published, owner = (np.array(column, np.int32) for column in zip(*run, strict=True))
        found = replay((np.array(arrivals, np.int32), node), (published, node[: len(run)], owner), mechanism)
        for i in range(len(run)):
            assert found.posterior[i] == pytest.approx(float(best_posterior(runs, run, i)))


@pytest.mark.parametrize("mode", ["thesis", "thesis3"])
@given(seed=st.integers(0, 50), k=st.integers(2, 6), level=st.integers(1, 3))
def test_replay_finds_when_records_left(mode: str, seed: int, k: int, level: int) -> None:
    """From the two files alone, `at` is what the engine recorded."""
    release = released(stream(150, 12, seed), Mechanism(mode=mode, k=k, level=level), seed=seed)
    unknown = np.full(len(release.released), -1, np.int32)
    arrivals = (release.original.user, release.original_node)
    found = replay(arrivals, (release.released.user, release.node, unknown), release.mechanism)
    assert found.at.tolist() == release.at.tolist()
    assert (found.guess == -1).all()


def test_replay_refuses_another_mechanisms_release() -> None:
    release = released(stream(300, 12, 3), Mechanism(mode="thesis", k=3, level=1))
    arrivals = (release.original.user, release.original_node)
    for wrong in (Mechanism(mode="thesis", k=4, level=1), Mechanism(mode="thesis3", k=3, level=1)):
        with pytest.raises(InputError, match="not that of mode"):
            replay(arrivals, (release.released.user, release.node, release.owner), wrong)
    with pytest.raises(InputError, match="not that of mode"):
        replay(arrivals, (release.released.user[::-1].copy(), release.node, release.owner), release.mechanism)


def cycles(n: int) -> list[tuple[int, ...]]:
    """All n-cycles: cycle[owner] is the person the record is published under."""
    found = []
    for order in permutations(range(1, n)):
        ring = (0, *order)
        arcs = dict(zip(ring, (*ring[1:], 0), strict=True))
        found.append(tuple(arcs[i] for i in range(n)))
    return found


@pytest.mark.parametrize(("n", "colluders"), [(3, 0), (4, 0), (4, 1), (5, 1), (5, 2), (6, 2), (6, 3)])
def test_posterior_in_a_group_is_that_of_all_cycles(n: int, colluders: int) -> None:
    """Condition all n-cycles on what the published users and the colluders' own arcs say; compare every record."""
    every = cycles(n)
    for cycle in every[:: max(1, len(every) // 12)]:
        user, owner = np.array(cycle, np.int32), np.arange(n, dtype=np.int32)
        for seed in range(4):
            found = informed_groups(user, owner, np.zeros(n, np.int32), colluders=colluders, seed=seed)
            known = np.flatnonzero(found.guess < 0)
            assert len(known) == colluders
            fitting = [c for c in every if all(c[i] == cycle[i] for i in known)]
            for i in np.flatnonzero(found.guess >= 0):
                owners = [c.index(cycle[i]) for c in fitting]
                share = {o: owners.count(o) / len(owners) for o in set(owners)}
                assert found.posterior[i] == pytest.approx(max(share.values()))
                assert share[int(found.guess[i])] == pytest.approx(max(share.values()))
                assert found.posterior[i] == pytest.approx(1 / (n - 1 - colluders))


def test_group_faults_are_found() -> None:
    """A good group; then one too small for the claim, one with a person twice, one with an outsider."""
    user = np.array([1, 2, 3, 1, 2, 1, 1, 2, 3, 1, 2, 3], np.int32)
    owner = np.array([2, 3, 1, 2, 1, 2, 2, 1, 3, 2, 9, 1], np.int32)
    group = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 3, 3], np.int32)
    assert group_faults(user[:3], owner[:3], group[:3], 3) == 0
    assert group_faults(user, owner, group, 3) == 3
    assert group_faults(user[:3], user[:3], group[:3], 3) == 1  # everybody published with the own record
