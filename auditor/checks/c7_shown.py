"""What a party got, held against what was released to it (check 7 of DESIGN 10.4): record by record, by both logs.

The Main Service's log says what each record of a group is and each entry of a portion, the gateway's what the party
acknowledged and what was dropped. Whatever stands in one of them alone, twice, or in other bytes is told; what an
erasure hides is allowed for by its number.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from auditor.checks.c3_signatures import NAME_SIZE, name_of
from proxid.crypto.sansig import Role, SignedMessage
from proxid.encoding import decode, decode_int, encode
from proxid.errors import RecordMismatchError
from proxid.evidence.events import SanitizedPair
from proxid.protocol.entry import EntryPlace
from proxid.protocol.record import PLACE

Delivery = tuple[int, int, str]
"""Epoch, group, party."""
Named = Mapping[bytes, bytes]
"""Records by their places: what each is remembered by, `c3_signatures.name_of`."""

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS shown (
    epoch INTEGER, grp INTEGER, party TEXT, released BLOB, delivered BLOB, sent BLOB, gone BLOB, whole INTEGER,
    differs INTEGER, total INTEGER, PRIMARY KEY (epoch, grp, party)
) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Shown:
    """What one log says of a group or portion: its records by their places, and how many it cannot say any more."""

    records: Named
    unread: int = 0

    def encode(self) -> bytes:
        """For storing."""
        return encode(self.unread, *(place + name for place, name in self.records.items()))

    @classmethod
    def decode(cls, data: bytes) -> "Shown":
        """What was stored."""
        unread, *rows = decode(data)
        return cls({row[:-NAME_SIZE]: row[-NAME_SIZE:] for row in rows}, decode_int(unread))


def position(number: int) -> bytes:
    """The place of a group's record."""
    return number.to_bytes(4)


def entry(signed: SignedMessage) -> bytes:
    """The place of an entry: its id, which says no position; raises EncodingError."""
    return EntryPlace.decode(signed.message.blocks[PLACE]).id


def of_records(records: Sequence[bytes], entries: bool) -> Shown:
    """What RELEASED says; a record that cannot be read is empty. Raises EncodingError, MessageInvalidError."""
    return _shown([SignedMessage.decode(data) if data else None for data in records], entries)


def of_pairs(pairs: Sequence[SanitizedPair | None], entries: bool) -> Shown:
    """What DELIVERED says; raises EncodingError."""
    return _shown([None if pair is None else pair.original for pair in pairs], entries)


def _shown(records: Sequence[SignedMessage | None], entries: bool) -> Shown:
    found = {
        entry(signed) if entries else position(at): name_of(signed, Role.SIGNER)
        for at, signed in enumerate(records)
        if signed is not None
    }
    return Shown(found, sum(signed is None for signed in records))


def differ(released: Shown, got: Shown, dropped: Sequence[bytes], sent: Sequence[bytes] | None) -> bool:
    """Whether a party got something else than was released to it.

    Args:
        dropped: places of what was dropped. sent: of what was sent, where that is said.
    """
    said = [*got.records, *dropped]
    missing = released.records.keys() - set(said)
    unknown = set(said) - released.records.keys()
    return (
        len(set(said)) < len(said)
        or len(said) + got.unread != len(released.records) + released.unread
        or len(missing) > got.unread
        or len(unknown) > released.unread
        or any(released.records.get(place, name) != name for place, name in got.records.items())
        or (sent is not None and not got.records.keys() <= set(sent))
        or (sent is not None and len(set(sent) - released.records.keys()) > released.unread)
    )


class ShownSets:
    """The rows of both logs; those that were compared keep the outcome alone."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def released(self, named: Delivery, shown: Shown) -> Named:
        """RELEASED; what was found good of its records when the party got them, by their places."""
        self._put(named, "released", shown.encode())
        good, total = self._column(named, "delivered"), self._number(named, "total")
        self._compare(named)
        if total not in (None, len(shown.records) + shown.unread):
            self._put(named, "differs", 1)
        return {} if good is None else Shown.decode(good).records

    def delivered(self, named: Delivery, shown: Shown) -> None:
        """DELIVERED."""
        self._put(named, "delivered", shown.encode())
        self._compare(named)

    def sent(self, named: Delivery, entries: Sequence[str]) -> None:
        """SENT of a portion, by its entries' ids in hexadecimal; raises ValueError, RecordMismatchError."""
        ids = [bytes.fromhex(one) for one in entries]
        if len(set(ids)) < len(ids):
            raise RecordMismatchError("event names an entry twice")
        if not frozenset(decode(self._column(named, "gone") or encode())).isdisjoint(ids):
            raise RecordMismatchError("what was sent had been dropped before")
        self._put(named, "sent", encode(*ids))

    def sent_of(self, named: Delivery) -> frozenset[bytes]:
        """The ids of a portion's entries that were sent; if it was delivered, of those that were dropped after that."""
        return frozenset(decode(self._column(named, "sent") or encode()))

    def dropped(self, named: Delivery, entries: Sequence[str], left: int) -> None:
        """DROPPED of entries, of which `left` stay; raises ValueError, RecordMismatchError."""
        before, total = self._column(named, "gone"), self._number(named, "total")
        gone = [*(decode(before) if before else ()), *map(bytes.fromhex, entries)]
        self._put(named, "gone", encode(*gone))
        if total not in (None, len(gone) + left):
            raise RecordMismatchError("event counts other entries of the portion than the one before")
        self._put(named, "total", len(gone) + left)
        if left == 0:
            self._put(named, "whole", 1)
            self._compare(named)

    def _put(self, named: Delivery, column: str, value: bytes | int | None) -> None:
        self._db.execute(
            f"INSERT INTO shown (epoch, grp, party, {column}) VALUES (?,?,?,?) "  # noqa: S608
            f"ON CONFLICT (epoch, grp, party) DO UPDATE SET {column}=excluded.{column}",
            (*named, value),
        )

    def _column(self, named: Delivery, column: str) -> bytes | None:
        row = self._db.execute(f"SELECT {column} FROM shown WHERE epoch=? AND grp=? AND party=?", named).fetchone()  # noqa: S608
        return None if row is None else row[0]

    def _number(self, named: Delivery, column: str) -> int | None:
        row = self._db.execute(f"SELECT {column} FROM shown WHERE epoch=? AND grp=? AND party=?", named).fetchone()  # noqa: S608
        return None if row is None else row[0]

    def _compare(self, named: Delivery) -> None:
        query = "SELECT released, delivered, gone, sent, whole FROM shown WHERE epoch=? AND grp=? AND party=?"
        released, delivered, gone, sent, whole = self._db.execute(query, named).fetchone()
        if released is None or (delivered is None and not whole):
            return
        got = Shown({}) if delivered is None else Shown.decode(delivered)
        dropped, told = decode(gone or encode()), None if sent is None else decode(sent)
        self._put(named, "differs", int(differ(Shown.decode(released), got, dropped, told)))
        for column in ("released", "delivered", "gone"):
            self._put(named, column, None)
        if delivered is not None and told is not None:
            cut = sorted(set(told).intersection(dropped))
            self._put(named, "sent", encode(*cut) if cut else None)
