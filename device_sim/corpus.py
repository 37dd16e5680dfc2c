"""Files of utterances: JSONL, TSV with a header, and the people that the package ships (DESIGN 15).

Both are logs as `proxid release` reads them (`proxid.loglines`): the same names of columns in any case, with a byte
order mark or without, AOL's rows with three cells or five, times in ISO 8601. Beside a log's columns there may be
`location` ("lat,lon") and, in JSONL, `consent`: an object with it changes the user's bundle and needs no text. Further
columns are ignored, so that massive_en.tsv is read as it is.

Either may be compressed (.gz). Texts are brought to NFC here, where they come into being.
"""

import gzip
import math
import unicodedata
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

from proxid.clients.household.said import check_location, check_text
from proxid.errors import InputError, OversizedError
from proxid.loglines import Line, read_lines
from proxid.loglines.head import BOM, said_columns, tsv_columns
from proxid.loglines.rows import Cells
from proxid.regular import open_stream

_EXTRA: Final = {
    "userid": "user", "user_id": "user", "text": "query", "utterance": "query",
    "location": "location", "consent": "consent", "scenario": "scenario",
}  # fmt: skip
"""Names of columns of a file of utterances that a log does not have, and their fields."""


@dataclass(frozen=True, slots=True, repr=False)
class Event:
    """One thing that a person does: asks a text, or, if `consent` is set, chooses a bundle.

    Attributes:
        user: USER_ID. time: Unix seconds, or None. location: "lat,lon" or empty. scenario: of MASSIVE, or empty.
        line: of the file, counted from 1; 0 if it is of none.
    """

    user: str
    text: str
    time: float | None = None
    location: str = ""
    consent: str | None = None
    scenario: str = ""
    line: int = 0


def read_events(path: Path, say: Callable[[str], None] = lambda _: None) -> Iterator[Event]:
    """The events of a file, by its name JSONL or TSV; raises InputError naming the file and the line.

    Args:
        say: is told which column of a file without a header is taken for what.
    """
    try:
        with open_stream(path) as file:
            data = file.read()
        data = gzip.decompress(data) if path.suffix == ".gz" else data
    except OSError as error:
        raise InputError(f"{path.name}: the file cannot be read: {error.strerror or 'damaged'}") from None
    except (EOFError, zlib.error):
        raise InputError(f"{path.name}: the file cannot be read: damaged or cut short") from None
    name = path.name.lower().removesuffix(".gz")
    if name.endswith((".parquet", ".csv", ".xlsx")):
        raise InputError(f"{path.name}: a file of utterances is JSON lines or tab-separated text")
    kind = "jsonl" if name.endswith((".jsonl", ".json", ".ndjson")) else "tsv"
    try:
        lines = read_lines(data, kind, _EXTRA)
        if kind == "tsv" and data:
            columns, header = tsv_columns(data.removeprefix(BOM), _EXTRA)
            if not header:
                say(f"{path.name} has no header: {said_columns(columns)}")
    except InputError as error:
        raise InputError(f"{path.name}: {error.rule}") from None
    return _events(path.name, lines)


def _events(name: str, lines: Iterable[Line]) -> Iterator[Event]:
    for line in lines:
        if line.blank:
            continue
        reason = line.reason or _wrong(line.cells)
        if reason:
            raise InputError(f"{name}: line {line.number} is no event: {reason}")
        yield _event(line.cells, line.number)


def shipped_events() -> list[Event]:
    """What 200 people of MASSIVE said, 16 utterances each, in the order of the people."""
    packed = files("device_sim").joinpath("data/people.tsv.gz").read_bytes()
    return list(_events("people.tsv", read_lines(gzip.decompress(packed), "tsv", _EXTRA)))


def _wrong(cells: Cells) -> str:
    """What a household could not ask of a record that can be read, or ""."""
    if cells.get("consent"):
        return ""
    try:
        check_text(cells["query"])
        check_location(cells.get("location", ""))
    except (InputError, OversizedError) as error:
        return error.rule
    return ""


def _event(cells: Cells, line: int) -> Event:
    consent = cells.get("consent") or None
    return Event(
        user=unicodedata.normalize("NFC", cells["user"]),
        text="" if consent is not None else unicodedata.normalize("NFC", cells["query"]),
        time=None if math.isnan(cells["time"]) else cells["time"],
        location=cells.get("location", ""),
        consent=consent,
        scenario=cells.get("scenario", ""),
        line=line,
    )
