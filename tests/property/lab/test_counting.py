"""The Ibis expressions against the counts written plainly, and what a user can change of them (003 §5, 004 §3.2)."""

from collections import Counter
from collections.abc import Iterator

import ibis
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxid.errors import ConfigError
from proxid.lab.release.items import KINDS, bounded_histogram, full_histogram, item_columns
from proxid.lab.release.sequences import sequence_histogram
from proxid.lab.release.sessions.counting import click_histogram, click_users
from proxid.lab.release.sessions.plan import session_sensitivity
from tests.support import release_reference as plain

SCHEMA = ibis.schema({"user": "string", "query": "string", "time": "timestamp", "rank": "int32", "url": "string"})
USERS = st.sampled_from(["u1", "u2", "u3"])
QUERIES = st.sampled_from(["a", "b", "a b", "ä c", "d", ""])
SECONDS = st.integers(0, 12).map(lambda n: n * 700)
URLS = st.sampled_from(["", "x.example", "y.example"])
ROWS = st.lists(st.tuples(USERS, QUERIES, SECONDS, URLS), max_size=25)
HISTORY = st.lists(st.tuples(QUERIES, SECONDS, URLS), max_size=10)
FEW = settings(max_examples=20, deadline=None)


@pytest.fixture(scope="module", autouse=True)
def database() -> Iterator[None]:
    ibis.set_backend("duckdb")
    yield
    ibis.options.default_backend = None


def log_of(rows: list[plain.Row]) -> ibis.Table:
    data = [
        {
            "user": u,
            "query": q,
            "time": f"2006-03-01 {t // 3600:02}:{t // 60 % 60:02}:{t % 60:02}",
            "rank": None,
            "url": url or None,
        }
        for u, q, t, url in rows
    ]
    empty = {"user": "", "query": "", "time": "2006-03-01 00:00:00", "rank": None, "url": None}
    table = ibis.memtable(data or [empty], schema=dict(SCHEMA) | {"time": "string"})
    return table.cast(SCHEMA).filter(lambda t: t.user != "")


def counted(table: ibis.Table, columns: tuple[str, ...]) -> Counter[tuple[str, ...]]:
    found = Counter()
    for row in table.to_pyarrow().to_pylist():
        item = tuple(row["sequence"]) if columns == ("sequence",) else tuple(row[c] for c in columns)
        found[item] = row["count"]
    return found


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.slow] if number else []) for number, kind in enumerate(KINDS)]
)
@given(rows=ROWS, m=st.integers(1, 4))
@FEW
def test_bounded_histogram_is_steps_1_and_2(kind: str, rows: list[plain.Row], m: int) -> None:
    log, columns = log_of(rows), item_columns(kind)
    assert counted(bounded_histogram(log, kind, m), columns) == plain.bounded_counts(rows, kind, m)
    assert counted(full_histogram(log, kind), columns) == plain.bounded_counts(rows, kind, 10**6)
    frequent = {k: n for k, n in plain.bounded_counts(rows, kind, m).items() if n >= 2}
    assert counted(bounded_histogram(log, kind, m, at_least=2), columns) == frequent


@given(rows=ROWS, l_s=st.integers(1, 3), l_q=st.integers(2, 4))
@FEW
def test_sequences_are_steps_1_to_3(rows: list[plain.Row], l_s: int, l_q: int) -> None:
    found = counted(sequence_histogram(log_of(rows), l_s, l_q), ("sequence",))
    assert found == plain.sequence_counts(rows, l_s, l_q)


@given(rows=ROWS, limit=st.integers(1, 4))
@FEW
def test_clicks_are_the_first_ones(rows: list[plain.Row], limit: int) -> None:
    log = log_of(rows)
    assert counted(click_histogram(log, limit), ("query", "url")) == plain.click_counts(rows, limit)
    over_one = {k: n for k, n in plain.click_counts(rows, 10**6).items() if n > 1}
    assert counted(click_users(log, 1), ("query", "url")) == over_one


@given(rows=ROWS, old=HISTORY, new=HISTORY, m=st.integers(1, 4), kind=st.sampled_from(list(KINDS)))
@FEW
def test_replacing_one_user_changes_2m_counts_by_one(
    rows: list[plain.Row], old: list[tuple[str, int, str]], new: list[tuple[str, int, str]], m: int, kind: str
) -> None:
    """However often a history repeats an item: the bound is by distinct user, and chosen from the own history only."""
    columns = item_columns(kind)
    one = counted(bounded_histogram(log_of([*rows, *(("v", *row) for row in old)]), kind, m), columns)
    other = counted(bounded_histogram(log_of([*rows, *(("v", *row) for row in new)]), kind, m), columns)
    changes = [abs(one[item] - other[item]) for item in one | other]
    assert max(changes, default=0) <= 1
    assert sum(changes) <= 2 * m


@given(rows=ROWS, history=HISTORY, l_s=st.integers(1, 2), l_q=st.integers(2, 4))
@FEW
def test_adding_one_user_stays_within_equation_8(
    rows: list[plain.Row], history: list[tuple[str, int, str]], l_s: int, l_q: int
) -> None:
    without = counted(sequence_histogram(log_of(rows), l_s, l_q), ("sequence",))
    with_user = counted(sequence_histogram(log_of([*rows, *(("v", *row) for row in history)]), l_s, l_q), ("sequence",))
    assert (with_user - without).total() <= session_sensitivity(l_s, l_q)
    assert not without - with_user


def test_the_example_of_equation_5_has_eleven_sequences() -> None:
    rows = [("u", f"q{i}", i, "") for i in range(1, 5)]
    found = counted(sequence_histogram(log_of(rows), 1, 4), ("sequence",))
    assert len(found) == 11 == session_sensitivity(1, 4)
    assert ("q1", "q3", "q4") in found
    assert ("q2", "q1") not in found


def test_unknown_items_and_lengths_are_refused() -> None:
    with pytest.raises(ConfigError):
        bounded_histogram(log_of([]), "users", 1)
    with pytest.raises(ConfigError):
        sequence_histogram(log_of([]), 1, 9)
