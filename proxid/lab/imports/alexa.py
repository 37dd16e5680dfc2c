"""Amazon's Alexa export: `Intent-….csv` below a folder `Alexa`, with a byte order mark.

Columns: `Utterance text`, `Utterance Creation Date` and others, of which `Contact Name` and `Screen Contents` hold
other people and are not read.
"""

import csv
import io
import re
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final

from proxid.errors import InputError
from proxid.lab.imports.archive import files_of
from proxid.lab.imports.history import NO_TEXT, History

TEXT, TIME = "utterance text", "utterance creation date"
_FILE: Final = re.compile(r"intent-\d+-\d+\.csv", re.IGNORECASE)
_MISSING: Final = frozenset({"", "not available", "data not available", "not applicable", "n/a"})
_WAKE: Final = re.compile(r"(?:alexa|echo|computer|amazon|ziggy)(?:[\s,.!?]+|$)", re.IGNORECASE)
_NOT_UTF8: Final = re.compile("[\ud800-\udfff]")
WAKE_ALONE, NOT_UTF8, SHORT = "wake word alone", "not UTF-8", "too few fields"


def read_alexa(source: Path, history: History) -> None:
    """Add what was said to Alexa in an export of Amazon's.

    Raises:
        InputError: there is no such file in it, its columns are others, or it is damaged.
    """
    for name, stream in files_of(source, _is_intents):
        history.files += 1
        _read(name, stream, history)
    if not history.files:
        raise InputError(
            f"{source.name} holds no Alexa/…/Intent-….csv: ask Amazon for the data of Alexa, and give the zip"
        )


def _is_intents(path: PurePosixPath) -> bool:
    return bool(_FILE.fullmatch(path.name)) and "alexa" in {part.lower() for part in path.parts[:-1]}


def _read(name: str, stream: BinaryIO, history: History) -> None:
    # Bytes that are no UTF-8 become lone surrogates, so that one line is left out and not the file.
    rows = csv.reader(io.TextIOWrapper(stream, "utf-8-sig", "surrogateescape", newline=""))
    try:
        columns = [cell.strip().lower() for cell in next(rows, [])]
        if not {TEXT, TIME} <= set(columns):
            raise InputError(f"{name} has no columns Utterance text and Utterance Creation Date: is it Alexa's?")
        text, time = columns.index(TEXT), columns.index(TIME)
        for row in rows:
            if row:
                _add(row, text, time, history)
    except csv.Error:
        raise InputError(f"{name}, line {rows.line_num}: no CSV: nothing was imported; download it again") from None


def _add(row: list[str], text: int, time: int, history: History) -> None:
    if len(row) <= max(text, time):
        history.skip(SHORT)
        return
    said = row[text].strip()
    if _NOT_UTF8.search(said):
        history.skip(NOT_UTF8)
    elif said.lower() in _MISSING:
        history.skip(NO_TEXT)
    elif not (asked := _WAKE.sub("", said, count=1) if _WAKE.match(said) else said):
        history.skip(WAKE_ALONE)
    else:
        history.add(asked, row[time])
