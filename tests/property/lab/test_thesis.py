"""Algorithms 4 and 2: their invariants for every k and level, and records and columns alike (002 §4.2.5, §3.3.4.2)."""

import random
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from proxid.errors import ConfigError
from proxid.lab.columns.engines import anonymise, thesis3_engine, thesis_engine
from proxid.lab.logs import Dictionaries, LogBatch
from proxid.lab.thesis.algorithm2 import Thesis3
from proxid.lab.thesis.algorithm4 import Thesis, truncate

PATHS = ["A", "A/B", "A/B/C", "A/E", "F", "F/G/H"]
rows_of = st.lists(st.tuples(st.integers(0, 5), st.integers(0, len(PATHS) - 1)), max_size=100)


def make_batch(rows: list, known: Dictionaries) -> LogBatch:
    """Records of (user, path); the text of record i is its number."""
    none, n = np.full(len(rows), -1, np.int32), len(rows)
    return LogBatch(
        known.user.encode([f"u{user}" for user, _ in rows]),
        known.query.encode([str(i) for i in range(n)]),
        np.array([known.tree.add(PATHS[path]) for _, path in rows], np.int32),
        np.arange(n, dtype=np.float64),
        none,
        none,
        np.arange(n, dtype=np.int64),
        none,
    )


def released_by_columns(rows: list, k: int, level: int, delta: float | None) -> tuple[list, int]:
    """(published user, path, source, released at) of each record, and what waits."""
    known = Dictionaries()
    batch = make_batch(rows, known)
    engine = thesis_engine(known, k, level) if delta is None else thesis3_engine(known, k, level, delta=delta)
    parts = [engine.feed(batch.take(slice(at, at + 7))) for at in range(0, len(rows), 7)]
    out = []
    for part in parts:
        columns = (part.user, part.category, part.row, part.at, part.query)
        for user, category, row, at, query in zip(*(column.tolist() for column in columns), strict=True):
            assert known.query[query] == str(row)
            out.append((known.user[user], known.category[category], row, at))
    return out, engine.waiting


def released_by_records(rows: list, mechanism: Thesis | Thesis3) -> tuple[list, int]:
    """The same by the mechanism that takes one record at a time."""
    out = []
    for at, (user, path) in enumerate(rows):
        for record in mechanism.feed(f"u{user}", str(at), PATHS[path]):
            assert record.query == str(record.source)
            out.append((record.user, record.category, record.source, at))
    return out, mechanism.waiting


def check_algorithm_4(rows: list, k: int, level: int, out: list, waiting: int) -> None:
    """Restrictions 4.1 and 4.2, and that users and queries are conserved."""
    assert len({source for _, _, source, _ in out}) == len(out) == len(rows) - waiting
    tokens: dict[str, Counter] = defaultdict(Counter)
    at = 0
    for number, (user, path) in enumerate(rows):
        node = truncate(PATHS[path], level)
        tokens[node][f"u{user}"] += 1
        while at < len(out) and out[at][3] == number:
            published, category, source, _ = out[at]
            assert truncate(category, level) == node and category == PATHS[rows[source][1]] and source <= number
            assert published != f"u{rows[source][0]}", "restriction 4.1"
            assert len(tokens[node]) > k, "restriction 4.2"
            tokens[node][published] -= 1
            tokens[node] += Counter()
            at += 1
        assert len(tokens[node]) <= k
    assert at == len(out)


@settings(max_examples=150, deadline=None)
@given(rows_of, st.integers(1, 4), st.integers(0, 4))
def test_algorithm_4_on_columns(rows: list, k: int, level: int) -> None:
    """Every k and level."""
    check_algorithm_4(rows, k, level, *released_by_columns(rows, k, level, None))


@settings(max_examples=150, deadline=None)
@given(rows_of, st.integers(1, 4), st.integers(0, 4), st.integers(0, 9))
def test_algorithm_4_on_records(rows: list, k: int, level: int, seed: int) -> None:
    """Every k and level."""
    check_algorithm_4(rows, k, level, *released_by_records(rows, Thesis(k, level, random.Random(seed))))


def check_algorithm_2(rows: list, k: int, level: int, delta: float, out: list) -> None:
    """When a record leaves is no matter of chance as long as the users that wait are known: replay it."""
    kept: dict[str, list] = defaultdict(list)
    limit: dict[str, int] = defaultdict(lambda: k)
    at = 0
    for number, (user, path) in enumerate(rows):
        node = truncate(PATHS[path], level)
        kept[node].append(f"u{user}")
        if len(kept[node]) < limit[node]:
            continue
        if len(set(kept[node])) == 1:
            limit[node] = max(limit[node] + 1, int(np.ceil(limit[node] * delta)))
            continue
        published, _, source, when = out[at]
        assert when == number and truncate(PATHS[rows[source][1]], level) == node
        kept[node].remove(published)
        at += 1
    assert at == len(out)


@settings(max_examples=150, deadline=None)
@given(rows_of, st.integers(1, 4), st.integers(0, 3), st.sampled_from([1.1, 1.2, 2.0]), st.booleans())
def test_algorithm_2(rows: list, k: int, level: int, delta: float, columns: bool) -> None:
    """A full category releases one record a record, or lets its k grow."""
    if columns:
        out, waiting = released_by_columns(rows, k, level, delta)
    else:
        out, waiting = released_by_records(rows, Thesis3(k, level, random.Random(1), delta=delta))
    assert len(out) == len(rows) - waiting
    check_algorithm_2(rows, k, level, delta, out)


@pytest.mark.parametrize("columns", [True, False])
def test_choices_of_algorithm_4_are_uniform(columns: bool) -> None:
    """k=2, entries A A B C: the first release pops each of 4 queries alike and each entry that is not its user's alike.

    3,000 or 12,000 runs; the chi-squared test of the 10 (query, user) pairs is rejected by chance once in 10,000.
    """
    rows, runs = [(0, 0), (0, 0), (1, 0), (2, 0)], 3000 if columns else 12_000
    found: Counter = Counter()
    for run in range(runs):
        if columns:
            known = Dictionaries()
            log, _ = anonymise(make_batch(rows, known), thesis_engine(known, 2, 1, seed=run))
            found[int(log.row[0]), known.user[int(log.user[0])]] += 1
        else:
            out, _ = released_by_records(rows, Thesis(2, 1, random.Random(run)))
            found[out[0][2], out[0][0]] += 1
    expected = {}
    for source, owner in enumerate(["u0", "u0", "u1", "u2"]):
        others = Counter(user for user in ["u0", "u0", "u1", "u2"] if user != owner)
        for user, count in others.items():
            expected[source, user] = runs / 4 * count / others.total()
    assert set(found) == set(expected)
    chi2 = sum((found[pair] - mean) ** 2 / mean for pair, mean in expected.items())
    assert stats.chi2.sf(chi2, len(expected) - 1) > 1e-4


@pytest.mark.parametrize(("k", "level", "delta"), [(0, 1, 1.2), (1, -1, 1.2), (1, 1, 1.0)])
def test_parameters_are_checked(k: int, level: int, delta: float) -> None:
    """A parameter out of range names its rule."""
    with pytest.raises(ConfigError):
        thesis3_engine(Dictionaries(), k, level, delta=delta)
    with pytest.raises(ConfigError):
        Thesis3(k, level, random.Random(1), delta=delta)


def test_a_heavy_user_costs_no_endless_search() -> None:
    """A user with nearly all entries: the draw of another user's entry ends, and is right."""
    rows = [(0, 0)] * 400 + [(1, 0), (2, 0)]
    for out, _ in (released_by_columns(rows, 2, 1, None), released_by_records(rows, Thesis(2, 1, random.Random(1)))):
        assert out and all(published != f"u{rows[source][0]}" for published, _, source, _ in out)
