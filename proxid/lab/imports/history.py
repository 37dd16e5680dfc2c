"""What was kept of an export, in order of time, and why the rest was not."""

import json
import os
import tempfile
from array import array
from collections import Counter
from pathlib import Path
from typing import Any, Final
from unicodedata import normalize

import numpy as np

from proxid.lab.logs.whole import whole_file, write_errors
from proxid.loglines.times import format_time, parse_time

NO_TEXT, NO_TIME, TWICE, TOO_LONG = "no utterance", "time unreadable", "twice", "too long"
LONGEST: Final = 100_000
"""Characters of an utterance; what is longer was pasted."""
_PRIVATE: Final = 0o600


class History:
    """The utterances of one person's exports; memory grows by 16 bytes an utterance."""

    def __init__(self, user: str, folder: Path) -> None:
        """Texts wait in a nameless file of `folder`, where the output goes: they are what the output will hold."""
        self._user = user
        with write_errors():
            self._lines = tempfile.TemporaryFile("w+b", dir=folder)  # noqa: SIM115 - closed by `write`
        self._times, self._ends, self._end = array("d"), array("q"), 0
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
        cells = {"user": self._user, "query": said, "time": format_time(moment)}
        line = json.dumps(cells, ensure_ascii=False).encode() + b"\n"
        with write_errors():
            self._lines.write(line)
        self._end += len(line)
        self._times.append(moment)
        self._ends.append(self._end)

    def write(self, output: Path) -> dict[str, Any]:
        """The log, in order of time, each utterance once, readable by its owner alone; the report.

        Returns: kept, skipped by reason, files, first and last time (ISO 8601) or None.

        Raises:
            OutputError: it could not be written.
        """
        times, ends = np.frombuffer(self._times, np.float64), np.frombuffer(self._ends, np.int64)
        starts = np.concatenate([[0], ends[:-1]])
        kept: list[float] = []
        count, at, seen = 0, None, set[bytes]()
        with self._lines as lines, whole_file(output, _PRIVATE) as out:
            with write_errors():
                lines.flush()
            for row in np.argsort(times, kind="stable").tolist():
                line = os.pread(lines.fileno(), int(ends[row] - starts[row]), int(starts[row]))
                if times[row] != at:
                    at, seen = times[row], set()
                if line in seen:  # exports overlap
                    self.skip(TWICE)
                    continue
                seen.add(line)
                out.write(line)
                count += 1
                kept = [kept[0] if kept else float(times[row]), float(times[row])]
        first, last = (format_time(kept[0]), format_time(kept[1])) if kept else (None, None)
        return {"kept": count, "skipped": dict(self.skipped), "files": self.files, "first": first, "last": last}


def _moment(value: object) -> float | None:
    """Seconds since 1970 of a time in an export: ISO 8601, also with a blank for T and `UTC` for Z."""
    if not isinstance(value, str):
        return None
    text = " ".join(value.split())
    try:
        return parse_time(f"{text[:-4].strip()}Z" if text.upper().endswith(" UTC") else text)
    except (ValueError, OverflowError):
        return None
