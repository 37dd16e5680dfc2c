"""001's algorithms against a plainly written twin, their invariants, and SRP."""

import importlib.util
import random
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxid.errors import ConfigError
from proxid.lab.logs.files import read_log
from proxid.lab.release.microaggregation import mechanism
from proxid.lab.release.microaggregation.aggregate import aggregate, contributions, query_lists, quotas, take
from proxid.lab.release.microaggregation.matrices import categories_of, classification_matrix, classify_fields
from proxid.lab.release.microaggregation.mechanism import Queries, make_clusters, microaggregate, released_columns
from proxid.lab.release.microaggregation.partition import partition, random_partition
from proxid.lab.release.registry import Job, load_method
from proxid.lab.utility.srp import category_at, level_counts, remain, semantic_remain

LEVELS = 3
NAMES = ["Arts", "Games", "Home"]


def plain() -> ModuleType:
    """The plainly written algorithms in bench/yardsticks."""
    path = Path(__file__).parents[3] / "bench" / "yardsticks" / "plain_microaggregation.py"
    spec = importlib.util.spec_from_file_location("plain_microaggregation", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@st.composite
def logs(draw: st.DrawFn, users: int = 14) -> dict[int, list[tuple[str, list[str]]]]:
    """{user: [(query, paths)]} with at least one query a user."""
    path = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map("/".join)
    query = st.tuples(st.sampled_from("abcdefgh"), st.lists(path, min_size=0, max_size=3, unique=True))
    count = draw(st.integers(4, users))
    return {u: draw(st.lists(query, min_size=1, max_size=8)) for u in range(count)}


def as_columns(log: dict[int, list[tuple[str, list[str]]]]) -> Queries:
    rows = [(user, query, "|".join(paths)) for user, issued in log.items() for query, paths in issued]
    fields = sorted({row[2] for row in rows})
    return Queries(
        np.array([r[0] for r in rows]), np.array([ord(r[1]) for r in rows]),
        np.array([fields.index(r[2]) for r in rows]), fields, len(log),
    )  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(log=logs(), k=st.integers(2, 4))
def test_matrices_and_clusters_are_those_of_the_plain_algorithm(
    log: dict[int, list[tuple[str, list[str]]]], k: int
) -> None:
    twin, queries = plain(), as_columns(log)
    if queries.users < k:
        return
    expected = twin.classification_matrices(log, LEVELS)
    of_level = mechanism.matrices(queries, LEVELS, 5)
    for ours, theirs in zip(of_level, expected, strict=True):
        assert sorted(ours.count.tolist()) == sorted(c for column in theirs.values() for c in column.values())
    incidence = twin.incidence_matrix(expected, queries.users)
    ours_all = mechanism.incidence_matrix(of_level)
    off = ~np.eye(queries.users, dtype=bool)
    assert (ours_all[off] == np.array(incidence)[off]).all()
    assert partition(ours_all, k) == twin.partition(incidence, k)


def test_incidence_of_a_worked_example() -> None:
    # Two levels. Users 0 and 1 share Arts twice and Arts/Music once: min(2,3) + min(1,1) = 3.
    log = {0: [("a", ["Arts/Music"]), ("b", ["Arts"])], 1: [("c", ["Arts/Music"]), ("d", ["Arts"]), ("e", ["Arts"])],
           2: [("f", ["Games"])], 3: [("g", ["Games/Chess"])]}  # fmt: skip
    incidence = mechanism.incidence_matrix(mechanism.matrices(as_columns(log), 2, 1))
    assert incidence.tolist() == [[0, 3, 0, 0], [3, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]
    assert partition(incidence, 2) == [[0, 1], [2, 3]]


def test_first_category_and_first_five() -> None:
    field = "A/x|B|C|D|E|F"
    assert categories_of(field, 1) == ["A/x"] and len(categories_of(field, 5)) == 5 and categories_of("", 5) == []
    classified = classify_fields([field, "", "A|A/y"], 2, 5)
    zero = np.zeros(3, np.int64)
    first = classification_matrix(zero, np.arange(3), 1, classified, 1)
    assert first.dense().tolist() == [[2, 1, 1, 1, 1]]  # "A|A/y" is one query in A, not two
    assert classification_matrix(zero, np.arange(3), 1, classified, 2).dense().tolist() == [[1, 1]]


@settings(max_examples=100, deadline=None)
@given(log=logs(users=20), k=st.integers(2, 5), seed=st.integers(0, 2**31))
def test_every_member_publishes_the_same_log_of_its_clusters_queries(
    log: dict[int, list[tuple[str, list[str]]]], k: int, seed: int
) -> None:
    queries = as_columns(log)
    if queries.users < k:
        with pytest.raises(ConfigError):
            make_clusters(queries, k, LEVELS, 1, np.random.default_rng(seed))
        return
    clusters = make_clusters(queries, k, LEVELS, 1, np.random.default_rng(seed))
    assert sorted(u for c in clusters for u in c) == list(range(queries.users))
    assert all(k <= len(c) < 2 * k for c in clusters) and sum(len(c) != k for c in clusters) <= 1
    representatives = microaggregate(queries, clusters, np.random.default_rng(seed))
    for r in representatives:
        issued = [len(log[u]) for u in r.members]
        assert len(r.query) == int(sum(issued) / len(issued) + 0.5)  # the mean of the members' query numbers
        for user in r.members:
            mine = sorted(r.query[r.owner == user].tolist())
            own = sorted(ord(q) for q, _ in log[user])
            assert abs(len(mine) - len(own) / len(r.members)) < 1  # the quota
            for query in set(mine):
                assert mine.count(query) <= own.count(query)
        assert r.contribution == max(issued) / sum(issued)
    user, query, _ = released_columns(representatives)
    for r in representatives:
        published = {tuple(query[user == u].tolist()) for u in r.members}
        assert len(published) == 1


def test_quota_and_contribution_are_the_papers_formulas() -> None:
    totals = np.array([30, 50, 20])
    assert contributions(totals).tolist() == [0.3, 0.5, 0.2]
    assert quotas(totals).tolist() == [10, 17, 6] and quotas(totals).sum() == round(100 / 3)


def test_expected_repetitions_are_the_papers() -> None:
    # 001 §3.3: a query repeated 3 times at a contribution of 0.4 enters once for certain and a second time with 0.2.
    # With a quota of 2 and nine single queries behind it, it also gets its second copy from the filling up when none
    # of the nine entered: 0.2 + 0.8 * 0.6^9 = 0.208. Hoeffding for 20,000 runs at 1e-9: 0.023.
    rng, n = np.random.default_rng(9), 20_000
    times = np.array([3] + [1] * 9)
    runs = [take(times, 2, 0.4, rng) for _ in range(n)]
    assert {int(r.sum()) for r in runs} == {2}
    assert {int(r[0]) for r in runs} == {1, 2}
    assert abs(np.mean([r[0] == 2 for r in runs]) - 0.208) < 0.023


def test_a_representative_does_not_tell_by_its_order() -> None:
    lists = query_lists(np.repeat([0, 1], 50), np.arange(100), 2)
    rng = np.random.default_rng(2)
    first = [aggregate([0, 1], lists, rng)[1][0] for _ in range(2000)]
    assert abs(np.mean(first) - 0.5) < 0.075  # Hoeffding at 1e-9 for 2000 runs


@pytest.mark.parametrize(("users", "k"), [(10, 2), (11, 3), (17, 5), (5, 5)])
def test_random_clusters_have_the_same_sizes(users: int, k: int) -> None:
    rng = np.random.default_rng(1)
    similar = partition(np.zeros((users, users), np.int32), k)
    assert sorted(map(len, random_partition(users, k, rng))) == sorted(map(len, similar))


def test_blocks_keep_clusters_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mechanism, "BLOCK_USERS", 10)
    rng = np.random.default_rng(1)
    queries = Queries(rng.integers(0, 35, 500), rng.integers(0, 40, 500), rng.integers(0, 3, 500), NAMES, 35)
    clusters = make_clusters(queries, 3, 1, 1, rng)
    assert sorted(u for c in clusters for u in c) == list(range(35)) and min(map(len, clusters)) >= 3


@pytest.mark.parametrize("bad", [{"k": 1}, {"k": 0}, {"levels": 0}, {"categories": 0}, {"categories": 6}])
def test_parameters_that_hide_nobody_are_refused(bad: dict[str, int]) -> None:
    queries = as_columns({u: [("a", ["Arts"])] for u in range(6)})
    options = {"k": 2, "levels": 1, "categories": 1} | bad
    with pytest.raises(ConfigError):
        make_clusters(queries, options["k"], options["levels"], options["categories"], np.random.default_rng(1))


# --- SRP --------------------------------------------------------------------------------------------------------


def test_srp_counts_what_remains() -> None:
    original, released = {"A": 4, "B": 1}, {"A": 2, "C": 9}
    assert remain(original, released) == 0.4
    dense = semantic_remain(np.array([[4.0, 1, 0], [0, 0, 0]]), np.array([[2.0, 0, 9], [1, 0, 0]]))
    assert dense[0] == 0.4 and np.isnan(dense[1])
    assert category_at("A/b/c", 2) == "A/b" and category_at("A", 2) is None and category_at("", 1) is None
    assert level_counts(["A/b", "A", "B"], 1) == {"A": 2, "B": 1}


# --- the method on a file ---------------------------------------------------------------------------------------


def test_the_method_writes_equal_logs_and_says_what_they_give(tmp_path: Path) -> None:
    rng = random.Random(3)
    rows = [
        f"u{u}\tq{rng.randrange(9)} of u{u}\t\t\t\t{rng.choice(NAMES)}/x" for u in range(9) for _ in range(4 + 3 * u)
    ]
    source = tmp_path / "in.tsv"
    source.write_text("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\tCategory\n" + "\n".join(rows) + "\n")
    method = load_method("microaggregation")
    job = Job(source, tmp_path / "out.tsv", method.checked({"k": 4}), seed=5, truth=tmp_path / "truth")
    outcome = method.run(job)
    batch, log = read_log(job.output)
    original, _ = read_log(source, dictionaries=log.dictionaries)
    published: dict[tuple[int, ...], int] = {}
    for user in np.unique(batch.user).tolist():
        key = tuple(sorted(batch.query[batch.user == user].tolist()))
        published[key] = published.get(key, 0) + 1
    assert sorted(published.values()) == [4, 5]
    assert outcome.guarantee["k"] == 4 and 0.25 <= outcome.guarantee["bound"]["median_cluster"] < 1
    truth = [int(line.split("\t")[1]) for line in (tmp_path / "truth").read_text().splitlines()]
    assert (original.query[truth] == batch.query).all()
    assert (batch.category >= 0).all() and np.isnan(batch.time).all()
    again = Job(source, tmp_path / "again.tsv", method.checked({"k": 4}), seed=5)
    method.run(again)
    assert again.output.read_bytes() == job.output.read_bytes()
