"""Under which link the gateway filed what people asked (check 2 of DESIGN 10.4): rows of the sets of check 7."""

import sqlite3
from typing import Final, NamedTuple

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS filed (asked BLOB PRIMARY KEY, tag BLOB, event INTEGER, opens INTEGER) WITHOUT ROWID;
"""
_NAME: Final = 32
"""Hexadecimal digits of a message's hash that it is named by."""


class Filed(NamedTuple):
    """The gateway's event of a request or a choice that came.

    Attributes:
        tag: the subject tag it stands under. opens: it was read, and is of whom that link is.
    """

    tag: bytes
    event: int
    opens: bool


class FiledSets:
    """By the message that was asked by."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def add(self, asked: str, filed: Filed) -> None:
        """What came first is what counts.

        Args:
            asked: the message's hash, hexadecimal.
        """
        self._db.execute("INSERT OR IGNORE INTO filed VALUES (?,?,?,?)", (_key(asked), *filed))

    def of(self, asked: str) -> Filed | None:
        """None if the gateway's log has no such event."""
        row = self._db.execute("SELECT tag, event, opens FROM filed WHERE asked=?", (_key(asked),)).fetchone()
        return None if row is None else Filed(row[0], row[1], bool(row[2]))


def _key(asked: str) -> bytes:
    return bytes.fromhex(asked[:_NAME])
