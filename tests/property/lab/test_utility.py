"""Utility: distances against brute force, what is kept, delays, divergences (DESIGN 14, 002 §4.4.4)."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxid.lab.logs import CategoryTree
from proxid.lab.mechanism import Mechanism
from proxid.lab.released_log import Release, make_release
from proxid.lab.utility.delay import delay, release_times
from proxid.lab.utility.emd import diameter, profile_distance, profile_distances
from proxid.lab.utility.jsd import jensen_shannon
from proxid.lab.utility.kept import kept
from proxid.lab.utility.paired import tree_distances
from proxid.lab.utility.registry import METRICS, evaluate
from proxid.lab.utility.share import buffers, released_share
from proxid.lab.utility.topics import divergences
from tests.support.lab_stream import PATHS, log, released, stream

TREE = CategoryTree(PATHS)
NODE = st.integers(1, len(TREE) - 1)
PROFILE = st.integers(1, 5).flatmap(
    lambda n: st.tuples(st.lists(NODE, min_size=n, max_size=n), st.lists(NODE, min_size=n, max_size=n))
)


def path_length(a: int, b: int) -> int:
    """Edges between two nodes."""
    first, second = (set(ancestry(node)) for node in (a, b))
    return len(first ^ second)


def ancestry(node: int) -> list[int]:
    chain = []
    while node > 0:
        chain.append(node)
        node = int(TREE.parent[node])
    return chain


def distance(before: list[int], after: list[int]) -> float:
    user = np.zeros(len(before), np.int32)
    found = profile_distances(TREE, (user, np.array(before, np.int32)), (user, np.array(after, np.int32)), 1)
    return float(found.distance[0])


@given(PROFILE)
def test_distance_is_the_cheapest_matching(profiles: tuple[list[int], list[int]]) -> None:
    before, after = profiles
    cheapest = min(sum(map(path_length, before, order)) for order in permutations(after))
    assert distance(before, after) == cheapest


@given(PROFILE)
def test_distance_is_a_metric_and_both_normalisations_bound_it(profiles: tuple[list[int], list[int]]) -> None:
    before, after = profiles
    found = distance(before, after)
    assert found == distance(after, before)
    assert (found == 0) == (sorted(before) == sorted(after))
    assert found <= len(before) * diameter(TREE)
    assert found <= sum(int(TREE.depth[n]) for n in before + after)


def test_diameter() -> None:
    assert diameter(CategoryTree()) == 0
    assert diameter(CategoryTree(["A/b/c"])) == 3  # the root and a leaf
    assert diameter(CategoryTree(["A/b/c", "D/e"])) == 5
    assert diameter(CategoryTree(["A/b/c/d", "A/e/f/g", "H"])) == 6


@pytest.mark.parametrize("mode", ["thesis", "thesis3", "mix"])
@given(seed=st.integers(0, 30), k=st.integers(2, 5), level=st.integers(1, 3))
def test_kept_records_have_the_mass_of_the_published(mode: str, seed: int, k: int, level: int) -> None:
    """At every level up to that of the nodes, a person's kept and published profiles are the same (mix: unraised)."""
    release = (
        released(stream(200, 10, seed), Mechanism(mode=mode, k=k, level=level), max_delay_records=None)
        if mode == "mix"
        else released(stream(200, 10, seed), Mechanism(mode=mode, k=k, level=level))
    )
    mask = kept(release)
    before = sorted(zip(release.original.user[mask], release.original_node[mask], strict=True))
    after = sorted(zip(release.released.user, release.node, strict=True))
    assert before == after


@pytest.mark.parametrize("mode", ["thesis", "thesis3", "mix"])
def test_loss_falls_with_the_level_and_vanishes_at_full_depth(mode: str) -> None:
    """ℓ = 3 is the tree's depth: what left at its own node lost nothing (002 §4.4.4); so in mix, unless moved up."""
    losses = []
    for level in (1, 2, 3):
        release = released(stream(3000, 40, 5), Mechanism(mode=mode, k=3, level=level))
        found = profile_distance(release)
        losses.append(found["unraised"]["loss_n1"] if mode == "mix" else found["loss_n1"])
    assert losses[0] > losses[1] > losses[2] == 0


@given(PROFILE)
def test_paired_distance_is_the_sum_of_path_lengths(profiles: tuple[list[int], list[int]]) -> None:
    before, after = (np.array(side, np.int32) for side in profiles)
    assert tree_distances(TREE, before, after).tolist() == list(map(path_length, *profiles))


@pytest.mark.parametrize("mode", ["thesis", "thesis3", "mix"])
def test_paired_loss_is_no_less_than_the_cheapest(mode: str) -> None:
    for level in (1, 2, 3):
        found = profile_distance(released(stream(2000, 30, 5), Mechanism(mode=mode, k=3, level=level)))
        assert found["paired_loss_n1"] >= found["loss_n1"] - 1e-12


def test_raised_records_lose_even_at_full_depth() -> None:
    release = released(stream(3000, 40, 5), Mechanism(mode="mix", k=3, level=3), max_delay_records=100)
    found = profile_distance(release)
    assert found["loss_n1"] > 0
    assert found["unraised"]["loss_n1"] == 0
    assert found["unraised"]["records"] < found["records"]


def test_without_the_truth_kept_follows_published_users() -> None:
    """The two ways to account agree on how much of each person is kept."""
    release = released(stream(1000, 20, 2), Mechanism(mode="mix", k=3, level=2), max_delay_records=None)
    blind = make_release(release.original, release.released, release.tree, release.mechanism, no_text=release.no_text)
    assert not blind.exact
    count = [np.bincount(r.original.user[kept(r)], minlength=20).tolist() for r in (release, blind)]
    assert count[0] == count[1]
    assert profile_distance(blind)["loss_n1"] == pytest.approx(profile_distance(release)["loss_n1"], abs=0.05)
    assert profile_distance(blind)["unraised"] == {"reason": "needs the truth file"}


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=40))
def test_divergence_is_the_dense_one(rows: list[tuple[int, int, int]]) -> None:
    user, before, after = (np.array(column, np.int32) for column in zip(*rows, strict=True))
    tables = []
    for topic in (before, after):
        table = np.zeros((4, 5))
        np.add.at(table, (user, topic), 1)
        tables.append(table[np.unique(user)])
    assert divergences((user, before), (user, after)) == pytest.approx(jensen_shannon(*tables))


def worked_example() -> Release:
    """Tables 4.2 and 4.3 of 002 (k=2, ℓ=1): Alice 0, Bob 1, Charlie 2; four records leave, after records 5, 7, 8, 8."""
    names = ["piano", "myspace", "guitar", "violin", "flute", "google", "aol", "drums"]
    users = [0, 1, 0, 2, 1, 2, 0, 2]
    paths = [
        "Arts/Music" if n in ("piano", "guitar", "violin", "flute", "drums") else "Computers/Internet" for n in names
    ]
    from proxid.lab.logs import Dictionaries

    dictionaries = Dictionaries()
    original = log(list(zip(users, range(8), paths, strict=True)), dictionaries)
    origin = np.array([0, 5, 7, 2])  # piano, google, drums, guitar
    out = original.take(origin)
    published = np.array([2, 1, 0, 1], np.int32)
    fields = {name: getattr(out, name) for name in out.__slots__} | {"user": published}
    mechanism = Mechanism(mode="thesis", k=2, level=1)
    return make_release(original, type(out)(**fields), dictionaries.tree, mechanism, no_text=0, origin=origin)


def test_worked_example_of_the_thesis() -> None:
    """Times are replayed: record 1 leaves with arrival 5 (4 came in meanwhile); what does not leave is Table 4.3's."""
    release = worked_example()
    assert release_times(release)[0].tolist() == [5, 7, 8, 8]
    assert delay(release)["records"]["mean"] == (4 + 1 + 0 + 5) / 4
    left = buffers(release)
    assert (left["not_released"], left["final_q_mean"], left["final_q_max"], left["nodes"]) == (4, 2.0, 2, 2)
    assert released_share(release)["released_share"] == 0.5
    assert profile_distance(release)["loss_n1"] == 0  # every Arts record is Arts/Music


@pytest.mark.parametrize("mode", ["thesis", "thesis3", "mix"])
def test_every_metric_answers(mode: str) -> None:
    found = evaluate(released(stream(600, 20, 4), Mechanism(mode=mode, k=3, level=2)))
    assert set(found) >= {"share", "delay", "buffers", "emd", "jsd", "memory"} <= set(METRICS)
    assert found["delay"]["records"]["p99"] >= found["delay"]["records"]["p50"] >= 0
    share = found["share"]
    assert found["buffers"]["not_released"] == share["records_in"] - share["records_out"]
    assert found["memory"]["peak_in_minus_out"] >= found["buffers"]["not_released"]


def test_empty_release() -> None:
    release = released(stream(3, 2, 0), Mechanism(mode="thesis", k=5, level=1))
    found = evaluate(release, ["share", "delay", "buffers", "emd", "jsd"])
    assert found["share"]["records_out"] == 0
    assert found["emd"]["lost_share"] == 1
