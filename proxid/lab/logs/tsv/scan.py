"""The compiled loop that finds the rows and cells of TSV (DESIGN 13): one pass, eight bytes a step.

Quotes mean nothing, a cell ends at a tab and a row at a newline; a row that cannot be read is reported, not dropped.
"""

from typing import Final

import numpy as np

from proxid.lab.logs.cells import INVALID, read_digits, read_time, valid_utf8
from proxid.lab.logs.jit import Bytes, Codes, Columns, Longs, Scalar, compiled, step
from proxid.lab.logs.raw import first_byte, load64
from proxid.loglines.layout import MAX_LINE

USER, QUERY, TIME, RANK, URL, CATEGORY, GROUP = range(7)
"""Positions of the fields in `proxid.loglines.layout.FIELDS`."""

LINE_TOO_LONG: Final = 8
"""Its place in `proxid.loglines.rows.REASONS`, like the other numbers that a line's scan gives."""

_TABS = np.uint64(0x0909090909090909)
_NEWLINES = np.uint64(0x0A0A0A0A0A0A0A0A)
_ONES = np.uint64(0x0101010101010101)
_TOPS = np.uint64(0x8080808080808080)
_ZERO = np.uint64(0)


@step
def _zero_bytes(word: Scalar) -> Scalar:
    """The top bit of the first byte of a word that is zero (and perhaps of later bytes)."""
    return (word - _ONES) & ~word & _TOPS


@step
def next_mark(data: Bytes, at: Scalar) -> Scalar:
    """(Where the next tab or newline is, a number with a top bit set where a byte before it is not ASCII)."""
    high = _ZERO
    while True:
        word = load64(data, at)
        marks = _zero_bytes(word ^ _TABS) | _zero_bytes(word ^ _NEWLINES)
        if marks != _ZERO:
            found = first_byte(marks)
            before = (np.uint64(1) << np.uint64(8 * found)) - np.uint64(1)
            return at + found, high | (word & before & _TOPS)
        high |= word & _TOPS
        at += 8


@step
def split_line(data: Bytes, start: Scalar, places: Longs, cells: Longs, record: Scalar) -> Scalar:
    """Find where the fields of the line at `start` lie: cells[2f, record], cells[2f + 1, record].

    `places[i]` is the field in column i; a field without a column, or past the end of the line, is empty. Returns
    (end of the line, whether it is not ASCII, cells found).
    """
    for i in range(14):
        cells[i, record] = 0
    column, begin, high = 0, start, _ZERO
    while True:
        end, more = next_mark(data, begin)
        high |= more
        if column < len(places):
            cells[2 * places[column], record], cells[2 * places[column] + 1, record] = begin, end
        column += 1
        if data[end] == 10:
            break
        begin = end + 1
    if end > begin and data[end - 1] == 13 and column <= len(places):
        cells[2 * places[column - 1] + 1, record] -= 1
    return end, high != _ZERO, column


@step
def read_numbers(data: Bytes, cells: Longs, record: Scalar, out: Columns) -> Scalar:
    """Read time, rank and group; returns the reason why the row cannot be read, or 0."""
    time, rank, group = out
    time[record] = read_time(data, cells[2 * TIME, record], cells[2 * TIME + 1, record])
    if time[record] == np.float64(INVALID):
        return 5
    rank[record] = group[record] = -1
    if cells[2 * RANK, record] < cells[2 * RANK + 1, record]:
        number = read_digits(data, cells[2 * RANK, record], cells[2 * RANK + 1, record])
        if number == INVALID:
            return 6
        rank[record] = number
    if cells[2 * GROUP, record] < cells[2 * GROUP + 1, record]:
        number = read_digits(data, cells[2 * GROUP, record], cells[2 * GROUP + 1, record])
        if number == INVALID:
            return 7
        group[record] = number
    return 0


@compiled
def scan_lines(
    data: Bytes, start: Scalar, stop: Scalar, places: Longs, cells: Longs, out: Columns, bad: Codes
) -> Scalar:
    """Find the rows of `data[start:stop]`, whose last byte is a newline and which has SLACK bytes behind.

    cells[2f], cells[2f + 1] = where field f of each record lies. out = (time, rank, group), one item a record.
    bad[i] = reason of line i, 0 for a record. Returns (records, lines).
    """
    record, line = 0, 0
    while start < stop:
        end, foreign, found = split_line(data, start, places, cells, record)
        reason = 0
        if end - start > MAX_LINE:
            reason = LINE_TOO_LONG
        elif found < 2 or found > len(places):
            reason = 1 if found < 2 else 2
        elif cells[2 * USER, record] == cells[2 * USER + 1, record]:
            reason = 3
        elif foreign and not valid_utf8(data, start, end):
            reason = 4
        else:
            reason = read_numbers(data, cells, record, out)
        bad[line] = reason
        record += reason == 0
        line += 1
        start = end + 1
    return record, line
