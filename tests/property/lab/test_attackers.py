"""Attackers: what they may guess, whatever the stream; and that they are streams (DESIGN 14, 002 §4.2.5, §3.3.5)."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxid.errors import InputError
from proxid.lab.attacks.base import Attacker, Guesses, Observed, run_attacker
from proxid.lab.attacks.buffered import RULES, BufferedAttacker
from proxid.lab.attacks.disclosure import DisclosureAttacker
from proxid.lab.attacks.grouped import NAMES, GroupAttacker
from proxid.lab.attacks.neighbour import NeighbourAttacker

MAKERS = {
    **{name: (lambda name=name: BufferedAttacker(name, k=3, seed=5)) for name in RULES},
    "neighbour": lambda: NeighbourAttacker(width=3, seed=5),
    **{name: (lambda name=name: GroupAttacker(name, seed=5)) for name in NAMES},
    "disclosure-category": lambda: DisclosureAttacker("disclosure-category", seed=5),
    "disclosure-text": lambda: DisclosureAttacker("disclosure-text", no_text=0, seed=5),
}
ROW = st.tuples(st.integers(0, 6), st.integers(0, 2), st.integers(0, 4), st.integers(0, 3))


def seen(rows: list[tuple[int, int, int, int]]) -> Observed:
    """(user, node, category, text) rows in groups of five."""
    columns = [np.array(column, np.int32) for column in zip(*rows, strict=True)] or [np.empty(0, np.int32)] * 4
    user, node, category, query = columns
    number = np.arange(len(rows), dtype=np.int64)
    return Observed(number, user, node, category + 10 * (node + 1), query, (number // 5).astype(np.int32))


def in_pieces(attacker: Attacker, whole: Observed, cuts: list[int]) -> Guesses:
    edges = [0, *sorted(cut % (len(whole) + 1) for cut in cuts), len(whole)]
    parts = [attacker.feed(whole.slice(a, b)) for a, b in itertools.pairwise(edges)]
    return Guesses.concatenate([*parts, attacker.finish()])


@pytest.mark.parametrize("name", MAKERS)
@given(rows=st.lists(ROW, max_size=60), cuts=st.lists(st.integers(0, 100), max_size=4))
def test_answers_do_not_depend_on_batches(name: str, rows: list[tuple[int, int, int, int]], cuts: list[int]) -> None:
    whole = seen(rows)
    once, pieces = run_attacker(MAKERS[name](), whole), in_pieces(MAKERS[name](), whole, cuts)
    assert once.row.tolist() == pieces.row.tolist()
    assert once.user.tolist() == pieces.user.tolist()


@pytest.mark.parametrize("name", MAKERS)
@given(rows=st.lists(ROW, max_size=60))
def test_a_record_is_guessed_once_and_by_somebody_seen_at_its_node(
    name: str, rows: list[tuple[int, int, int, int]]
) -> None:
    whole = seen(rows)
    found = run_attacker(MAKERS[name](), whole)
    assert len(set(found.row.tolist())) == len(found)
    present = set(zip(whole.node.tolist(), whole.user.tolist(), strict=True))
    if not name.startswith(("group", "disclosure")):
        assert all((int(whole.node[r]), u) in present for r, u in zip(found.row, found.user.tolist(), strict=True))
    if not name.startswith("deanon"):  # chapter 3's attackers do not rule the published user out
        assert (whole.user[found.row] != found.user).all()


@pytest.mark.parametrize("name", ["rl1", "rl2", "rl3"])
@given(rows=st.lists(ROW, max_size=80), k=st.integers(2, 4))
def test_record_linkage_holds_what_algorithm_5_holds(name: str, rows: list[tuple[int, int, int, int]], k: int) -> None:
    """The buffers are left with at most k distinct users a node, and a query less for every guess."""
    whole = seen(rows)
    attacker = BufferedAttacker(name, k=k)
    found = run_attacker(attacker, whole)
    assert (attacker.users.size <= k).all()
    assert int(attacker.waiting.size.sum()) == len(whole) - len(found)


@given(rows=st.lists(ROW, max_size=60), width=st.integers(1, 5))
def test_neighbour_guesses_a_most_published_user_of_its_window(
    rows: list[tuple[int, int, int, int]], width: int
) -> None:
    whole = seen(rows)
    found = run_attacker(NeighbourAttacker(width=width), whole)
    guessed = dict(zip(found.row.tolist(), found.user.tolist(), strict=True))
    for node in set(whole.node.tolist()):
        at = np.flatnonzero(whole.node == node)
        for i, row in enumerate(at.tolist()):
            window = at[max(0, i - width) : i + width + 1]
            counts = Counter(u for u in whole.user[window].tolist() if u != whole.user[row])
            if not counts:
                assert row not in guessed
                continue
            assert counts[guessed[row]] == max(counts.values())


@pytest.mark.parametrize("name", [*NAMES, "disclosure-category", "disclosure-text"])
@given(rows=st.lists(ROW, max_size=60))
def test_group_attackers_guess_members(name: str, rows: list[tuple[int, int, int, int]]) -> None:
    whole = seen(rows)
    found = run_attacker(MAKERS[name](), whole)
    for row, user in zip(found.row.tolist(), found.user.tolist(), strict=True):
        assert user in whole.user[whole.group == whole.group[row]]


def test_record_linkage_3_takes_the_busiest_of_the_node() -> None:
    """k=2: user 1 was published three times, so of {2, 1, 3} it is the guess for any query not published under it.

    By hand: rows 0-2 are user 1, row 3 user 2, row 4 user 3 brings a third distinct user: one query leaves. Scores
    (records × entries): user 1 3·3, users 2 and 3 1·1. Under the published user 1 the guess is 2 or 3, else 1.
    """
    rows = [(1, 0, 0, 0)] * 3 + [(2, 0, 0, 0), (3, 0, 0, 0)]
    for seed in range(20):
        found = run_attacker(BufferedAttacker("rl3", k=2, seed=seed), seen(rows))
        published = seen(rows).user[found.row[0]]
        assert found.user[0] == 1 if published != 1 else found.user[0] in (2, 3)


def test_de_anonymiser_grows_k_while_one_user_fills_the_node() -> None:
    """k=3, δ=1.2 (002 §3.3.4.2): three records of one user raise k to 4, four to 5; a second user then lets one go."""
    attacker = BufferedAttacker("deanon1", k=3)
    assert len(run_attacker(attacker, seen([(1, 0, 0, 0)] * 4))) == 0
    assert attacker.limit[0] == 5
    assert len(attacker.feed(seen([(2, 0, 0, 0)]))) == 1


@pytest.mark.parametrize("k", [0, 1])
def test_parameters_are_checked(k: int) -> None:
    with pytest.raises(InputError):
        BufferedAttacker("rl1", k=k)
    with pytest.raises(InputError):
        NeighbourAttacker(width=k - 1)
