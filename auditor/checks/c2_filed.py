"""Under which links both logs filed what is of the same people (check 2 of DESIGN 10.4): rows of check 7's sets."""

import sqlite3
from collections.abc import Iterable
from typing import Final, NamedTuple

from proxid.evidence.ratchet import TAG_SIZE

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS filed (asked BLOB PRIMARY KEY, tag BLOB, event INTEGER, opens INTEGER) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS members (
    log TEXT, epoch INTEGER, grp INTEGER, party TEXT, tags BLOB, event INTEGER, opens INTEGER,
    PRIMARY KEY (epoch, grp, party, log)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS cut (epoch INTEGER, grp INTEGER, party TEXT, tags BLOB, PRIMARY KEY (epoch, grp, party))
WITHOUT ROWID;
"""
_NEAR: Final = 4096
"""Messages that are remembered beside the database."""
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


class Sent(NamedTuple):
    """A group or portion (epoch, group, party) that was sent, and not acknowledged whole.

    Attributes:
        event: the gateway's that says so. tags: of whose records it was when it was released; of a portion whose other
            entries the party acknowledged, those of the rest. acknowledged: that is so.
    """

    named: tuple[int, int, str]
    event: int
    tags: tuple[bytes, ...]
    acknowledged: bool


class FiledSets:
    """By the message that was asked by, and by the group."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._near: dict[bytes, Filed] = {}
        """What was looked for last: what comes of one request stands close together in a log."""

    def add(self, asked: str, filed: Filed) -> None:
        """What came first is what counts.

        Args:
            asked: the message's hash, hexadecimal.
        """
        key = _key(asked)
        if self._db.execute("INSERT OR IGNORE INTO filed VALUES (?,?,?,?)", (key, *filed)).rowcount:
            self._keep(key, filed)

    def of(self, asked: str) -> Filed | None:
        """None if the gateway's log has no such event."""
        key = _key(asked)
        if (near := self._near.get(key)) is not None:
            return near
        row = self._db.execute("SELECT tag, event, opens FROM filed WHERE asked=?", (key,)).fetchone()
        return None if row is None else self._keep(key, Filed(row[0], row[1], bool(row[2])))

    def _keep(self, key: bytes, filed: Filed) -> Filed:
        if len(self._near) >= _NEAR:
            self._near.clear()
        self._near[key] = filed
        return filed

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

    def cut(self, named: tuple[int, int, str], tags: Iterable[bytes]) -> None:
        """Whose entries of a portion were released, and not delivered with the others: one tag an entry."""
        self._db.execute("INSERT OR REPLACE INTO cut VALUES (?,?,?,?)", (*named, b"".join(tags)))

    def sent_to(self) -> list[Sent]:
        """Groups and portions that were sent, and what of them was not acknowledged."""
        joined = "SELECT epoch, grp, party, d.sent, t.tags, d.delivered FROM deliveries d JOIN"
        whole = f"{joined} members t USING (epoch, grp, party) WHERE t.log='main-service' AND d.delivered IS NULL"
        cut = f"{joined} cut t USING (epoch, grp, party) WHERE d.delivered IS NOT NULL"
        rows = self._db.execute(f"SELECT * FROM ({whole} UNION ALL {cut}) WHERE sent IS NOT NULL")  # noqa: S608
        return [
            Sent((epoch, grp, party), sent, _parted(tags), bool(got)) for epoch, grp, party, sent, tags, got in rows
        ]


def _parted(tags: bytes) -> tuple[bytes, ...]:
    return tuple(tags[at : at + TAG_SIZE] for at in range(0, len(tags), TAG_SIZE))


def _key(asked: str) -> bytes:
    return bytes.fromhex(asked[:_NAME])
