"""The lines of a log, one at a time: each a record, or the reason why it is none."""

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from proxid.loglines.head import BOM, check_text, tsv_columns
from proxid.loglines.rows import Cells, read_cells, read_object


@dataclass(frozen=True, slots=True, repr=False)
class Line:
    """A line of a log: its number from 1, and its record's cells by field, or the reason why there is none.

    blank: there is nothing on the line.
    """

    number: int
    cells: Cells
    reason: str = ""
    blank: bool = False


def read_lines(data: bytes, kind: str, extra: Mapping[str, str] | None = None) -> Iterator[Line]:
    """Every line of a log's bytes; `kind` is tsv or jsonl, `extra` has further names of columns and their
    fields, which need not be a log's and are given as text.

    Raises InputError, before the first line, for what is no log.
    """
    data = data.removeprefix(BOM)
    if kind == "jsonl":
        check_text(data[: data.rfind(b"\n") + 1] or data)
        return _objects(data, extra)
    # A last line without its end decides nothing: who reads in blocks has not seen it yet.
    columns, header = tsv_columns(data[: data.rfind(b"\n") + 1] or data, extra)
    return _rows(data, columns if header else [*columns, *_more(columns)], header)


def _more(columns: list[str]) -> list[str]:
    """Without a header a row may have AOL's five cells even where the first rows have three."""
    return ["time", "rank", "url"][len(columns) - 2 :] if len(columns) < 5 else []


def _rows(data: bytes, columns: list[str], header: bool) -> Iterator[Line]:
    for number, line in enumerate(io.BytesIO(data), 1):
        if number == 1 and header:
            continue
        yield _line(number, line, read_cells(line.removesuffix(b"\n"), columns))


def _objects(data: bytes, extra: Mapping[str, str] | None) -> Iterator[Line]:
    for number, line in enumerate(io.BytesIO(data), 1):
        yield _line(number, line, read_object(line.removesuffix(b"\n"), extra))


def _line(number: int, line: bytes, found: Cells | str) -> Line:
    return Line(number, {}, found, not line.strip()) if isinstance(found, str) else Line(number, found)
