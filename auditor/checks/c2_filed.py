"""Under which links both logs filed what is of the same people (check 2 of DESIGN 10.4): rows of check 7's sets."""

import sqlite3
from typing import Final, NamedTuple

from proxid.evidence.ratchet import TAG_SIZE

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS filed (asked BLOB PRIMARY KEY, tag BLOB, event INTEGER, opens INTEGER) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS members (
    log TEXT, epoch INTEGER, grp INTEGER, party TEXT, tags BLOB, event INTEGER, opens INTEGER,
    PRIMARY KEY (epoch, grp, party, log)
) WITHOUT ROWID;
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


class Members(NamedTuple):
    """An event of a group that one log released, or the other delivered; as `Filed`, of all who are in it."""

    tags: tuple[bytes, ...]
    event: int
    opens: bool


class FiledSets:
    """By the message that was asked by, and by the group."""

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

    def other(self, log: str, named: tuple[int, int, str], members: Members) -> Members | None:
        """What the other log says of a group (epoch, group, party), which is forgotten then; if nothing yet, None."""
        where = "epoch=? AND grp=? AND party=?"
        query = f"SELECT tags, event, opens FROM members WHERE {where} AND log<>?"  # noqa: S608
        row = self._db.execute(query, (*named, log)).fetchone()
        if row is None:
            said = (b"".join(members.tags), members.event, members.opens)
            self._db.execute("INSERT OR REPLACE INTO members VALUES (?,?,?,?,?,?,?)", (log, *named, *said))
            return None
        self._db.execute(f"DELETE FROM members WHERE {where}", named)  # noqa: S608
        return Members(_parted(row[0]), row[1], bool(row[2]))

    def sent_to(self) -> list[tuple[tuple[int, int, str], int, tuple[bytes, ...]]]:
        """Groups and portions (epoch, group, party) that were sent and not acknowledged: by which event of the gateway,
        and whose they were when they were released.
        """
        where = "m.log='main-service' AND d.sent IS NOT NULL AND d.delivered IS NULL"
        joined = f"FROM deliveries d JOIN members m USING (epoch, grp, party) WHERE {where}"
        rows = self._db.execute(f"SELECT epoch, grp, party, d.sent, m.tags {joined}")
        return [((epoch, group, party), sent, _parted(tags)) for epoch, group, party, sent, tags in rows]


def _parted(tags: bytes) -> tuple[bytes, ...]:
    return tuple(tags[at : at + TAG_SIZE] for at in range(0, len(tags), TAG_SIZE))


def _key(asked: str) -> bytes:
    return bytes.fromhex(asked[:_NAME])
