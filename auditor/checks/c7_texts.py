"""What became of requests that were withheld for what they said (checks 4 and 7 of DESIGN 10.4)."""

import sqlite3
from typing import Final, NamedTuple

from proxid.errors import RegistrationError

SCHEMA: Final = "CREATE TABLE IF NOT EXISTS doubted (id BLOB PRIMARY KEY) WITHOUT ROWID;"


class Fate(NamedTuple):
    """What became of a request: as `Sets` says, by which event, and which pipeline read it, if it was withheld."""

    fate: str
    event: int
    pipeline: str


class WithheldTexts:
    """Requests that were withheld for what they said, until their people open them.

    Args:
        db: of the sets of check 7.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def read_by(self, session: str, pipeline: str) -> None:
        """SUPPRESSED names the version that read it."""
        self._db.execute("UPDATE sessions SET pipeline=? WHERE id=?", (pipeline, bytes.fromhex(session[:32])))

    def fate(self, session: bytes) -> Fate:
        """What became of a request; raises RegistrationError if it was never received."""
        query = "SELECT fate, ended_at, pipeline FROM sessions WHERE id=? AND received IS NOT NULL"
        row = self._db.execute(query, (session[:16],)).fetchone()
        if row is None:
            raise RegistrationError("an opened request is in no log")
        return Fate(row[0] or "", row[1] or 0, row[2] or "")

    def doubt(self, session: bytes) -> None:
        """Whether a request had to be withheld cannot be told, although it was opened."""
        self._db.execute("INSERT OR IGNORE INTO doubted VALUES (?)", (session[:16],))

    def doubted(self) -> int:
        """How many these are."""
        return int(self._db.execute("SELECT COUNT(*) FROM doubted").fetchone()[0])
