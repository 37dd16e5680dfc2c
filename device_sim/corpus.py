"""Files of utterances: JSONL, TSV with a header, and the people that the package ships (DESIGN 15).

JSONL   one object a line: `user`, `text` (or `query`), optional `time` (ISO 8601 or Unix seconds), `location`
        ("lat,lon"); an object with `consent` instead of a text changes the user's bundle.
TSV     columns `userid` (or `user`, `AnonID`) and `text` (or `query`, `Query`), optional `time` (or `QueryTime`),
        `location`; further columns are ignored, so that massive_en.tsv is read as it is.

Either may be compressed (.gz). Texts are brought to NFC here, where they come into being.
"""

import datetime
import gzip
import io
import json
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from proxid.errors import InputError

_USER: Final = ("userid", "user", "AnonID")
_TEXT: Final = ("text", "query", "utterance", "Query")
_TIME: Final = ("time", "QueryTime")


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


def read_events(path: Path) -> Iterator[Event]:
    """The events of a file, by its name JSONL or TSV; raises InputError naming the line."""
    try:
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")
    except (OSError, UnicodeDecodeError, EOFError):
        raise InputError(f"{path.name}: the file cannot be read") from None
    name = path.name.removesuffix(".gz")
    if name.endswith((".jsonl", ".json", ".ndjson")):
        return _read_jsonl(path.name, text)
    return _read_tsv(path.name, text)


def shipped_events() -> list[Event]:
    """What 200 people of MASSIVE said, 16 utterances each, in the order of the people."""
    packed = files("device_sim").joinpath("data/people.tsv.gz").read_bytes()
    return list(_read_tsv("people.tsv", gzip.decompress(packed).decode("utf-8")))


def _read_jsonl(name: str, text: str) -> Iterator[Event]:
    for number, line in enumerate(io.StringIO(text), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            if not isinstance(row, dict):
                raise ValueError
            yield _event(row, number)
        except (ValueError, KeyError, TypeError):
            raise InputError(f"{name}: line {number} is no event") from None


def _read_tsv(name: str, text: str) -> Iterator[Event]:
    lines = text.split("\n")
    header = lines[0].rstrip("\r").split("\t")
    for number, line in enumerate(lines[1:], 2):
        if not line:
            continue
        fields = line.rstrip("\r").split("\t")
        try:
            yield _event(dict(zip(header, fields, strict=True)), number)
        except (ValueError, KeyError):
            raise InputError(f"{name}: line {number} does not fit the header") from None


def _event(row: Mapping[str, Any], line: int) -> Event:
    user, consent = unicodedata.normalize("NFC", str(_first(row, _USER))), row.get("consent")
    text = "" if consent is not None else unicodedata.normalize("NFC", str(_first(row, _TEXT)))
    when = next((row[name] for name in _TIME if row.get(name)), None)
    return Event(
        user=user,
        text=text,
        time=None if when is None else _seconds(when),
        location=str(row.get("location") or ""),
        consent=None if consent is None else str(consent),
        scenario=str(row.get("scenario") or ""),
        line=line,
    )


def _first(row: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return row[next((name for name in names if name in row), names[0])]


def _seconds(value: Any) -> float:
    if isinstance(value, int | float):
        return float(value)
    when = datetime.datetime.fromisoformat(str(value))
    return (when if when.tzinfo else when.replace(tzinfo=datetime.UTC)).timestamp()
