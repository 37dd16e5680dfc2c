"""Entries of form `split` that were dropped (check 7 of DESIGN 10.4): whose they were, and why they went."""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from auditor.checks.c7_shown import Delivery

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS entries (
    epoch INTEGER, grp INTEGER, party TEXT, id BLOB, event INTEGER, reason TEXT, grants TEXT, people BLOB,
    PRIMARY KEY (epoch, grp, party, id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS refused (
    epoch INTEGER, grp INTEGER, party TEXT, id BLOB, people BLOB, PRIMARY KEY (epoch, grp, party, id)
) WITHOUT ROWID;
"""
_PLACE: Final = "epoch=? AND grp=? AND party=?"
_NO_CONSENT: Final = "no_consent"


Which = tuple[int, int, str, bytes]
"""Epoch, group, party, and the id of an entry or empty."""


class Dropped(NamedTuple):
    """A group, or an entry, that was dropped for a party: by which event, who is in it, and what they must grant.

    Attributes:
        id: of an entry; empty of a group. people: 16 bytes a person.
    """

    epoch: int
    group: int
    party: str
    event: int
    reason: str
    grant: str
    people: bytes
    id: bytes = b""

    @property
    def which(self) -> Which:
        """What was dropped."""
        return (*self[:3], self.id)


class EntrySets:
    """Both logs' words; an entry is forgotten once it is known why it went, or its portion was delivered."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def dropped(self, named: Delivery, ids: Sequence[str], reason: str, event: int) -> None:
        """DROPPED of entries, by their ids in hexadecimal; raises ValueError."""
        self._db.executemany(
            "INSERT INTO entries (epoch, grp, party, id, event, reason) VALUES (?,?,?,?,?,?) "
            "ON CONFLICT (epoch, grp, party, id) DO UPDATE SET event=excluded.event, reason=excluded.reason",
            [(*named, bytes.fromhex(one), event, reason) for one in ids],
        )
        if reason == _NO_CONSENT:
            query = "INSERT OR IGNORE INTO refused (epoch, grp, party, id) VALUES (?,?,?,?)"
            self._db.executemany(query, [(*named, bytes.fromhex(one)) for one in ids])

    def refused(self, party: str, epoch: int, audience: str) -> list[bytes | None]:
        """Whose entries of an audience did not go as they consented to none; None where that was never known."""
        query = "SELECT r.people FROM refused r JOIN deliveries USING (epoch, grp, party) "
        rows = self._db.execute(f"{query} WHERE party=? AND epoch=? AND told=?", (party, epoch, audience))
        return [people for (people,) in rows]

    def is_needed(self, named: Delivery, delivered: bool) -> bool:
        """Whether it matters whose the entries of a portion are."""
        query = f"SELECT 1 FROM entries WHERE {_PLACE} LIMIT 1"  # noqa: S608
        return not delivered or self._db.execute(query, named).fetchone() is not None

    def released(self, named: Delivery, grant: str, people: Iterable[tuple[bytes, bytes]]) -> None:
        """RELEASED of a portion: id and person of each entry."""
        self._db.executemany(
            "INSERT INTO entries (epoch, grp, party, id, grants, people) VALUES (?,?,?,?,?,?) "
            "ON CONFLICT (epoch, grp, party, id) DO UPDATE SET grants=excluded.grants, people=excluded.people",
            [(*named, one, grant, person) for one, person in people],
        )

    def holds(self, named: Delivery) -> None:
        """A portion, or contents, hold as the main service released them."""
        self._db.execute(f"UPDATE deliveries SET people=x'' WHERE {_PLACE} AND delivered IS NULL", named)  # noqa: S608

    def invalid(self) -> int:
        """How many of these, and of groups that hold, were dropped as ones that do not."""
        where = "dropped IS NOT NULL AND reason='invalid' AND people IS NOT NULL"
        return int(self._db.execute(f"SELECT COUNT(*) FROM deliveries WHERE {where}").fetchone()[0])  # noqa: S608

    def undecided(self) -> list[Dropped]:
        """Those that were dropped, and nobody knows yet whether they had to be; forgets what was delivered."""
        settled = "SELECT 1 FROM deliveries d WHERE d.epoch=e.epoch AND d.grp=e.grp AND d.party=e.party"
        self._db.execute(
            f"DELETE FROM entries AS e WHERE event IS NULL AND EXISTS ({settled} AND d.delivered IS NOT NULL)"  # noqa: S608
        )
        columns = "epoch, grp, party, event, reason, grants, people, id"
        rows = self._db.execute(f"SELECT {columns} FROM entries WHERE event IS NOT NULL AND people IS NOT NULL")  # noqa: S608
        return [Dropped(*row) for row in rows]

    def sent(self) -> list[tuple[Delivery, int]]:
        """Portions that were sent, of entries of which it is known whose they are; the event that says so."""
        known = "JOIN entries e USING (epoch, grp, party) WHERE sent IS NOT NULL AND e.people IS NOT NULL"
        rows = self._db.execute(f"SELECT DISTINCT epoch, grp, party, sent FROM deliveries {known}").fetchall()  # noqa: S608
        return [((epoch, group, party), event) for epoch, group, party, event in rows]

    def among(self, named: Delivery, event: int, ids: frozenset[bytes]) -> list[Dropped]:
        """Those entries of a portion, of these ids, of which it is known whose they are; the event is the given one."""
        query = f"SELECT grants, people, id FROM entries WHERE {_PLACE} AND people IS NOT NULL"  # noqa: S608
        rows = self._db.execute(query, named).fetchall() if ids else []
        return [Dropped(*named, event, "", grants, people, one) for grants, people, one in rows if one in ids]

    def decide(self, drop: Dropped) -> None:
        """Why an entry went is known."""
        which = (drop.epoch, drop.group, drop.party, drop.id)
        self._db.execute(f"UPDATE refused SET people=? WHERE {_PLACE} AND id=?", (drop.people, *which))  # noqa: S608
        self._db.execute(f"DELETE FROM entries WHERE {_PLACE} AND id=?", which)  # noqa: S608
