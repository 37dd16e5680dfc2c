"""What the first lines of a log tell: whether it is text, whether there is a header, which column is which field.

A guess that may be wrong is refused rather than made: a user taken for a query is released as one.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from proxid.errors import InputError
from proxid.jsontext import load_json
from proxid.loglines.layout import FIELDS, Layout, fields_of, need_fields

SAMPLE: Final = 1000
"""Lines that are looked at."""
BOM: Final = b"\xef\xbb\xbf"
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d")
_USERS: Final = ("user", "userid", "user_id", "user id")
_OF_AOL: Final = frozenset({"anonid", "querytime", "itemrank", "clickurl"})
_NAME: Final = re.compile(r"[^\W\d_][\w -]*")
_ENOUGH: Final = 3
"""Rows that must agree before the first one is told from them."""

Rows = list[list[str]]


def check_text(head: bytes) -> None:
    """Raises InputError, which says what to do, for what is no lines of UTF-8: UTF-16, bytes, lines that end in CR."""
    lines = head.split(b"\n", SAMPLE)[:SAMPLE]
    if head.startswith(_UTF16) or 2 * sum(b"\0" in line for line in lines) > len(lines):
        raise InputError("the log is UTF-16 or no text: convert it to UTF-8")
    whole = head.strip(b"\r\n")
    parts = whole.split(b"\r") if b"\n" not in whole else []
    if len(parts) > 1 and all(b"\t" in part or part.startswith(b"{") for part in parts if part):
        raise InputError("the log's lines end in CR alone: convert the line ends to LF")


def tsv_columns(head: bytes, extra: Mapping[str, str] | None = None) -> tuple[list[str], bool]:
    """The field of each column ("" for one that no log has), and whether the first line names them.

    With a header its names tell, else the number of cells. Raises InputError for a header without the columns of a
    log, and for columns that cannot be what they would be taken for.
    """
    check_text(head)
    rows = [line.split("\t") for line in _texts(head)]
    if rows and all(len(row) == 1 and _is_object(row[0]) for row in rows):
        raise InputError("the log's lines are JSON objects: give it a name that ends in .jsonl")
    if not rows:
        return list(FIELDS[:5]), False
    columns = _named(rows, extra)
    header = bool(columns)
    if not columns:
        counts = [len(row) for row in rows]
        many = sum(count > 5 for count in counts) * 2 >= len(counts)
        number = min(max(counts), 7) if many else max([2, *(count for count in counts if count <= 5)])
        columns = list(FIELDS[:number])
    _check_columns(rows[1:] if header else rows, columns, header)
    return columns, header


def _is_object(text: str) -> bool:
    try:
        return text.startswith("{") and isinstance(load_json(text), dict)
    except ValueError:
        return False


def _texts(head: bytes) -> list[str]:
    lines = (line.removesuffix(b"\r") for line in head.removeprefix(BOM).split(b"\n", SAMPLE)[:SAMPLE])
    return [line.decode("utf-8", "replace") for line in lines if line]


def _named(rows: Rows, extra: Mapping[str, str] | None) -> list[str]:
    """The fields that the first row names, none if it is no header."""
    names = [cell.strip().lower() for cell in rows[0]]
    try:
        fields = fields_of(names, extra)
    except InputError:
        if "query" in names or not _OF_AOL.isdisjoint(names) or names[0] in _USERS:
            raise
        return []
    if {"user", "query"} <= set(fields) or _is_header(rows) or (extra and {"user", "query"} & set(fields)):
        need_fields(fields, "line 1: the log has a header")
        return fields
    return []


def _is_header(rows: Rows) -> bool:
    """Whether the first row is names of columns, although not a log's: names alone, unlike what stands below.

    What stands above times must be a time, above numbers a number. A name that a query may well be (`time`, `rank`)
    says nothing.
    """
    first = rows[0]
    if not all(_NAME.fullmatch(cell.strip()) for cell in first) or len(set(first)) < len(first):
        return False
    lower = [cell.strip().lower() for cell in first]
    if lower[0] in _USERS or not _OF_AOL.isdisjoint(lower):
        return True
    if any(_TIME.match(cell) for row in rows[1:] for cell in row[2 : len(first)]):
        return True
    return any(
        _are_ids([row[at] for row in rows[1:] if at < len(row)]) and not _is_id(first[at])
        for at in range(min(2, len(first)))
    )


def _are_ids(cells: list[str]) -> bool:
    """Whether all of a column's cells are one word with a digit in it, as the names of users are."""
    return len(cells) >= _ENOUGH and all(map(_is_id, cells))


def _is_id(cell: str) -> bool:
    return " " not in cell and any(map(str.isdigit, cell))


def _check_columns(rows: Rows, columns: list[str], header: bool) -> None:
    """Raises InputError where users or queries are times, or, without a header, where they are each other."""
    for name in ("user", "query"):
        cells = [row[columns.index(name)] for row in rows if columns.index(name) < len(row)]
        if cells and 2 * sum(bool(_TIME.match(cell)) for cell in cells) > len(cells):
            raise InputError(f"the column taken for {name} holds times: name the columns in a header line")
    if header:
        return
    users, queries = [row[0] for row in rows], [row[1] for row in rows if len(row) > 1]
    if len(rows) >= _ENOUGH and 2 * sum(" " in user.strip() for user in users) > len(users) and _are_ids(queries):
        raise InputError("the first column looks like queries, the second like users: name them in a header line")


def said_columns(columns: Sequence[str]) -> str:
    """Which column is taken for what, for a log without a header."""
    return ", ".join(f"column {at} for {name}" for at, name in enumerate(columns, 1) if name)


def jsonl_layout(head: bytes, compressed: bool) -> Layout:
    """The fields that the first objects have, in the order of FIELDS. Raises InputError where no object has a query."""
    check_text(head)
    seen: set[str] = set()
    for text in _texts(head):
        try:
            found = load_json(text)
            seen |= set(fields_of(list(found)) if isinstance(found, dict) else ())
        except (ValueError, InputError):
            continue
    if seen:
        need_fields(seen, "the log has JSON objects")
    fields = seen | {"user", "query"}
    return Layout("jsonl", tuple(name for name in FIELDS if name in fields), header=False, compressed=compressed)
