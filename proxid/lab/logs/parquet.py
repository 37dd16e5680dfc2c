"""A log as Parquet: columns named like the fields, or like AOL's (DESIGN 13, 15).

user may be a string or a whole number, time a timestamp, a date, an ISO string or seconds; the release keeps the types.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from proxid.errors import InputError
from proxid.lab.logs.base import Classifier, LogReader, LogWriter
from proxid.lab.logs.batch import Dictionaries, LogBatch
from proxid.lab.logs.jit import Bytes, Longs
from proxid.lab.logs.jsonl import RowEncoder, named_columns
from proxid.lab.logs.whole import WholeFile
from proxid.loglines.layout import FIELDS, Layout, fields_of, need_fields
from proxid.loglines.rows import MOST_NUMBER, NONE, NOT_UTF8, checked_cells, in_order
from proxid.loglines.times import END, FIRST, format_time

_ROWS = 50_000
_PER_SECOND: Final = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
_TEXTS: Final = (pa.types.is_string, pa.types.is_large_string, pa.types.is_null)
_WHOLE: Final = (pa.types.is_integer, pa.types.is_floating, pa.types.is_null)
_KINDS: Final[dict[str, tuple[Callable[[pa.DataType], bool], ...]]] = {
    "user": (*_TEXTS, pa.types.is_integer),
    "query": _TEXTS,
    "time": (*_TEXTS, *_WHOLE, pa.types.is_timestamp, pa.types.is_date),
    "rank": _WHOLE,
    "url": _TEXTS,
    "category": _TEXTS,
    "group": _WHOLE,
}
"""What a field's column may be."""
_TYPES = {
    "user": pa.string(),
    "query": pa.string(),
    "time": pa.timestamp("us", tz="UTC"),
    "rank": pa.int32(),
    "url": pa.string(),
    "category": pa.string(),
    "group": pa.int32(),
}


class ParquetReader(LogReader):
    """Reads the row groups of a Parquet file into batches."""

    def __init__(
        self, path: Path, layout: Layout | None, dictionaries: Dictionaries, classifier: Classifier | None
    ) -> None:
        try:
            self._file = pq.ParquetFile(path)
        except (OSError, pa.ArrowException):
            raise InputError("the log cannot be opened as Parquet") from None
        schema = self._file.schema_arrow
        try:
            self._columns = columns_of(schema)
        except InputError:
            self._file.close()
            raise
        types = tuple(str(schema.field(name).type) for name in self._columns.values())
        found = Layout("parquet", tuple(self._columns), header=False, types=types)
        super().__init__(path.name, dictionaries, layout or found)
        self.size = path.stat().st_size
        self._total, self._seen = self._file.metadata.num_rows, 0
        self._encoder = RowEncoder(dictionaries, classifier)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _batches(self) -> Iterator[LogBatch]:
        try:
            for chunk in self._file.iter_batches(_ROWS, columns=list(self._columns.values())):
                batch = self._batch(chunk)
                self.position = self.size * self._seen // max(1, self._total)
                if batch is not None:
                    yield batch
        except (OSError, pa.ArrowException):
            raise InputError(f"{self.name}: the log cannot be read to its end (damaged or cut short)") from None

    def _batch(self, chunk: pa.RecordBatch) -> LogBatch | None:
        found = {field: chunk.column(name) for field, name in self._columns.items()}
        if (clean := clean_columns(found, chunk.num_rows)) is not None:
            self._seen += chunk.num_rows
            self.rows += chunk.num_rows
            return self._encoder.columns(*clean, self.rows - chunk.num_rows)
        columns = {field: _listed(_plain(column)) for field, column in found.items()}
        rows = []
        for at in range(chunk.num_rows):
            self._seen += 1
            row = _row({name: columns[name][at] if name in columns else None for name in FIELDS})
            if isinstance(row, str):
                self.bad.add(self._seen, row)
            else:
                rows.append(row)
        if not rows:
            return None
        batch = self._encoder.batch(rows, self.rows)
        self.rows += len(rows)
        return batch


def columns_of(schema: pa.Schema) -> dict[str, str]:
    """The name of each field's column. Raises InputError, which names the column, for one that no log has."""
    named = {field: name for field, name in zip(fields_of(schema.names), schema.names, strict=True) if field}
    need_fields(named, "a Parquet file")
    for field, name in named.items():
        kind = schema.field(name).type
        inner = kind.value_type if pa.types.is_dictionary(kind) else kind
        if not any(test(inner) for test in _KINDS[field]):
            raise InputError(f"column {name} of the Parquet file: {field} is not of type {inner}")
    return named


Clean = tuple[list[tuple[Bytes, Longs]], list[Any]]
"""Columns as `RowEncoder.columns` takes them."""


def clean_columns(found: dict[str, pa.Array], rows: int) -> Clean | None:
    """A chunk whose rows can all be read, as columns; None if one may be unreadable, or a type has to be converted.

    Those chunks are read row by row, which is slower and gives each row's reason.
    """
    texts = [_bytes_of(found.get(name), rows) for name in ("user", "query", "url", "category")]
    numbers = [_times_of(found.get("time"), rows), *(_whole_of(found.get(name), rows) for name in ("rank", "group"))]
    if any(column is None for column in (*texts, *numbers)):
        return None
    user = texts[0]
    assert user is not None
    if rows == 0 or "user" not in found or not np.diff(user[1]).all():  # somebody without a name
        return None
    return [text for text in texts if text is not None], numbers


def _bytes_of(column: pa.Array | None, rows: int) -> tuple[Bytes, Longs] | None:
    """The bytes of a column of texts and where each begins; a missing one is empty."""
    if column is None:
        return np.zeros(0, np.uint8), np.zeros(rows + 1, np.int64)
    if pa.types.is_integer(column.type):  # users may be numbers
        column = column.cast(pa.string())
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return None
    try:
        column.validate(full=True)  # as UTF-8
    except pa.ArrowInvalid:
        return None
    whole = pc.fill_null(column.cast(pa.large_string()), "")
    _, offsets, data = whole.buffers()
    bounds = np.frombuffer(offsets, np.int64)[whole.offset : whole.offset + rows + 1]
    texts = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    return texts[bounds[0] :], bounds - bounds[0]


def _times_of(column: pa.Array | None, rows: int) -> Any:
    """Seconds, NaN for a missing time; None for a type that is read row by row, or a time that cannot be."""
    if column is None:
        return np.full(rows, np.nan)
    if not pa.types.is_timestamp(column.type):
        return None
    times = _plain(column).to_numpy(zero_copy_only=False).astype(np.float64)
    good = (times >= FIRST) & (times < END)
    return times if (good | np.isnan(times)).all() else None


def _whole_of(column: pa.Array | None, rows: int) -> Any:
    """Whole numbers, NONE for a missing one; None for a type that is read row by row, or a number out of range."""
    if column is None:
        return np.full(rows, NONE, np.int32)
    if not pa.types.is_integer(column.type):
        return None
    bounds = pc.min_max(column).as_py()
    if bounds["min"] is not None and not (bounds["min"] >= NONE and bounds["max"] < MOST_NUMBER):
        return None
    return pc.fill_null(column.cast(pa.int64()), NONE).to_numpy(zero_copy_only=False).astype(np.int32)


def _plain(column: pa.Array) -> pa.Array:
    """A column without dictionary encoding, times as seconds."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_timestamp(column.type):
        return pc.divide(column.cast(pa.int64()).cast(pa.float64(), safe=False), _PER_SECOND[column.type.unit])
    if pa.types.is_date(column.type):
        days = column.cast(pa.date32()).cast(pa.int32()).cast(pa.float64())
        return pc.multiply(days, 86_400.0)
    return column


def _listed(column: pa.Array) -> list[Any]:
    """The values of a column; a text that is not UTF-8 becomes bytes, which no field has."""
    try:
        values: list[Any] = column.to_pylist()
    except UnicodeDecodeError:
        binary = pa.large_binary() if pa.types.is_large_string(column.type) else pa.binary()
        values = [_text(value) for value in column.view(binary).to_pylist()]
    return values


def _text(value: bytes | None) -> str | bytes | None:
    try:
        return None if value is None else value.decode("utf-8")
    except UnicodeDecodeError:
        return value


def _row(cells: dict[str, Any]) -> tuple[Any, ...] | str:
    """Like `checked_cells`, for values that may be numbers; a numeric time is in seconds."""
    if any(isinstance(value, bytes) for value in cells.values()):
        return NOT_UTF8
    for name in ("user", "rank", "group"):
        if isinstance(cells[name], float):
            if name == "user" or not cells[name].is_integer():
                return f"{name} of the wrong type"
            cells[name] = int(cells[name])
    row = checked_cells(cells)
    return row if isinstance(row, str) else in_order(row)


class ParquetWriter(LogWriter):
    """Writes batches as row groups of a Parquet file."""

    def __init__(self, path: Path, layout: Layout, dictionaries: Dictionaries) -> None:
        super().__init__(dictionaries, layout)
        types = layout.types or ("",) * len(layout.fields)
        self._schema = pa.schema(
            [(name, _type(name, wanted)) for name, wanted in zip(layout.fields, types, strict=True)]
        )
        self._whole = WholeFile(path)
        self._out = _Sink(self._whole)
        self._sink = pa.PythonFile(self._out, mode="w")
        with self._whole.kept():
            self._writer = pq.ParquetWriter(self._sink, self._schema, compression="zstd")

    def write(self, batch: LogBatch) -> None:
        """Append the records of a batch as one row group."""
        if not len(batch):
            return
        columns = named_columns(batch, self.dictionaries, self.layout.fields)
        arrays = [_array(name, values, self._schema.field(name).type) for name, values in columns.items()]
        self._writer.write_table(pa.table(arrays, schema=self._schema))
        self.rows += len(batch)

    def close(self) -> None:
        """Finish the file and give it its name."""
        try:
            self._writer.close()
            self._whole.commit()
        except BaseException:
            self.abandon()
            raise

    def abandon(self) -> None:
        """Remove what was written."""
        self._out.deaf = True
        with suppress(OSError, pa.ArrowException):
            self._writer.close()  # else it would write its end when it is collected
        self._whole.abandon()


class _Sink:
    """What Arrow asks of a file, over a WholeFile."""

    closed = False

    def __init__(self, whole: WholeFile) -> None:
        self._whole, self.deaf = whole, False

    def write(self, data: bytes) -> int:
        if not self.deaf:
            self._whole.write(data)
        return len(data)

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """The WholeFile is closed by who opened it."""


def _type(name: str, wanted: str) -> pa.DataType:
    """The Arrow type to write: the input's when it is one of those a log may have."""
    if wanted.startswith("timestamp") and name == "time":
        return pa.timestamp("us", tz="UTC") if "tz=" in wanted else pa.timestamp("us")
    kinds = {"int64": pa.int64(), "int32": pa.int32(), "string": pa.string(), "large_string": pa.large_string()}
    if name == "time":
        return {"string": pa.string(), "double": pa.float64()}.get(wanted, _TYPES[name])
    return kinds.get(wanted, _TYPES[name])


def _array(name: str, values: list[Any], kind: pa.DataType) -> pa.Array:
    if name == "time" and pa.types.is_string(kind):
        values = [None if time is None else format_time(time) for time in values]
    elif name == "time" and pa.types.is_timestamp(kind):
        values = [None if time is None else round(time * 1e6) for time in values]
    elif name == "user" and pa.types.is_integer(kind):
        values = [int(user) for user in values]
    return pa.array(values, kind)
