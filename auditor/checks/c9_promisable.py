"""Events that a service may promise, by number, and the heads that were compared (check 9 of DESIGN 10.4)."""

import sqlite3
from typing import Final

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS promisable (
    log TEXT, number INTEGER, type TEXT, asked BLOB, PRIMARY KEY (log, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS heads (name BLOB PRIMARY KEY) WITHOUT ROWID;
"""


class Promisable:
    """Rows of the sets of check 7: promises are presented in any audit after that which read what they name."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def add(self, log: str, number: int, kind: str, asked: bytes) -> None:
        """An event: its type, and what was asked."""
        self._db.execute("INSERT OR IGNORE INTO promisable VALUES (?,?,?,?)", (log, number, kind, asked))

    def at(self, log: str, number: int) -> tuple[str, bytes] | None:
        """Type and what was asked, of the event of a number; None if it is none that may be promised."""
        query = "SELECT type, asked FROM promisable WHERE log=? AND number=?"
        row: tuple[str, bytes] | None = self._db.execute(query, (log, number)).fetchone()
        return row

    def anywhere(self, log: str, kind: str, asked: bytes) -> bool:
        """Whether a log has such an event."""
        query = "SELECT 1 FROM promisable WHERE log=? AND type=? AND asked=?"
        return self._db.execute(query, (log, kind, asked)).fetchone() is not None

    def is_known_head(self, name: bytes) -> bool:
        """Whether a head, by its hash, was found to be a beginning of its log before."""
        return self._db.execute("SELECT 1 FROM heads WHERE name=?", (name,)).fetchone() is not None

    def know_head(self, name: bytes) -> None:
        """It is one."""
        self._db.execute("INSERT OR IGNORE INTO heads VALUES (?)", (name,))
