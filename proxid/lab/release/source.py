"""A log for a counting engine: the columns user, query, time, rank, url as an Ibis table.

Plain Parquet (`plain_columns_of`) is scanned by the engine itself; all else passes through `proxid.lab.logs`, so that
what counts as an unreadable row is the same for every release method, into a private Parquet file that lives as long as
the release.
time: timestamp (UTC, no zone), 1970 when missing. A row without a user is left out and counted.
"""

import datetime as dt
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import ibis
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from proxid.errors import InputError
from proxid.lab.logs import LogBatch, StringTable, layout_of, open_log
from proxid.lab.logs.files import naming
from proxid.lab.logs.parquet import columns_of
from proxid.lab.release.engines import Engine
from proxid.lab.release.same_users import other_spellings
from proxid.loglines.rows import MOST_NUMBER, NO_USER, NONE

Progress = Callable[[int, int], None]
_HEX_DIGITS: Final = 6
"""Digits of the hash that classes of users are made of: 2^24 values, so that classes are alike in size."""
_TEXT: Final = (pa.types.is_string, pa.types.is_large_string)
_PLAIN: Final[dict[str, Callable[[pa.DataType], bool]]] = {
    "user": lambda kind: any(test(kind) for test in (*_TEXT, pa.types.is_integer)),
    "query": lambda kind: any(test(kind) for test in _TEXT),
    "time": pa.types.is_timestamp,
    "rank": pa.types.is_integer,
    "url": lambda kind: any(test(kind) for test in _TEXT),
}
_SCHEMA: Final = pa.schema(
    [
        ("user", pa.large_string()), ("query", pa.large_string()), ("time", pa.timestamp("us")),
        ("rank", pa.int32()), ("url", pa.large_string()),
    ]
)  # fmt: skip


@dataclass(slots=True)
class Source:
    """A log an engine can count: `log` has the columns of this module's docstring; rows and bad rows of the file.

    Attributes:
        fetch: what an expression of it comes to; raises InputError naming the file if that is damaged.
    """

    log: ibis.Table
    rows: int
    fetch: Callable[[ibis.Table], pa.Table]
    bad_rows: dict[str, int] = field(default_factory=dict)

    def join_spellings(self) -> int:
        """Give all spellings of a user one name (`same_users`); how many other spellings there were."""
        names = self.fetch(self.log.select("user").distinct()).column("user").to_pylist()
        others = other_spellings(names)
        if others:
            self.log = self.log.mutate(user=self.log.user.substitute(others))
        return len(others)

    def only_part(self, part: int, parts: int) -> None:
        """Keep the users whose hash falls into one of `parts` disjoint classes (parallel composition)."""
        self.log = self.log.filter(in_class(self.log, part, parts))


def in_class(log: ibis.Table, part: int, parts: int) -> Any:
    """Whether a row's user is in class `part` of `parts`, by a hash of the user id: a Boolean expression."""
    digest = log.user.hexdigest("md5")
    digits = [ibis.literal("0123456789abcdef").find(digest.substr(place, 1)) for place in range(_HEX_DIGITS)]
    value = sum(digit * 16**place for place, digit in enumerate(digits))
    return value % parts == part


@contextmanager
def open_source(path: Path, engine: Engine, progress: Progress | None = None) -> Iterator[Source]:
    """A log file as a Source of an engine. Raises InputError."""
    if layout_of(path).format == "parquet" and (columns := plain_columns_of(path)) is not None:
        yield _scanned(path, columns, engine, {})
        return
    with tempfile.TemporaryDirectory(prefix="proxid-release-") as folder:
        copy = Path(folder) / "log.parquet"
        bad = _convert(path, copy, progress)
        yield _scanned(copy, {name: name for name in _SCHEMA.names}, engine, bad)


def _scanned(path: Path, columns: dict[str, str], engine: Engine, bad: dict[str, int]) -> Source:
    """The file's rows that have a user, the columns by field."""
    rows = pq.read_metadata(path).num_rows
    with naming(path):
        table = engine.scan(path)

    def fetch(table: ibis.Table) -> pa.Table:
        with naming(path):
            return engine.fetch(table)

    found = {field: table[name] for field, name in columns.items()}
    start = ibis.literal("1970-01-01 00:00:00").cast("timestamp")
    log = table.select(
        user=found["user"].cast("string"),
        query=found["query"].cast("string"),
        time=found["time"].cast("timestamp").fill_null(start) if "time" in found else start,
        rank=found["rank"].cast("int32") if "rank" in found else ibis.null("int32"),
        url=found["url"].cast("string") if "url" in found else ibis.null("string"),
    )
    named = log.filter(log.user.notnull() & (log.user != ""))
    kept = int(fetch(named.aggregate(count=named.count())).column("count")[0].as_py()) if rows else 0
    return Source(named, kept, fetch, bad | ({NO_USER: rows - kept} if rows > kept else {}))


def plain_columns_of(path: Path) -> dict[str, str] | None:
    """The column of each field of a Parquet file that the engine may scan itself: its types and the statistics of its
    row groups say that no row but those without a user is unreadable. None for others.

    Raises InputError, which names the file and the column, for what is no log.
    """
    with naming(path):
        try:
            file = pq.ParquetFile(path)
        except (OSError, pa.ArrowException):
            raise InputError("the log cannot be opened as Parquet") from None
        with file:
            schema, columns = file.schema_arrow, columns_of(file.schema_arrow)
            plain = all(_PLAIN[field](schema.field(name).type) for field, name in columns.items() if field in _PLAIN)
            return columns if plain and _within_bounds(file.metadata, columns) else None


def _within_bounds(metadata: pq.FileMetaData, columns: dict[str, str]) -> bool:
    """Whether the statistics of all row groups say that times and ranks are some that a log may have."""
    places = {metadata.schema.column(at).path: at for at in range(metadata.num_columns)}
    asked = [places[columns[name]] for name in ("time", "rank") if name in columns]
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    return all(_is_within(group.column(place)) for group in groups for place in asked)


def _is_within(chunk: pq.ColumnChunkMetaData) -> bool:
    try:
        found = chunk.statistics
        ends = [found.min, found.max] if found is not None and found.has_min_max else [None]
    except (ValueError, OverflowError, pa.ArrowException):  # no date can say it
        return False
    return all(isinstance(end, dt.datetime) or (isinstance(end, int) and NONE <= end < MOST_NUMBER) for end in ends)


def _convert(path: Path, copy: Path, progress: Progress | None) -> dict[str, int]:
    with open_log(path) as log, pq.ParquetWriter(copy, _SCHEMA, compression="zstd") as out:
        for batch in log:
            out.write_table(_arrow(batch, log.dictionaries.user, log.dictionaries.query, log.dictionaries.url))
            if progress:
                progress(log.position, log.size)
        return dict(log.bad.counts)


def _arrow(batch: LogBatch, user: StringTable, query: StringTable, url: StringTable) -> pa.Table:
    moments = np.nan_to_num(batch.time * 1e6, nan=0.0).round().astype(np.int64)
    columns = [
        _texts(user, batch.user),
        _texts(query, batch.query),
        pa.array(moments).cast(pa.timestamp("us")),
        pa.array(batch.rank, mask=batch.rank < 0),
        _texts(url, batch.url),
    ]
    return pa.table(columns, schema=_SCHEMA)


def _texts(table: StringTable, codes: np.ndarray[Any, np.dtype[np.int32]]) -> pa.Array:
    """The strings of codes; a negative code is null."""
    count = len(table)
    strings = pa.LargeStringArray.from_buffers(
        count, pa.py_buffer(table.bounds[: count + 1]), pa.py_buffer(table.arena)
    )
    return pc.take(strings, pa.array(codes, mask=codes < 0))
