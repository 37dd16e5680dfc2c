"""Google's "My Activity" in JSON, of Assistant and of Gemini Apps: English and German exports.

A record says `title` ("Said what's the weather"), `time`, `products`, for a search also `titleUrl`, whose `q` is the
text in any language. `locationInfos` (home!), answers, devices and attached files are not read.
"""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Final
from urllib.parse import parse_qs, urlsplit

import ijson

from proxid.errors import InputError
from proxid.lab.imports.archive import files_of
from proxid.lab.imports.history import NO_TEXT, History

_NAMES: Final = frozenset({"myactivity", "meineaktivität", "meineaktivitäten"})
_PRODUCTS: Final = frozenset({"assistant", "google assistant", "gemini", "gemini apps", "gemini-apps", "bard"})
_BEFORE: Final = (
    "Said ", "Asked Gemini ", "Asked ", "Prompted ", "Searched for ",
    "Gesagt: ", "Gefragt: ", "Eingegebener Prompt: ", "Gesucht nach: ",
)  # fmt: skip
"""What stands before an utterance in a title."""
_ACTS: Final = ("Used ", "Created ", "Selected preferred draft", "Gave feedback", "Visited ", "Viewed ", "Besucht: ")
_ACTS_AFTER: Final = (" verwendet", " erstellt", " angesehen", " gegeben", " ausgewählt")
"""Titles of what was done, not said: in English they begin so, in German they end so."""
_DEEPEST: Final = 32
"""Brackets within each other; exports have five."""
_OTHER_BYTES: Final = bytes(set(range(256)) - set(b'[]{}"'))
OTHER, UNKNOWN, NO_RECORD = "another product", "unknown verb", "no record"


def read_takeout(source: Path, history: History) -> None:
    """Add what was said to Assistant or Gemini in a Takeout export.

    Raises:
        InputError: there is no such file in it, it is HTML, or it is damaged.
    """
    for name, stream in files_of(source, _is_activity):
        history.files += 1
        _read(name, stream, history)
    if not history.files:
        raise InputError(
            f"{source.name} holds no MyActivity.json: at takeout.google.com choose My Activity, Assistant and Gemini"
            " Apps, and JSON instead of HTML"
        )


def _is_activity(path: PurePosixPath) -> bool:
    return path.suffix.lower() == ".json" and path.stem.lower().replace(" ", "") in _NAMES


def _read(name: str, stream: BinaryIO, history: History) -> None:
    try:
        for record in ijson.items(_Shallow(stream), "item", use_float=True):
            _add(record, history)
    except (ijson.JSONError, UnicodeDecodeError):
        # What the parser says quotes the text beside the fault.
        raise InputError(f"{name} is no whole JSON: nothing was imported; download the export again") from None


class _Shallow:
    """A stream of JSON without the mark that may stand before it; raises JSONError once it is nested too deeply.

    For each value the parser writes down the whole path to it: a megabyte of brackets would take it hours.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._head: bytes | None = stream.read(3).removeprefix(b"\xef\xbb\xbf")
        self._open, self._slashes, self._inside = b"", b"", 0

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        if size == 0:
            return b""
        data = self._head or self._stream.read(size)
        self._head = None
        self._look(data)
        return data

    def _look(self, data: bytes) -> None:
        """Follow what is open: brackets outside of texts, without those that are closed again."""
        data = self._slashes + data
        whole = data.rstrip(b"\\")
        self._slashes = data[len(whole) :]  # what they stand before is not known yet
        marks = whole.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, _OTHER_BYTES)
        parts = marks.split(b'"')
        found = self._open + b"".join(parts[self._inside :: 2])
        self._inside ^= 1 - len(parts) % 2
        for _ in range(_DEEPEST):
            found = found.replace(b"[]", b"").replace(b"{}", b"")
        if len(found) > _DEEPEST:
            raise ijson.JSONError
        self._open = found


def _add(record: Any, history: History) -> None:
    if not isinstance(record, Mapping):
        history.skip(NO_RECORD)
        return
    products = record.get("products")
    names = [record.get("header"), *(products if isinstance(products, list) else ())]
    if not any(isinstance(name, str) and name.strip().lower() in _PRODUCTS for name in names):
        history.skip(OTHER)
        return
    text = _said(record)
    if text is None:
        title = record.get("title")
        history.skip(NO_TEXT if not isinstance(title, str) or _is_act(title) else UNKNOWN)
    else:
        history.add(text, record.get("time"))


def _said(record: Mapping[str, Any]) -> str | None:
    """The utterance of a record; None where it holds none, or none that can be told from what stands around it."""
    title, text = record.get("title"), record.get("text")
    for before in _BEFORE:
        if isinstance(title, str) and title.startswith(before):
            return title.removeprefix(before)
    return _searched(record.get("titleUrl")) or (text if isinstance(text, str) else None)


def _searched(address: object) -> str | None:
    """The text that a link to a search searches for."""
    if not isinstance(address, str):
        return None
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        return None
    if not (host.startswith(("www.google.", "google.")) and parts.path == "/search"):
        return None
    return parse_qs(parts.query).get("q", [None])[0]


def _is_act(title: str) -> bool:
    return title.startswith(_ACTS) or title.endswith(_ACTS_AFTER)
