"""Heads that came with answers (check 1 of DESIGN 10.4): the main service signed them, so they are its log's.

Rows of the sets of check 7, since there may be one a second; what was compared is forgotten.
"""

import sqlite3
from collections.abc import Iterator
from typing import Final

from auditor.findings import HEADS, Report, Unchecked
from auditor.generations import ReadLog
from proxid.errors import NoteInvalidError, ProxidError
from proxid.evidence.checkpoint import Checkpoint
from proxid.evidence.note import Note

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS answered (
    log TEXT, size INTEGER, root BLOB, note BLOB, PRIMARY KEY (log, size, root)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS answers (session BLOB PRIMARY KEY, name BLOB) WITHOUT ROWID;
"""
FORKED: Final = "a head that came with an answer is not a beginning of this history: it is forked"
_NAME: Final = 32
_LONGEST: Final = 1 << 62
_CHUNK: Final = 256
_PROVEN: Final = 1_024
"""Heads that are compared by a proof each, as what they are of was read before: the longest ones, at one a second a
quarter of an hour's. What is left is told."""


class AnsweredHeads:
    """What the gateway's log holds of the main service's heads, until that one's log is read; and of each answer what
    it is remembered by, 16 bytes, for who holds it.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._db.executescript(SCHEMA)
        self._last = b""
        self._strange = False
        """Whether an answer held something else."""

    def take(self, note: bytes) -> None:
        """The head of an answer that was found good."""
        if note == self._last:
            return
        try:
            head = Checkpoint.parse(Note.decode(note).text)
        except ProxidError:
            self._strange = True
            return
        if head.size > _LONGEST:
            self._strange = True
            return
        self._db.execute("INSERT OR IGNORE INTO answered VALUES (?,?,?,?)", (head.origin, head.size, head.root, note))
        self._last = note

    def logged(self, session: str, name: bytes) -> None:
        """The answer that was found good (`c3_signatures.name_of`) to a request, by its hash in hexadecimal."""
        row = (bytes.fromhex(session[:_NAME]), name[: _NAME // 2])
        self._db.execute("INSERT OR IGNORE INTO answers VALUES (?,?)", row)

    def is_another(self, session: str, name: bytes) -> bool:
        """Whether another answer to a request was found good than one that somebody holds."""
        row = (bytes.fromhex(session[:_NAME]), name[: _NAME // 2])
        return self._db.execute("SELECT 1 FROM answers WHERE session=? AND name<>?", row).fetchone() is not None

    def after(self, log: str, size: int) -> Iterator[tuple[int, bytes]]:
        """Size and root of each head of a log, named by its origin, that is longer; in their order."""
        at: tuple[int, bytes] = size + 1, b""
        query = "SELECT size, root FROM answered WHERE log=? AND (size, root)>=(?,?) ORDER BY size, root LIMIT ?"
        while found := self._db.execute(query, (log, *at, _CHUNK)).fetchall():
            yield from found
            at = found[-1][0], found[-1][1] + b"\0"

    def finish(self, read: ReadLog, report: Report) -> None:
        """When the main service's log was read: what was not compared with a leaf is now, or, if it is longer than
        that, in the next audit.
        """
        log, size = read.heads.origin, read.heads.frontier.size
        self._db.execute("DELETE FROM answered WHERE log=? AND size>? AND size<=?", (log, read.heads.start, size))
        query = "SELECT log, size, note FROM answered WHERE NOT (log=? AND size>?) ORDER BY log, size DESC"
        for name, length, note in self._db.execute(f"{query} LIMIT ?", (log, size, _PROVEN)).fetchall():
            try:
                read.compare(note)
            except NoteInvalidError:
                self._strange = True
            self._db.execute("DELETE FROM answered WHERE log=? AND size=?", (name, length))
        left = self._db.execute("DELETE FROM answered WHERE NOT (log=? AND size>?)", (log, size)).rowcount
        if left:
            text = f"{left} heads that came with answers were not compared: what they are of was read before"
            report.missing.append(Unchecked(HEADS, read.log.name, text))
        if self._strange:
            report.once(HEADS, read.log.name, "an answer came with what is no head of this log")
