"""What was kept of an export, in order of time, and why the rest was not."""

import json
import math
import os
import struct
import tempfile
from collections import Counter
from collections.abc import Iterator
from heapq import merge
from itertools import pairwise
from pathlib import Path
from typing import Any, Final
from unicodedata import normalize

from proxid.lab.logs.whole import whole_file, write_errors
from proxid.loglines.times import format_time, parse_time

NO_TEXT, NO_TIME, TWICE, TOO_LONG = "no utterance", "time unreadable", "twice", "too long"
LONGEST: Final = 100_000
"""Characters of an utterance; what is longer was pasted."""
_PRIVATE: Final = 0o600
_RUN: Final = 32 << 20
_BESIDE: Final = 150
"""Bytes of memory in which lines are put in order, and what one takes besides its own."""
_PIECE: Final = 1 << 16
"""Bytes of a run that are in memory when all are read."""
_HEAD: Final = struct.Struct("<dI")
_JSON: Final = json.JSONEncoder(ensure_ascii=False)


class History:
    """The utterances of one person's exports; memory does not grow with them."""

    def __init__(self, user: str, folder: Path) -> None:
        """Texts wait in a nameless file of `folder`, where the output goes: they are what the output will hold."""
        self._user = user
        with write_errors():
            self._file = tempfile.TemporaryFile("w+b", dir=folder)  # noqa: SIM115 - closed by `write`
        self._ends = [0]
        """In the file, of its runs: lines in order, each after its time and size."""
        self._held: list[tuple[float, bytes]] = []
        self._size = 0
        """What the next run will be, and the bytes that it takes here."""
        self.skipped: Counter[str] = Counter()
        """Records that were left out, by reason."""
        self.files = 0
        """Files that were read."""

    def skip(self, reason: str) -> None:
        """A record is no utterance; no text of it stays."""
        self.skipped[reason] += 1

    def add(self, text: str, time: object) -> None:
        """An utterance and its time, as an export says it; what has neither is counted."""
        said = " ".join(normalize("NFC", text).split())
        moment = _moment(time)
        if not said or len(said) > LONGEST:
            self.skip(TOO_LONG if said else NO_TEXT)
            return
        if moment is None:
            self.skip(NO_TIME)
            return
        line = _JSON.encode({"user": self._user, "query": said, "time": format_time(moment)}).encode() + b"\n"
        self._held.append((moment, line))
        self._size += len(line) + _BESIDE
        if self._size > _RUN:
            self._put_by()

    def _put_by(self) -> None:
        """Write what is held as a run."""
        self._held.sort()
        with write_errors():
            for moment, line in self._held:
                self._file.write(_HEAD.pack(moment, len(line)) + line)
            self._file.flush()
            self._ends.append(self._file.tell())
        self._held, self._size = [], 0

    def write(self, output: Path) -> dict[str, Any]:
        """The log, in order of time and text, each utterance once, readable by its owner alone; the report.

        Returns: kept, skipped by reason, files, first and last time (ISO 8601) or None.

        Raises:
            OutputError: it could not be written.
        """
        count, times, last = 0, [math.nan, math.nan], None
        with self._file, whole_file(output, _PRIVATE) as out:
            self._put_by()
            for row in merge(*(self._run(start, end) for start, end in pairwise(self._ends))):
                if row == last:  # exports overlap
                    self.skip(TWICE)
                    continue
                out.write(row[1])
                times, last = [row[0] if last is None else times[0], row[0]], row
                count += 1
        first, end = map(format_time, times)
        return {"kept": count, "skipped": dict(self.skipped), "files": self.files, "first": first, "last": end}

    def _run(self, at: int, end: int) -> Iterator[tuple[float, bytes]]:
        """Times and lines of a run, of which a piece is in memory."""
        data, begin = b"", 0
        while at < end or begin < len(data):
            whole = begin + _HEAD.size
            if whole <= len(data):
                moment, size = _HEAD.unpack_from(data, begin)
                if whole + size <= len(data):
                    yield moment, data[whole : whole + size]
                    begin = whole + size
                    continue
            piece = os.pread(self._file.fileno(), min(_PIECE, end - at), at)
            data, begin, at = data[begin:] + piece, 0, at + len(piece)


def _moment(value: object) -> float | None:
    """Seconds since 1970 of a time in an export: ISO 8601, also with a blank for T and `UTC` for Z."""
    if not isinstance(value, str):
        return None
    text = " ".join(value.split())
    try:
        return parse_time(f"{text[:-4].strip()}Z" if text.upper().endswith(" UTC") else text)
    except (ValueError, OverflowError):
        return None
