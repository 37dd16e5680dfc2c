"""The compiled loop that turns lines of TSV into codes (DESIGN 13): one pass, no Python object a row.

Quotes mean nothing, a cell ends at a tab and a row at a newline; a row that cannot be read is reported, not dropped.
"""

from typing import Final

import numpy as np

from proxid.logs.cells import INVALID, read_digits, read_time, valid_utf8
from proxid.logs.jit import Bytes, Columns, Longs, Scalar, compiled
from proxid.logs.strings import intern_bytes

USER, QUERY, TIME, RANK, URL, CATEGORY, GROUP = range(7)
"""Positions of the fields in `proxid.logs.layout.FIELDS`."""

REASONS: Final = (
    "",
    "too few fields",
    "too many fields",
    "no user",
    "not UTF-8",
    "time unreadable",
    "rank not a number",
    "group not a number",
    "line too long",
)
LINE_TOO_LONG: Final = 8
MAX_LINE: Final = 1 << 20
"""Bytes; a longer line is no query."""


@compiled
def split_line(data: Bytes, start: int, stop: int, places: Longs, cells: Longs) -> Scalar:
    """Where each field of a line lies: cells[2f], cells[2f+1]; returns the reason when the count is wrong.

    `places[i]` is the field in column i; a field without a column, or past the end of the line, is empty.
    """
    for i in range(14):
        cells[i] = stop
    column, begin = 0, start
    for at in range(start, stop + 1):
        if at == stop or data[at] == 9:
            if column == len(places):
                return 2
            cells[2 * places[column]] = begin
            cells[2 * places[column] + 1] = at
            column += 1
            begin = at + 1
    return 1 if column < 2 else 0


@compiled
def check_line(data: Bytes, start: int, stop: int, cells: Longs, numbers: Longs) -> Scalar:
    """Reads rank and group into `numbers`; returns the reason why a row cannot be read, or 0."""
    if cells[2 * USER] == cells[2 * USER + 1]:
        return 3
    high = 0
    for at in range(start, stop):
        high |= data[at]
    if high >= 0x80 and not valid_utf8(data, start, stop):
        return 4
    for i in range(2):
        begin, end = cells[2 * (RANK if i == 0 else GROUP)], cells[2 * (RANK if i == 0 else GROUP) + 1]
        numbers[i] = -1 if begin == end else read_digits(data, begin, end)
        if numbers[i] == INVALID:
            return 6 + i
    return 0


@compiled
def scan_lines(data: Bytes, places: Longs, tables: Columns, out: Columns, bad: Longs, room: Columns) -> Scalar:
    """Read every line of `data`, whose last byte is a newline.

    tables = (user, query, url, path), as `StringTable.table`. out = (user, query, time, rank, url, path, group), one
    item a line; an empty path or url is -1. bad[i] = reason of line i, 0 for a record. room = (14 cells, 2 numbers).
    Returns (records, lines).
    """
    users, queries, urls, paths = tables
    user, query, time, rank, url, path, group = out
    cells, numbers = room
    record, line, start = 0, 0, 0
    for at in range(len(data)):
        if data[at] != 10:
            continue
        end = at - 1 if at > start and data[at - 1] == 13 else at
        reason = LINE_TOO_LONG if end - start > MAX_LINE else split_line(data, start, end, places, cells)
        if reason == 0:
            reason = check_line(data, start, end, cells, numbers)
        seconds = np.nan
        if reason == 0:
            seconds = read_time(data, cells[2 * TIME], cells[2 * TIME + 1])
            if seconds == np.float64(INVALID):
                reason = 5
        bad[line] = reason
        if reason == 0:
            user[record] = intern_bytes(users, data, cells[0], cells[1])
            query[record] = intern_bytes(queries, data, cells[2], cells[3])
            time[record], rank[record], group[record] = seconds, numbers[0], numbers[1]
            url[record], path[record] = -1, -1
            if cells[2 * URL] < cells[2 * URL + 1]:
                url[record] = intern_bytes(urls, data, cells[2 * URL], cells[2 * URL + 1])
            if cells[2 * CATEGORY] < cells[2 * CATEGORY + 1]:
                path[record] = intern_bytes(paths, data, cells[2 * CATEGORY], cells[2 * CATEGORY + 1])
            record += 1
        line += 1
        start = at + 1
    return record, line
