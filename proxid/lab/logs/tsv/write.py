"""Writes AOL's format, plain or gzip: a compiled loop gathers the bytes of each row (DESIGN 9, 15).

A text that holds a tab or a line break (it came from another format) gets spaces instead: TSV has no way to say it.
"""

from pathlib import Path
from typing import Final

import numpy as np

from proxid.lab.logs.base import LogWriter
from proxid.lab.logs.batch import Dictionaries, LogBatch
from proxid.lab.logs.cells import write_digits, write_time
from proxid.lab.logs.jit import Bytes, Columns, Longs, Scalar, compiled, step
from proxid.lab.logs.raw import load64, store64
from proxid.lab.logs.whole import WholeFile
from proxid.loglines.layout import FIELDS, NAMES, Layout

_NUMBERS: Final = 80
"""Room for a row's time, rank, group and separators, and for what a copy writes behind."""


_TOPS = np.uint64(0x8080808080808080)
_SPACES = np.uint64(0x2020202020202020)


@step
def _text_size(table: Columns, code: Scalar) -> Scalar:
    return 0 if code < 0 else table[1][code + 1] - table[1][code]


@step
def _write_text(out: Bytes, to: Scalar, table: Columns, code: Scalar) -> Scalar:
    """Write a string; its control characters, if it has any, as spaces."""
    if code < 0:
        return to
    arena, at, stop = table[0], table[1][code], table[1][code + 1]
    first, control = to, np.uint64(0)
    while at < stop:
        word = load64(arena, at)
        store64(out, to, word)
        if at + 8 > stop:
            word |= _SPACES << np.uint64(8 * (stop - at))
        control |= (word - _SPACES) & ~word & _TOPS
        at += 8
        to += 8
    to -= at - stop if at > stop else 0
    if control != np.uint64(0):
        for i in range(first, to):
            out[i] = max(out[i], 32)
    return to


@step
def _write_again(out: Bytes, to: Scalar, start: Scalar, size: Scalar) -> Scalar:
    """Write once more what was written before."""
    for i in range(size):
        out[to + i] = out[start + i]
    return to + size


@step
def _write_cell(out: Bytes, at: Scalar, field: Scalar, row: Scalar, columns: Columns, tables: Columns) -> Scalar:
    """Write one field of a row that is not its time; returns where the next byte goes."""
    user, query, _, rank, url, category, group = columns
    users, queries, urls, categories = tables
    if field == 0:
        return _write_text(out, at, users, user[row])
    if field == 1:
        return _write_text(out, at, queries, query[row])
    if field == 4:
        return _write_text(out, at, urls, url[row])
    if field == 5:
        return _write_text(out, at, categories, category[row])
    number = rank[row] if field == 3 else group[row]
    return at if number < 0 else write_digits(out, at, number, 1)


@compiled
def write_rows(columns: Columns, tables: Columns, places: Longs, first: Scalar, out: Bytes) -> Scalar:
    """Write rows from number `first` on while `out` has room; returns (rows written so far, bytes in out).

    columns = (user, query, time, rank, url, category, group). tables = (user, query, url, category). The time of the
    row before is copied where it is the same, as in a group.
    """
    user, query, time, _, url, category, _ = columns
    users, queries, urls, categories = tables
    at, last, size = 0, -1, 0
    for row in range(first, len(user)):
        room = _text_size(users, user[row]) + _text_size(queries, query[row]) + _text_size(urls, url[row])
        if at + room + _text_size(categories, category[row]) + _NUMBERS > len(out):
            return row, at
        for place in range(len(places)):
            if place > 0:
                out[at] = 9
                at += 1
            begin = at
            if places[place] != 2:
                at = _write_cell(out, at, places[place], row, columns, tables)
                continue
            if last >= 0 and time[row] == time[row - 1]:
                at = _write_again(out, at, last, size)
            else:
                at = write_time(out, at, time[row])
            last, size = begin, at - begin
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
            names = [NAMES[FIELDS[place]] for place in self._places.tolist()]
            with self._whole.kept():
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
        with self._whole.kept():
            self._whole.commit()

    def abandon(self) -> None:
        """Remove what was written."""
        self._whole.abandon()
