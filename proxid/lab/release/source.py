"""A log for a counting engine: the columns user, query, time, rank, url as an Ibis table.

Parquet is scanned by the engine itself; TSV and JSONL pass through `proxid.lab.logs`, so that what counts as an
unreadable row is the same for every release method, into a private Parquet file that lives as long as the release.
time: timestamp (UTC, no zone), 1970 when missing. A row without a user is left out and counted.
"""

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
from proxid.lab.release.engines import Engine

Progress = Callable[[int, int], None]
_HEX_DIGITS: Final = 6
"""Digits of the hash that classes of users are made of: 2^24 values, so that classes are alike in size."""
_NAMES: Final = {
    "anonid": "user", "querytime": "time", "itemrank": "rank", "clickurl": "url",
    "user": "user", "query": "query", "time": "time", "rank": "rank", "url": "url",
}  # fmt: skip
_SCHEMA: Final = pa.schema(
    [
        ("user", pa.large_string()), ("query", pa.large_string()), ("time", pa.timestamp("us")),
        ("rank", pa.int32()), ("url", pa.large_string()),
    ]
)  # fmt: skip


@dataclass(slots=True)
class Source:
    """A log an engine can count: `log` has the columns of this module's docstring; rows and bad rows of the file."""

    log: ibis.Table
    rows: int
    bad_rows: dict[str, int] = field(default_factory=dict)

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
    if layout_of(path).format == "parquet":
        yield _scanned(path, engine)
        return
    with tempfile.TemporaryDirectory(prefix="proxid-release-") as folder:
        copy = Path(folder) / "log.parquet"
        bad = _convert(path, copy, progress)
        source = _scanned(copy, engine)
        source.bad_rows = bad | source.bad_rows
        yield source


def _scanned(path: Path, engine: Engine) -> Source:
    try:
        rows = pq.read_metadata(path).num_rows
    except (OSError, pa.ArrowException):
        raise InputError("the log cannot be opened as Parquet") from None
    table = plain_columns(engine.scan(path))
    named = table.filter(table.user.notnull() & (table.user != ""))
    kept = int(named.count().execute()) if rows else 0
    return Source(named, kept, {"no user": rows - kept} if rows > kept else {})


def plain_columns(table: ibis.Table) -> ibis.Table:
    """The five columns with their types, from columns named like the fields or like AOL's. Raises InputError."""
    found = {_NAMES[name.lower()]: table[name] for name in table.columns if name.lower() in _NAMES}
    if not {"user", "query"} <= set(found):
        raise InputError("the log has no columns user and query (or AnonID and Query)")
    return table.select(
        user=found["user"].cast("string"),
        query=found["query"].cast("string"),
        time=_moment(found.get("time")),
        rank=found["rank"].cast("int32") if "rank" in found else ibis.null("int32"),
        url=found["url"].cast("string") if "url" in found else ibis.null("string"),
    )


def _moment(column: Any) -> Any:
    """The time column as a timestamp; numbers are seconds since 1970."""
    start = ibis.literal("1970-01-01 00:00:00").cast("timestamp")
    if column is None:
        return start
    if column.type().is_numeric():
        column = (column * 1_000_000).cast("int64").as_timestamp("us")
    return column.cast("timestamp").fill_null(start)


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
