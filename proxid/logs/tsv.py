"""AOL's format (002 fig. 4.5): tab-separated AnonID, Query, QueryTime, ItemRank, ClickURL [, Category, Group].

With a header line or without, gzip or plain, CR LF or LF. Quotes are text. A file larger than memory passes: one chunk
is in memory at a time, and a line longer than MAX_LINE is a bad row.
"""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, cast

import numpy as np

from proxid.errors import InputError
from proxid.logs.batch import Dictionaries, LogBatch
from proxid.logs.files import Classifier, LogReader
from proxid.logs.filing import Filing
from proxid.logs.jit import Longs
from proxid.logs.layout import FIELDS, Layout
from proxid.logs.tsv_scan import LINE_TOO_LONG, MAX_LINE, REASONS, scan_lines

COLUMN_NAMES: Final = ("AnonID", "Query", "QueryTime", "ItemRank", "ClickURL", "Category", "Group")
_FIELD_OF = {name.lower(): field for name, field in zip(COLUMN_NAMES, FIELDS, strict=True)} | {f: f for f in FIELDS}
_BOM: Final = b"\xef\xbb\xbf"


class ByteSource:
    """The bytes of a plain or gzip file in chunks of whole lines."""

    def __init__(self, path: Path, compressed: bool, chunk: int) -> None:
        self.chunk, self._rest, self._skipping = chunk, b"", False
        try:
            self.size = path.stat().st_size
            self._raw: BinaryIO = path.open("rb", buffering=0)
        except OSError as error:
            raise InputError(f"the log cannot be opened: {error.strerror}") from None
        self._file = cast("BinaryIO", gzip.GzipFile(fileobj=self._raw)) if compressed else self._raw

    @property
    def position(self) -> int:
        """Bytes of the file read so far (compressed bytes for gzip)."""
        return self._raw.tell() if not self._raw.closed else self.size

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        self._raw.close()

    def _read(self) -> bytes:
        try:
            return self._file.read(self.chunk)
        except (OSError, EOFError, zlib.error):
            raise InputError("the log cannot be read to its end (damaged or cut short)") from None

    def blocks(self) -> Iterator[tuple[bytes, bool]]:
        """Blocks that end in a newline, and whether the block's first line is the end of one that is too long."""
        while data := self._read():
            cut = data.rfind(b"\n") + 1
            if cut:
                block, overlong = self._rest + data[:cut], self._skipping
                self._rest, self._skipping = data[cut:], False
                yield block, overlong
            elif not self._skipping:
                self._rest += data
            if len(self._rest) > MAX_LINE:
                self._rest, self._skipping = b"", True
        if self._rest or self._skipping:
            yield self._rest + b"\n", self._skipping


class TsvReader(LogReader):
    """Reads AOL's format into batches."""

    def __init__(
        self,
        path: Path,
        layout: Layout | None,
        compressed: bool,
        dictionaries: Dictionaries,
        classifier: Classifier | None,
        chunk: int,
    ) -> None:
        self._source = ByteSource(path, compressed, chunk)
        self._blocks = self._source.blocks()
        self._first = next(self._blocks, (b"", False))
        if self._first[0].startswith(_BOM):
            self._first = (self._first[0][len(_BOM) :], False)
        found = find_layout(self._first[0], compressed)
        super().__init__(dictionaries, layout or found)
        self.size, self._line, self._header = self._source.size, 0, found.header
        self._filing = Filing(dictionaries, classifier)
        # Without a header a row may have AOL's five cells even where the first rows have three.
        fields = self.layout.fields if found.header or layout else FIELDS[: max(5, len(found.fields))]
        self._places: Longs = np.array([FIELDS.index(name) for name in fields], np.int64)
        self._room = np.empty(14, np.int64), np.empty(2, np.int64)

    def close(self) -> None:
        """Close the file."""
        self._source.close()

    def __iter__(self) -> Iterator[LogBatch]:
        block, overlong = self._first
        while block:
            if self._line == 0 and self._header:
                block, self._line = block[block.index(b"\n") + 1 :], 1
            batch = self._scan(block, overlong)
            self.position = self._source.position
            if len(batch):
                yield batch
            block, overlong = next(self._blocks, (b"", False))

    def _scan(self, block: bytes, overlong: bool) -> LogBatch:
        data = np.frombuffer(block, np.uint8)
        lines, tables = block.count(b"\n"), self.dictionaries
        for table in (tables.user, tables.query, tables.url, self._filing.paths):
            table.reserve(lines, len(block))
        out = _columns(lines)
        bad = np.zeros(lines, np.int64)
        text_tables = (tables.user.table, tables.query.table, tables.url.table, self._filing.paths.table)
        records, lines = scan_lines(data, self._places, text_tables, out, bad, self._room)
        if overlong:  # the first line is a remainder: whatever it looked like, it is no row
            records, out = _without_first(records, out, bad[0] == 0)
            bad[0] = LINE_TOO_LONG
        for at in np.flatnonzero(bad).tolist():
            self.bad.add(self._line + at + 1, REASONS[bad[at]])
        self._line += lines
        return self._batch(records, out)

    def _batch(self, records: int, out: tuple[np.ndarray, ...]) -> LogBatch:
        user, query, time, rank, url, path, group = (column[:records] for column in out)
        row = np.arange(self.rows, self.rows + records, dtype=np.int64)
        self.rows += records
        return LogBatch(user, query, self._filing.nodes(path, query), time, rank, url, row, group)


def _columns(lines: int) -> tuple[np.ndarray, ...]:
    return tuple(np.empty(lines, np.float64 if field == "time" else np.int32) for field in FIELDS)


def _without_first(records: int, out: tuple[np.ndarray, ...], read: bool) -> tuple[int, tuple[np.ndarray, ...]]:
    return (records - 1, tuple(column[1:] for column in out)) if read else (records, out)


def find_layout(block: bytes, compressed: bool = False) -> Layout:
    """The layout of a TSV log from its first lines: a header names the fields, else their number tells."""
    rows = [line.rstrip(b"\r").split(b"\t") for line in block.split(b"\n", 1000)[:1000] if line]
    if not rows:
        return Layout("tsv", compressed=compressed, header=False)
    names = [cell.decode("ascii", "replace").strip().lower() for cell in rows[0]]
    if names[0] in ("anonid", "user") and "query" in names:
        if not set(names) <= set(_FIELD_OF) or len(set(names)) < len(names):
            raise InputError("the header names a column twice, or one that a log does not have")
        return Layout("tsv", tuple(_FIELD_OF[name] for name in names), header=True, compressed=compressed)
    counts = [len(row) for row in rows]
    many = sum(count > 5 for count in counts) * 2 >= len(counts)
    number = min(max(counts), 7) if many else max([2, *(count for count in counts if count <= 5)])
    return Layout("tsv", FIELDS[:number], header=False, compressed=compressed)
