"""AOL's format (002 fig. 4.5): tab-separated AnonID, Query, QueryTime, ItemRank, ClickURL [, Category, Group].

With a header line or without, gzip or plain, CR LF or LF. Quotes are text.
"""

from pathlib import Path

import numpy as np

from proxid.errors import InputError
from proxid.lab.logs.base import Classifier
from proxid.lab.logs.batch import NONE, Dictionaries, LogBatch
from proxid.lab.logs.categorise import Categoriser
from proxid.lab.logs.jit import Bytes, Codes, Longs, Scalar, compiled
from proxid.lab.logs.lines import Block, LineReader
from proxid.lab.logs.strings import StringTable
from proxid.lab.logs.tsv.scan import CATEGORY, LINE_TOO_LONG, QUERY, URL, USER, scan_lines
from proxid.loglines.head import tsv_columns
from proxid.loglines.layout import FIELDS, NAMES, Layout
from proxid.loglines.rows import REASONS


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
        self._categoriser = Categoriser(dictionaries, classifier)
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
        nodes = self._categoriser.nodes(codes(self._categoriser.paths, CATEGORY), query)
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


def find_layout(head: bytes, compressed: bool = False) -> Layout:
    """The layout of a TSV log from its first lines: a header names the fields, else their number tells.

    Raises InputError for a header without the columns of a log, or with others.
    """
    columns, header = tsv_columns(head)
    if "" in columns:
        at = columns.index("") + 1
        raise InputError(f"line 1: the header's column {at} is none that a log has ({', '.join(NAMES.values())})")
    return Layout("tsv", tuple(columns), header=header, compressed=compressed)
