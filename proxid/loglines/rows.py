"""One line of a log to its fields, or the reason why it is no record (DESIGN 13): TSV cells and JSON objects."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from proxid.errors import InputError
from proxid.jsontext import load_json
from proxid.loglines.layout import FIELDS, MAX_LINE, fields_of
from proxid.loglines.times import parse_cell, parse_time

NONE: Final = -1
"""A missing rank or group."""
TOO_FEW, TOO_MANY, TOO_LONG = "too few fields", "too many fields", "line too long"
NO_USER, NOT_UTF8, TIME = "no user", "not UTF-8", "time unreadable"
REASONS: Final = (
    "", TOO_FEW, TOO_MANY, NO_USER, NOT_UTF8, TIME, "rank not a number", "group not a number", TOO_LONG,
)  # fmt: skip
"""Why a line of TSV is no record, by the number that the compiled reader gives."""
MOST_NUMBER: Final = 1 << 31

_FORMS: Final = {
    "user": (str, int), "query": (str,), "time": (str, int, float), "rank": (int,), "url": (str,),
    "category": (str,), "group": (int,),
}  # fmt: skip

Cells = dict[str, Any]
"""A record by field: texts, time in seconds or NaN, rank and group or -1; further columns asked for as text."""
_NUMBERS: Final = ("time", "rank", "group")


class _Unreadable(Exception):
    """Why a line is no record."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def read_cells(line: bytes, columns: Sequence[str]) -> Cells | str:
    """The record of a line of TSV whose columns are these fields ("" is left out), or the reason why it is none."""
    try:
        return _of_cells(line, columns)
    except _Unreadable as error:
        return error.reason


def read_object(line: bytes, extra: Mapping[str, str] | None = None) -> Cells | str:
    """The record of a JSON object, or the reason why it is none.

    An object with `consent`, if that is asked for as an extra, needs no query.
    """
    try:
        return _checked(_of_object(line, extra))
    except _Unreadable as error:
        return error.reason


def checked_cells(cells: Cells) -> Cells | str:
    """The cells of a record with what is missing as a code, or the reason why it is none."""
    try:
        return _checked(cells)
    except _Unreadable as error:
        return error.reason


def _of_cells(line: bytes, columns: Sequence[str]) -> Cells:
    if len(line) > MAX_LINE:
        raise _Unreadable(TOO_LONG)
    cells = line.split(b"\t")
    if not 2 <= len(cells) <= len(columns):
        raise _Unreadable(TOO_FEW if len(cells) < 2 else TOO_MANY)
    cells[-1] = cells[-1].removesuffix(b"\r")
    found = {name: cell for name, cell in zip(columns, cells, strict=False) if name}
    if not found.get("user"):
        raise _Unreadable(NO_USER)
    try:
        line.decode("utf-8")
        time = parse_cell(found.get("time", b""))
    except UnicodeDecodeError:
        raise _Unreadable(NOT_UTF8) from None
    except ValueError:
        raise _Unreadable(TIME) from None
    numbers = {name: _digits(found.get(name, b""), name) for name in ("rank", "group")}
    texts = {name: cell.decode("utf-8") for name, cell in found.items()}
    return dict.fromkeys(FIELDS, "") | texts | numbers | {"time": time}


def _digits(cell: bytes, name: str) -> int:
    """An unsigned number of at most nine digits, NONE for an empty cell."""
    if cell and not (len(cell) <= 9 and cell.isdigit()):
        raise _Unreadable(f"{name} not a number")
    return int(cell or NONE)


def _of_object(line: bytes, extra: Mapping[str, str] | None) -> Cells:
    """The fields of a JSON object, each of a type that it may have."""
    if len(line) > MAX_LINE:
        raise _Unreadable(TOO_LONG)
    try:
        found = load_json(line.decode("utf-8"), any_text=True)
        names = fields_of(list(found), extra) if isinstance(found, dict) else []
    except UnicodeDecodeError:
        raise _Unreadable(NOT_UTF8) from None
    except ValueError:
        raise _Unreadable("not JSON") from None
    except InputError:
        raise _Unreadable("a field twice") from None
    if not isinstance(found, dict):
        raise _Unreadable("not a JSON object")
    cells = {name: value for name, value in zip(names, found.values(), strict=True) if name}
    if "query" not in cells and cells.get("consent") is None:
        raise _Unreadable("no query")
    for name, forms in (dict.fromkeys((extra or {}).values(), (str,)) | _FORMS).items():
        value = cells.setdefault(name, None)
        if value is not None and (not isinstance(value, forms) or isinstance(value, bool)):
            raise _Unreadable(f"{name} of the wrong type")
    return cells


def _checked(cells: Cells) -> Cells:
    if cells["user"] in (None, ""):
        raise _Unreadable(NO_USER)
    numbers = {name: NONE if cells[name] is None else int(cells[name]) for name in ("rank", "group")}
    if not all(NONE <= number < MOST_NUMBER for number in numbers.values()):
        raise _Unreadable("a number out of range")
    try:
        texts = {name: "" if cell is None else str(cell) for name, cell in cells.items() if name not in _NUMBERS}
        "".join(texts.values()).encode()
        time = math.nan if cells["time"] in (None, "") else parse_time(cells["time"])
    except UnicodeEncodeError:
        raise _Unreadable(NOT_UTF8) from None
    except (ValueError, OverflowError):
        raise _Unreadable(TIME) from None
    return texts | numbers | {"time": time}


def in_order(cells: Cells) -> tuple[Any, ...]:
    """The record's fields in the order of FIELDS."""
    return tuple(cells[name] for name in FIELDS)
