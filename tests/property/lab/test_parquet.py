"""Parquet read in columns, row by row and by the counting engine: the same records, the same unreadable rows."""

import datetime as dt
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxid.errors import InputError
from proxid.lab.logs import read_log
from proxid.lab.logs.digest import digest_of_records
from proxid.lab.logs.jsonl import named_columns
from proxid.lab.release.engines import open_engine
from proxid.lab.release.source import open_source, plain_columns_of
from proxid.loglines.layout import FIELDS

START = dt.datetime(2006, 3, 1, 7, 17)  # noqa: DTZ001 (as Parquet has it)
text = st.sampled_from([None, "", "a", "weather", "é 北京", "x" * 40])
ROW = st.fixed_dictionaries({
    "user": st.one_of(st.just("u1"), st.sampled_from(["u2", "ü", None, ""])),
    "query": text, "url": text,
    "time": st.one_of(st.none(), st.integers(-10**9, 10**9).map(lambda s: START + dt.timedelta(seconds=s / 4))),
    "rank": st.one_of(st.none(), st.integers(0, 99)),
    "category": st.sampled_from([None, "", "A/B", "C"]),
})  # fmt: skip
SCHEMA = pa.schema([
    ("user", pa.string()), ("query", pa.large_string()), ("url", pa.string()), ("time", pa.timestamp("us")),
    ("rank", pa.int64()), ("category", pa.string()),
])  # fmt: skip


def shown(path: Path) -> tuple[list[tuple[Any, ...]], dict[str, int]]:
    try:
        batch, log = read_log(path)
    except InputError as error:
        assert "no row" in error.rule
        return [], {}
    columns = named_columns(batch, log.dictionaries, FIELDS)
    return list(zip(*columns.values(), strict=True)), log.bad.counts


@settings(max_examples=60, deadline=None)
@given(rows=st.lists(ROW, max_size=12), groups=st.integers(1, 5))
def test_columns_and_rows_are_one_reader(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]], groups: int
) -> None:
    """Dictionary encoding keeps a chunk from being read in columns."""
    folder = tmp_path_factory.mktemp("parquet")
    table = pa.Table.from_pylist(rows, schema=SCHEMA)
    slow = table.set_column(0, "user", table.column("user").dictionary_encode())
    pq.write_table(table, folder / "fast.parquet", row_group_size=groups)
    pq.write_table(slow, folder / "slow.parquet")
    assert shown(folder / "fast.parquet") == shown(folder / "slow.parquet")


def counted(path: Path) -> tuple[int, dict[str, int]]:
    with open_engine("duckdb") as engine, open_source(path, engine) as source:
        return source.rows, source.bad_rows


N = 24
USERS, QUERIES = [str(100 + n) for n in range(N)], ["how tall is mount everest"] * N
FAR = pa.array([569_000_000_000] * N, pa.timestamp("s"))
ODD = {
    "milliseconds": {"time": pa.array([1141197420000] * N)},
    "the year 20000": {"time": FAR},
    "nan": {"time": pa.array([float("nan")] * N)},
    "ranks out of range": {"rank": pa.array([2**40] * N)},
}


@pytest.mark.parametrize("name", ODD)
def test_what_cannot_be_is_refused_by_every_method_with_the_reason(name: str, tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    pq.write_table(pa.table({"user": USERS, "query": QUERIES, **ODD[name]}), path)
    reason = "a number out of range" if "rank" in ODD[name] else "time unreadable"
    for read in (read_log, counted, digest_of_records):
        with pytest.raises(InputError, match=rf"log\.parquet: no row .*{reason} \({N} rows"):
            read(path)


def test_an_unreadable_row_is_counted_by_every_method(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    times = pa.array([569_000_000_000, *[1_141_197_420] * (N - 1)], pa.timestamp("s"))
    pq.write_table(pa.table({"user": [*USERS[:-1], None], "query": QUERIES, "time": times}), path)
    assert counted(path) == (N - 2, {"time unreadable": 1, "no user": 1})
    assert shown(path)[1] == {"time unreadable": 1, "no user": 1}


def test_plain_parquet_is_scanned_by_the_engine(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    pq.write_table(pa.table({"AnonID": range(N), "Query": QUERIES, "QueryTime": pa.array([START] * N)}), path)
    assert plain_columns_of(path) == {"user": "AnonID", "query": "Query", "time": "QueryTime"}
    assert counted(path) == (N, {})
    assert len(shown(path)[0]) == N


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"user": USERS, "AnonID": USERS, "query": QUERIES}, "two columns are named for user"),
        ({"user": USERS, "query": [1] * N}, "column query of the Parquet file: query is not of type int64"),
        ({"user": USERS, "Query": QUERIES, "QueryTime": [True] * N}, "column QueryTime .*: time is not of type bool"),
        ({"user": USERS, "text": QUERIES}, r"without query \(Query\)"),
    ],
)
def test_a_column_that_is_none_is_named_by_every_method(columns: dict[str, Any], reason: str, tmp_path: Path) -> None:
    pq.write_table(pa.table(columns), tmp_path / "log.parquet")
    for read in (read_log, counted):
        with pytest.raises(InputError, match=rf"log\.parquet: .*{reason}"):
            read(tmp_path / "log.parquet")


def test_text_that_is_not_utf8_and_damage_are_typed(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    raw = pa.array([b"\xff\xfe", *[b"weather"] * (N - 1)]).view(pa.string())
    pq.write_table(pa.table({"user": USERS, "query": raw}), path)
    assert shown(path)[1] == {"not UTF-8": 1}
    with pytest.raises(InputError, match="UTF-8"), open_engine("duckdb") as engine, open_source(path, engine) as source:
        engine.fetch(source.log)
    good = path.read_bytes()
    for at in range(4, len(good) - 8, 149):
        path.write_bytes(good[:at] + bytes([good[at] ^ 0xFF]) + good[at + 1 :])
        for read in (read_log, counted):
            try:
                read(path)
            except InputError as error:
                assert "everest" not in error.rule
