"""AOL's format (002 fig. 4.5): tab-separated AnonID, Query, QueryTime, ItemRank, ClickURL [, Category, Group].

With a header line or without, gzip or plain, CR LF or LF. Quotes are text.
"""

import re
from pathlib import Path
from typing import Final

import numpy as np

from proxid.errors import InputError
from proxid.logs.batch import NONE, Dictionaries, LogBatch
from proxid.logs.files import Classifier
from proxid.logs.filing import Filing
from proxid.logs.jit import Bytes, Codes, Longs, Scalar, compiled
from proxid.logs.layout import FIELDS, NAMES, Layout, need_fields
from proxid.logs.lines import Block, LineReader
from proxid.logs.strings import StringTable
from proxid.logs.tsv_scan import CATEGORY, LINE_TOO_LONG, QUERY, REASONS, URL, USER, scan_lines

_FIELD_OF = {name.lower(): field for field, name in NAMES.items()} | {f: f for f in FIELDS}
_TIME: Final = re.compile(rb"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d")
_USERS: Final = (b"user", b"userid", b"user_id", b"user id")
_NAME: Final = re.compile(rb"[A-Za-z][A-Za-z_ -]*")


class TsvReader(LineReader):
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
        super().__init__(path, layout, compressed, dictionaries, chunk)
        self._filing = Filing(dictionaries, classifier)
        # Without a header a row may have AOL's five cells even where the first rows have three.
        known = self.layout.header or layout is not None
        fields = self.layout.fields if known else FIELDS[: max(5, len(self.layout.fields))]
        self._places: Longs = np.array([FIELDS.index(name) for name in fields], np.int64)

    def _layout(self, head: bytes, compressed: bool) -> Layout:
        return find_layout(head, compressed)

    def _read(self, block: Block) -> LogBatch:
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
    """The layout of a TSV log from its first lines: a header names the fields, else their number tells.

    Raises InputError for a header without the columns of a log, or with others.
    """
    rows = [line.rstrip(b"\r").split(b"\t") for line in block.split(b"\n", 1000)[:1000] if line]
    if not rows:
        return Layout("tsv", compressed=compressed, header=False)
    names = [cell.decode("ascii", "replace").strip().lower() for cell in rows[0]]
    fields = [_FIELD_OF[name] for name in names if name in _FIELD_OF]
    if {"user", "query"} <= set(fields) or _is_header(rows):
        need_fields(fields, "the log has a header")
        if len(fields) < len(names) or len(set(fields)) < len(fields):
            raise InputError("the header names a column twice, or one that a log does not have")
        return Layout("tsv", tuple(fields), header=True, compressed=compressed)
    counts = [len(row) for row in rows]
    many = sum(count > 5 for count in counts) * 2 >= len(counts)
    number = min(max(counts), 7) if many else max([2, *(count for count in counts if count <= 5)])
    return Layout("tsv", FIELDS[:number], header=False, compressed=compressed)


def _is_header(rows: list[list[bytes]]) -> bool:
    """Whether the first row is names of columns, although not a log's: names alone, and one of AOL's or no time.

    What stands above times must be a time. A name that a query may well be (`time`, `rank`) says nothing.
    """
    first = rows[0]
    if not all(_NAME.fullmatch(cell.strip()) for cell in first) or len(set(first)) < len(first):
        return False
    lower = [cell.strip().lower() for cell in first]
    if lower[0] in _USERS or not {b"anonid", b"querytime", b"itemrank", b"clickurl"}.isdisjoint(lower):
        return True
    return any(_TIME.match(cell) for row in rows[1:] for cell in row[2 : len(first)])
