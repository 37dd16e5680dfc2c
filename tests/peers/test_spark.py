"""The same expressions on DuckDB and on a real local Spark give equal counts."""

import datetime as dt
import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random

import ibis
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from proxid.lab.release.engines import Engine, open_engine
from proxid.lab.release.engines.base import EngineSettings
from proxid.lab.release.items import bounded_histogram, full_histogram
from proxid.lab.release.sequences import sequence_histogram
from proxid.lab.release.sessions.counting import click_histogram, click_users
from proxid.lab.release.source import open_source

pytestmark = [
    pytest.mark.peers,
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java 17 or newer"),
]

EXPRESSIONS = {
    "queries": lambda log: bounded_histogram(log, "queries", 3),
    "keywords": lambda log: bounded_histogram(log, "keywords", 3, 2),
    "pairs": lambda log: bounded_histogram(log, "pairs", 2),
    "clicks": lambda log: bounded_histogram(log, "clicks", 2),
    "all queries": lambda log: full_histogram(log, "queries"),
    "sessions": lambda log: sequence_histogram(log, 2, 3),
    "first clicks": lambda log: click_histogram(log, 3),
    "click users": lambda log: click_users(log, 1),
}


@pytest.fixture(scope="module")
def log_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """4,000 rows of 300 users, with ties of time, fractions of seconds, missing cells, and text beyond ASCII."""
    rng = Random(7)
    start = dt.datetime(2006, 3, 1, tzinfo=dt.UTC)
    texts = ["weather", "new york  map", "Ünïcode 北京", 'a\'b "c"', "zz top", "weather map", "", "jobs", "tv guide"]
    rows = []
    for _ in range(4000):
        rows.append(
            {
                "AnonID": rng.choice([None, ""]) if rng.random() < 0.01 else f"{rng.randrange(300)}",
                "Query": None if rng.random() < 0.02 else rng.choice(texts) + rng.choice(["", "", " x", " y"]),
                "QueryTime": start + dt.timedelta(seconds=rng.randrange(20_000), milliseconds=rng.choice([0, 0, 250])),
                "ItemRank": None,
                "ClickURL": rng.choice([None, None, "http://a.example", "http://b.example"]),
            }
        )
    schema = pa.schema(
        [(name, pa.string()) for name in ("AnonID", "Query", "ClickURL")]
        + [("QueryTime", pa.timestamp("us")), ("ItemRank", pa.int32())]
    )
    path = tmp_path_factory.mktemp("log") / "log.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), path)
    return path


@pytest.fixture(scope="module")
def spark() -> Iterator[Engine]:
    with open_engine("spark", EngineSettings(threads=2, memory_gb=1.0)) as engine:
        yield engine


def plain(cell: object) -> object:
    return tuple(cell) if isinstance(cell, list) else cell


def rows_of(engine: Engine, table: ibis.Table) -> list[tuple[object, ...]]:
    columns = [column.to_pylist() for column in engine.fetch(table).columns]
    return sorted(tuple(map(plain, row)) for row in zip(*columns, strict=True))


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_counts_are_equal_on_both_engines(log_file: Path, spark: Engine, name: str) -> None:
    with open_engine("duckdb") as duckdb, open_source(log_file, duckdb) as here, open_source(log_file, spark) as there:
        assert (here.rows, here.bad_rows) == (there.rows, there.bad_rows)
        found = rows_of(duckdb, EXPRESSIONS[name](here.log))
        assert found
        assert found == rows_of(spark, EXPRESSIONS[name](there.log))


def test_parts_of_users_are_equal_on_both_engines(log_file: Path, spark: Engine) -> None:
    with open_engine("duckdb") as duckdb, open_source(log_file, duckdb) as here, open_source(log_file, spark) as there:
        here.only_part(1, 3)
        there.only_part(1, 3)
        users = rows_of(duckdb, here.log.select("user").distinct())
        assert users == rows_of(spark, there.log.select("user").distinct())
        assert 60 < len(users) < 140  # a third of 300, by hash
