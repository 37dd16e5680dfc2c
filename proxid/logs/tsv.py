"""AOL's format (002 fig. 4.5): tab-separated AnonID, Query, QueryTime, ItemRank, ClickURL [, Category, Group].

With a header line or without, gzip or plain, CR LF or LF. Quotes are text. A file larger than memory passes: one chunk
is in memory at a time, and a line longer than MAX_LINE is a bad row.
"""

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, cast

import numpy as np

from proxid.errors import InputError
from proxid.logs.batch import NONE, Dictionaries, LogBatch
from proxid.logs.files import Classifier, LogReader
from proxid.logs.filing import Filing
from proxid.logs.jit import Bytes, Codes, Longs, Scalar, compiled
from proxid.logs.layout import FIELDS, Layout
from proxid.logs.raw import SLACK
from proxid.logs.strings import StringTable
from proxid.logs.tsv_scan import CATEGORY, LINE_TOO_LONG, MAX_LINE, QUERY, REASONS, URL, USER, scan_lines

COLUMN_NAMES: Final = ("AnonID", "Query", "QueryTime", "ItemRank", "ClickURL", "Category", "Group")
_FIELD_OF = {name.lower(): field for name, field in zip(COLUMN_NAMES, FIELDS, strict=True)} | {f: f for f in FIELDS}
_BOM: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines: data[start:stop] ends in a newline and has SLACK bytes behind. Good until the next block is read.

    `overlong`: the first line is the end of one that is too long.
    """

    data: Bytes
    start: int
    stop: int
    overlong: bool

    def text(self, limit: int | None = None) -> bytes:
        """The bytes of the lines, or the first ones."""
        stop = self.stop if limit is None else min(self.stop, self.start + limit)
        return self.data[self.start : stop].tobytes()

    def after(self, count: int) -> "Block":
        """The block without its first bytes."""
        return Block(self.data, self.start + count, self.stop, self.overlong)


class ByteSource:
    """The bytes of a plain or gzip file in blocks of whole lines."""

    def __init__(self, path: Path, compressed: bool, chunk: int) -> None:
        self._buffer: Bytes = np.zeros(chunk + MAX_LINE + 2 + SLACK, np.uint8)
        self._rest, self._skipping, self._chunk = 0, False, chunk
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

    def _read(self, at: int) -> int:
        try:
            return self._file.readinto(self._buffer[at : at + self._chunk].data)  # type: ignore[attr-defined,no-any-return]
        except (OSError, EOFError, zlib.error):
            raise InputError("the log cannot be read to its end (damaged or cut short)") from None

    def blocks(self) -> Iterator[Block]:
        """Blocks in file order."""
        buffer = self._buffer
        while count := self._read(self._rest):
            stop = self._rest + count
            cut = last_newline(buffer, self._rest, stop) + 1
            if cut:
                yield Block(buffer, 0, cut, self._skipping)
                buffer[: stop - cut] = buffer[cut:stop]
                self._rest, self._skipping = stop - cut, False
            else:
                self._rest = 0 if self._skipping else stop
            if self._rest > MAX_LINE:
                self._rest, self._skipping = 0, True
        if self._rest or self._skipping:
            buffer[self._rest] = 10
            yield Block(buffer, 0, self._rest + 1, self._skipping)


@compiled
def last_newline(data: Bytes, start: Scalar, stop: Scalar) -> Scalar:
    """Where the last newline of `data[start:stop]` is, or -1."""
    at = stop - 1
    while at >= start and data[at] != 10:
        at -= 1
    return at if at >= start else -1


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
        self._first = next(self._blocks, None)
        if self._first is not None and self._first.text(3) == _BOM:
            self._first = self._first.after(3)
        head = b"" if self._first is None else self._first.text()
        found = find_layout(head, compressed)
        super().__init__(dictionaries, layout or found)
        self.size, self._line = self._source.size, 0
        if found.header and self._first is not None:
            self._first, self._line = self._first.after(head.index(b"\n") + 1), 1
        self._filing = Filing(dictionaries, classifier)
        # Without a header a row may have AOL's five cells even where the first rows have three.
        fields = self.layout.fields if found.header or layout else FIELDS[: max(5, len(found.fields))]
        self._places: Longs = np.array([FIELDS.index(name) for name in fields], np.int64)

    def close(self) -> None:
        """Close the file."""
        self._source.close()

    def __iter__(self) -> Iterator[LogBatch]:
        block = self._first
        while block is not None:
            batch = self._scan(block)
            self.position = self._source.position
            if len(batch):
                yield batch
            block = next(self._blocks, None)

    def _scan(self, block: Block) -> LogBatch:
        most = count_lines(block.data, block.start, block.stop)
        cells, bad = np.empty((14, most), np.int64), np.empty(most, np.int32)
        out = np.empty(most, np.float64), np.empty(most, np.int32), np.empty(most, np.int32)
        records, lines = scan_lines(block.data, block.start, block.stop, self._places, cells, out, bad)
        first = 0
        if block.overlong:  # the first line is a remainder: whatever it looked like, it is no row
            first, bad[0] = int(bad[0] == 0), LINE_TOO_LONG
        for at in np.flatnonzero(bad).tolist():
            self.bad.add(self._line + at + 1, REASONS[bad[at]])
        self._line += lines
        return self._batch(block.data, cells[:, first:records], tuple(column[first:records] for column in out))

    def _batch(self, data: Bytes, cells: Longs, numbers: tuple[np.ndarray, ...]) -> LogBatch:
        known, (time, rank, group) = self.dictionaries, numbers

        def codes(table: StringTable, field: int, *, keep_empty: bool = False) -> Codes:
            return table.encode_cells(data, cells[2 * field], cells[2 * field + 1], keep_empty=keep_empty)

        user, query = codes(known.user, USER), codes(known.query, QUERY, keep_empty=True)
        url = codes(known.url, URL) if "url" in self.wanted else np.full(len(user), NONE, np.int32)
        nodes = self._filing.nodes(codes(self._filing.paths, CATEGORY), query)
        row = np.arange(self.rows, self.rows + len(user), dtype=np.int64)
        self.rows += len(user)
        return LogBatch(user, query, nodes, time, rank, url, row, group)


@compiled
def count_lines(data: Bytes, start: Scalar, stop: Scalar) -> Scalar:
    """Newlines of `data[start:stop]`."""
    lines = 0
    for at in range(start, stop):
        lines += data[at] == 10
    return lines


def find_layout(block: bytes, compressed: bool = False) -> Layout:
    """The layout of a TSV log from its first lines: a header names the fields, else their number tells."""
    rows = [line.rstrip(b"\r").split(b"\t") for line in block.split(b"\n", 1000)[:1000] if line]
    if not rows:
        return Layout("tsv", compressed=compressed, header=False)
    names = [cell.decode("ascii", "replace").strip().lower() for cell in rows[0]]
    if "query" in names and {"anonid", "user"} & set(names):
        if not set(names) <= set(_FIELD_OF) or len(set(names)) < len(names):
            raise InputError("the header names a column twice, or one that a log does not have")
        return Layout("tsv", tuple(_FIELD_OF[name] for name in names), header=True, compressed=compressed)
    counts = [len(row) for row in rows]
    many = sum(count > 5 for count in counts) * 2 >= len(counts)
    number = min(max(counts), 7) if many else max([2, *(count for count in counts if count <= 5)])
    return Layout("tsv", FIELDS[:number], header=False, compressed=compressed)
