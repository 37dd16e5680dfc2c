"""A log as Parquet: columns named like the fields, or like AOL's (DESIGN 13, 15).

user may be a string or a whole number, time a timestamp, an ISO string or seconds; the release keeps the types.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from proxid.errors import InputError
from proxid.logs.batch import Dictionaries, LogBatch
from proxid.logs.files import Classifier, LogReader, LogWriter
from proxid.logs.jsonl import RowEncoder, checked_cells, format_time, named_columns
from proxid.logs.layout import FIELDS, NAMES, Layout, need_fields
from proxid.logs.whole import WholeFile

_ROWS = 50_000
_TYPES = {
    "user": pa.string(),
    "query": pa.string(),
    "time": pa.timestamp("us", tz="UTC"),
    "rank": pa.int32(),
    "url": pa.string(),
    "category": pa.string(),
    "group": pa.int32(),
}
_FIELD_OF = {name.lower(): field for field, name in NAMES.items()} | {f: f for f in FIELDS}


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
        self._columns = {_FIELD_OF[name.lower()]: name for name in schema.names if name.lower() in _FIELD_OF}
        try:
            need_fields(self._columns, "a Parquet file")
        except InputError:
            self._file.close()
            raise
        types = tuple(str(schema.field(name).type) for name in self._columns.values())
        found = Layout("parquet", tuple(self._columns), header=False, types=types)
        super().__init__(dictionaries, layout or found)
        self.size = path.stat().st_size
        self._total, self._seen = self._file.metadata.num_rows, 0
        self._encoder = RowEncoder(dictionaries, classifier)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __iter__(self) -> Iterator[LogBatch]:
        try:
            for chunk in self._file.iter_batches(_ROWS, columns=list(self._columns.values())):
                batch = self._batch(chunk)
                self.position = self.size * self._seen // max(1, self._total)
                if batch is not None:
                    yield batch
        except (OSError, pa.ArrowException):
            raise InputError("the log cannot be read to its end (damaged or cut short)") from None

    def _batch(self, chunk: pa.RecordBatch) -> LogBatch | None:
        columns = {field: _plain(chunk.column(name)).to_pylist() for field, name in self._columns.items()}
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


def _plain(column: pa.Array) -> pa.Array:
    """A column without dictionary encoding, times as seconds. Raises InputError for types a log does not have."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_timestamp(column.type):
        micros = column.cast(pa.timestamp("us", tz=column.type.tz), safe=False).cast(pa.int64())
        return pc.divide(micros.cast(pa.float64(), safe=False), 1e6)
    kind = column.type
    texts = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind)
    if not (texts or pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise InputError("a column of the Parquet file has a type that a log does not have")
    return column


def _row(cells: dict[str, Any]) -> tuple[Any, ...] | str:
    """Like `checked_cells`, for values that may be numbers; a numeric time is in seconds."""
    for name in ("query", "url", "category"):
        if cells[name] is not None and not isinstance(cells[name], str):
            return f"{name} of the wrong type"
    for name in ("user", "rank", "group"):
        if isinstance(cells[name], float):
            if name == "user" or not cells[name].is_integer():
                return f"{name} of the wrong type"
            cells[name] = int(cells[name])
    for name in ("rank", "group"):
        if isinstance(cells[name], str):
            return f"{name} of the wrong type"
    time = cells["time"]
    if isinstance(time, (int, float)):
        cells["time"] = None
        row = checked_cells(cells)
        return row if isinstance(row, str) else (*row[:2], float(time), *row[3:])
    return checked_cells(cells)


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
