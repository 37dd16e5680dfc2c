"""Reports in a folder, one after another: numbered, each names the one before it by its hash, signed (DESIGN 10.4).

    000001/report.json    what was found, with the report's number, time, and the hash of the report before it
    000001/report.html    the page to read     000001/*.head    the heads that were read, for others to compare
    000001/report.note    the auditor's signed note (C2SP signed-note) over number and hashes of both files
    index.json, index.html                     one line a report, newest first

A report's hash is the SHA-256 of its JSON, so that whoever holds one report holds all before it to their bytes.
"""

import base64
import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from auditor.findings import Report
from proxid.crypto.ed25519 import SigningKey
from proxid.errors import MALFORMED, InputError, NoteInvalidError, OutputError
from proxid.evidence.note import Note, Verifier
from proxid.jsontext import load_json
from proxid.regular import regular_bytes
from proxid.runtime.provision.public import write_public

JSON, PAGE, NOTE, INDEX = "report.json", "report.html", "report.note", "index.json"
_DIGITS: Final = 6


@dataclass(frozen=True, slots=True)
class Issue:
    """One report of a series.

    Attributes:
        number: from 1 on. previous: hash of the one before, hexadecimal; empty of the first. made: Unix seconds.
        hash: its own. before: what the one before said; None of the first.
    """

    number: int
    previous: str
    made: float
    hash: str = ""
    before: dict[str, Any] | None = field(default=None, compare=False)


Since = dict[str, Any]
Page = Callable[[Report, Issue, Since | None], str]
Index = Callable[[list[dict[str, Any]]], str]


def newest(folder: Path) -> Path | None:
    """The newest report's folder; None if there is none."""
    return next(iter(sorted(_numbered(folder), reverse=True)), None)


def report_folder(folder: Path, number: int) -> Path | None:
    """A report's folder by its number; None if there is none."""
    return next((path for path in _numbered(folder) if int(path.name) == number), None)


def _numbered(folder: Path) -> Iterator[Path]:
    return (path for path in folder.glob("[0-9]" * _DIGITS + "*") if path.name.isdecimal() and (path / NOTE).exists())


class Series:
    """A folder of reports, made if absent.

    Args:
        name, key: the auditor's.
        page: a report's page, given what was found, its issue and what is new since the one before.
        index: the index's, given its rows.
    """

    def __init__(self, folder: Path, name: str, key: SigningKey, page: Page, index: Index) -> None:
        self._folder, self._name, self._key = folder, name, key
        self._page, self._index_page = page, index

    def add(self, report: Report, now: float) -> Issue:
        """Add a report and the index's line for it, durably and whole.

        Args:
            now: Unix seconds.

        Raises:
            OutputError: it cannot be written. InputError: the report before it is damaged.
        """
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._locked():
                last = newest(self._folder)
                issue = _issue(last, now)
                new = since(issue, report)
                number = {"number": issue.number, "previous": issue.previous or None, "made": now}
                data = json.dumps({"report": number, "since": new, **report.as_dict()}, indent=1).encode("ascii")
                issue = Issue(issue.number, issue.previous, now, hashlib.sha256(data).hexdigest(), issue.before)
                html = self._page(report, issue, new).encode("utf-8")
                files = {JSON: data, PAGE: html, NOTE: self._note(issue.number, data, html)}
                files |= {f"{name}.head": log.note for name, log in report.scope.logs.items() if log.note}
                self._put(issue.number, files)
                self._index()
                return issue
        except OSError:
            raise OutputError(f"{self._folder}: the report cannot be written") from None

    def _note(self, number: int, data: bytes, html: bytes) -> bytes:
        return Note(_text(self._name, number, data, html), ()).signed(self._name, self._key).encode()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with (self._folder / "lock").open("a+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _put(self, number: int, files: dict[str, bytes]) -> None:
        """Under its number once it is whole: the note, without which a folder is no report, comes last."""
        folder = self._folder / f"{number:0{_DIGITS}}"
        folder.mkdir(mode=0o700, exist_ok=True)
        for name in sorted(files, key=lambda name: name == NOTE):
            temporary = folder / f"{name}.next"
            with temporary.open("wb") as file:
                file.write(files[name])
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(folder / name)

    def _index(self) -> None:
        rows = [_row(path) for path in sorted(_numbered(self._folder), reverse=True)]
        write_public(self._folder / INDEX, json.dumps(rows, indent=1))
        write_public(self._folder / "index.html", self._index_page(rows))


def _issue(last: Path | None, now: float) -> Issue:
    if last is None:
        return Issue(1, "", now)
    data = regular_bytes(last / JSON)
    said = _loaded(data, last / JSON)
    return Issue(int(last.name) + 1, hashlib.sha256(data).hexdigest(), now, before=_read_something(last, said))


def _read_something(last: Path, said: dict[str, Any]) -> dict[str, Any] | None:
    """The last report of evidence that could be read: of the others nothing can be said to be new."""
    for path in sorted(_numbered(last.parent), reverse=True):
        if path != last:
            said = _loaded(regular_bytes(path / JSON), path / JSON)
        if said["scope"]["logs"]:
            return said
    return None


def _loaded(data: bytes, path: Path) -> dict[str, Any]:
    try:
        said = load_json(data)
        int(said["report"]["number"])
    except MALFORMED:
        raise InputError(f"{path}: is no report") from None
    assert isinstance(said, dict)
    return said


def since(issue: Issue, report: Report) -> Since | None:
    """What is new since the report before: entries by log, counts that grew, violations, what is unchecked no more."""
    if issue.before is None or not report.scope.logs:
        return None
    now, before = report.as_dict(), issue.before
    known = {_key(violation) for violation in before["violations"]}
    logs = before["scope"]["logs"]
    unchecked = {reason["text"] for reason in now["unchecked"]}
    return {
        "report": before["report"]["number"],
        "entries": {
            name: log["size"] - logs.get(name, {"size": 0})["size"] for name, log in now["scope"]["logs"].items()
        },
        "counts": {
            name: count - before["counts"].get(name, 0)
            for name, count in now["counts"].items() if count != before["counts"].get(name, 0)
        },
        "violations": [violation for violation in now["violations"] if _key(violation) not in known],
        "checked_now": [reason["text"] for reason in before["unchecked"] if reason["text"] not in unchecked],
    }  # fmt: skip


def _key(violation: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(violation[name] for name in ("rule", "log", "leaf", "text"))


def _row(folder: Path) -> dict[str, Any]:
    data = regular_bytes(folder / JSON)
    said = _loaded(data, folder / JSON)
    return {
        **said["report"], "hash": hashlib.sha256(data).hexdigest(), "verdict": said["verdict"],
        "violations": len(said["violations"]), "unchecked": len(said["unchecked"]), "folder": folder.name,
    }  # fmt: skip


def _text(name: str, number: int, data: bytes, html: bytes) -> str:
    hashes = (base64.b64encode(hashlib.sha256(part).digest()).decode("ascii") for part in (data, html))
    return "\n".join((f"proxid/report/{name}", str(number), *hashes, ""))


@dataclass(frozen=True, slots=True)
class Verified:
    """A report that holds: its number, hash, verdict and how many reports before it were held to their hashes."""

    number: int
    hash: str
    verdict: str
    chained: int


def verify(path: Path, verifier: Verifier) -> Verified:
    """Check a report's signature and hashes, and with them all reports before it in its folder.

    Args:
        path: a report's folder, its JSON, or the folder of a series: then its newest.
        verifier: the auditor's name and key.

    Raises:
        NoteInvalidError: it is not what the auditor signed. InputError: it is no report.
    """
    if not path.exists():
        raise InputError(f"{path}: holds no report")
    folder = path if path.is_dir() else path.parent
    folder = (newest(folder) or folder) if not (folder / NOTE).exists() else folder
    said, found = _signed(folder, verifier)
    chained, previous = 0, said["report"]["previous"]
    at = int(said["report"]["number"]) - 1
    while at > 0 and (older := folder.parent / f"{at:0{_DIGITS}}").exists():
        before, known = _signed(older, verifier)
        if known != previous:
            raise NoteInvalidError(f"report {at} is not the one that the next report names")
        chained, previous, at = chained + 1, before["report"]["previous"], at - 1
    return Verified(int(said["report"]["number"]), found, str(said["verdict"]), chained)


def _signed(folder: Path, verifier: Verifier) -> tuple[dict[str, Any], str]:
    """What a report says, and its hash; raises NoteInvalidError, InputError."""
    try:
        data, html, signed = (regular_bytes(folder / name) for name in (JSON, PAGE, NOTE))
    except OSError:
        raise InputError(f"{folder}: holds no report") from None
    said = _loaded(data, folder / JSON)
    note = Note.decode(signed)
    note.verify(verifier)
    if note.text != _text(verifier.name, int(said["report"]["number"]), data, html):
        raise NoteInvalidError(f"{folder.name}: a file is not the one that was signed")
    return said, hashlib.sha256(data).hexdigest()
