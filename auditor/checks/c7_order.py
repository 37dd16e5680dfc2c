"""Releases in the order in which MS recorded them, one a party (check 7 of DESIGN 10.4): by rows of the sets."""

import sqlite3
from collections.abc import Collection


class ReleaseOrder:
    """A release's place is its number in that order, from 1.

    Args:
        db: of the sets of check 7.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def releases_to(self, party: str, until: int) -> int:
        """How many of the first so many releases were to a party."""
        query = "SELECT nth FROM deliveries WHERE party=? AND place<=? ORDER BY place DESC LIMIT 1"
        row = self._db.execute(query, (party, until)).fetchone()
        return 0 if row is None else int(row[0])

    def held_back(self, place: int, epoch: int) -> int:
        """How many releases come after one, by its place, and are of an earlier epoch."""
        query = "SELECT COUNT(*) FROM deliveries WHERE place>? AND epoch<?"
        return int(self._db.execute(query, (place, epoch)).fetchone()[0])

    def last_settled(self, before: Collection[int]) -> dict[int, int]:
        """The last release, by its place, that was delivered or dropped before events of the gateway; 0 for none."""
        settled = "SELECT COALESCE(delivered, dropped) AS event, place FROM deliveries"
        query = f"{settled} WHERE event<? AND place>0 ORDER BY event"
        rows = self._db.execute(query, (max(before, default=0),))
        row, last, found = rows.fetchone(), 0, dict[int, int]()
        for event in sorted(before):
            while row is not None and row[0] < event:
                row, last = rows.fetchone(), max(last, row[1])
            found[event] = last
        return found

    def last_handled(self, before: int) -> int:
        """The last release, by its place, that was sent, delivered or dropped before an event; 0 for none."""
        query = "SELECT COALESCE(MAX(place), 0) FROM deliveries WHERE COALESCE(sent, delivered, dropped)<?"
        return int(self._db.execute(query, (before,)).fetchone()[0])

    def first_received(self, after: Collection[int]) -> dict[int, int]:
        """MS's first RECEIVED of what was forwarded after events of the gateway; those after which none was are left
        out.
        """
        query = "SELECT forwarded_at, received_at FROM sessions WHERE forwarded_at>? AND received_at>0"
        rows = self._db.execute(f"{query} ORDER BY forwarded_at DESC", (min(after, default=0),))
        row, first, found = rows.fetchone(), 0, dict[int, int]()
        for event in sorted(after, reverse=True):
            while row is not None and row[0] > event:
                row, first = rows.fetchone(), min(first or row[1], row[1])
            if first:
                found[event] = first
        return found
