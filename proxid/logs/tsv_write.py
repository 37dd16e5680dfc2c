"""Writes AOL's format, plain or gzip: a compiled loop gathers the bytes of each row (DESIGN 9, 15).

A text that holds a tab or a line break (it came from another format) gets spaces instead: TSV has no way to say it.
"""

from pathlib import Path
from typing import Final

import numpy as np

from proxid.logs.batch import Dictionaries, LogBatch
from proxid.logs.cells import write_digits, write_time
from proxid.logs.files import LogWriter
from proxid.logs.jit import Bytes, Columns, Longs, Scalar, compiled
from proxid.logs.layout import FIELDS, Layout
from proxid.logs.tsv import COLUMN_NAMES
from proxid.logs.whole import WholeFile

_NUMBERS: Final = 64
"""Room for a row's time, rank, group and separators."""


@compiled
def _text_size(table: Columns, code: Scalar) -> Scalar:
    return 0 if code < 0 else table[1][code + 1] - table[1][code]


@compiled
def _write_text(out: Bytes, at: Scalar, table: Columns, code: Scalar) -> Scalar:
    if code < 0:
        return at
    arena, bounds = table[0], table[1]
    for i in range(bounds[code], bounds[code + 1]):
        byte = arena[i]
        out[at] = 32 if byte in (9, 10, 13) else byte
        at += 1
    return at


@compiled
def write_rows(columns: Columns, tables: Columns, places: Longs, first: int, out: Bytes) -> Scalar:
    """Write rows from number `first` on while `out` has room; returns (rows written so far, bytes in out).

    columns = (user, query, time, rank, url, category, group). tables = (user, query, url, category).
    """
    user, query, time, rank, url, category, group = columns
    users, queries, urls, categories = tables
    at = 0
    for row in range(first, len(user)):
        room = _text_size(users, user[row]) + _text_size(queries, query[row]) + _text_size(urls, url[row])
        if at + room + _text_size(categories, category[row]) + _NUMBERS > len(out):
            return row, at
        for place in range(len(places)):
            field = places[place]
            if place > 0:
                out[at] = 9
                at += 1
            if field == 0:
                at = _write_text(out, at, users, user[row])
            elif field == 1:
                at = _write_text(out, at, queries, query[row])
            elif field == 2:
                at = write_time(out, at, time[row])
            elif field == 3:
                at = at if rank[row] < 0 else write_digits(out, at, rank[row], 1)
            elif field == 4:
                at = _write_text(out, at, urls, url[row])
            elif field == 5:
                at = _write_text(out, at, categories, category[row])
            else:
                at = at if group[row] < 0 else write_digits(out, at, group[row], 1)
        out[at] = 10
        at += 1
    return len(user), at


class TsvWriter(LogWriter):
    """Writes batches as TSV."""

    def __init__(self, path: Path, layout: Layout, dictionaries: Dictionaries) -> None:
        super().__init__(dictionaries, layout)
        self._places: Longs = np.array([FIELDS.index(name) for name in layout.fields], np.int64)
        self._out: Bytes = np.empty(1 << 22, np.uint8)
        self._whole = WholeFile(path, compressed=layout.compressed)
        if layout.header:
            names = [COLUMN_NAMES[place] for place in self._places.tolist()]
            self._whole.write(("\t".join(names) + "\n").encode())

    def write(self, batch: LogBatch) -> None:
        """Append the records of a batch."""
        known = self.dictionaries
        tables = (known.user.table, known.query.table, known.url.table, known.category.table)
        columns = tuple(getattr(batch, name) for name in FIELDS)
        done = 0
        while done < len(batch):
            done, size = write_rows(columns, tables, self._places, done, self._out)
            if size == 0:
                self._out = np.empty(len(self._out) * 2, np.uint8)
            self._whole.write(self._out[:size].data)
        self.rows += len(batch)

    def close(self) -> None:
        """Finish the file and give it its name."""
        try:
            self._whole.commit()
        except BaseException:
            self._whole.abandon()
            raise

    def abandon(self) -> None:
        """Remove what was written."""
        self._whole.abandon()
