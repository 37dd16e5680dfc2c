"""Completeness by sets, not counts (check 7 of DESIGN 10.4).

    FORWARDED = RECEIVED ∪ REFUSED ∪ UNREACHED (∪ still open)
    RECEIVED  = released ∪ suppressed ∪ withdrawn ∪ waiting (∪ not yet taken up)
    RELEASED × its audience's parties = DELIVERED ∪ DROPPED ∪ pending

The sets lie in SQLite, so that an audit's memory does not grow with the logs, and a later audit goes on with them.
Sessions are named by the first 16 bytes of their hash.
"""

import sqlite3
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Final

from auditor.checks import c1_answered, c2_filed, c7_entries, c7_shown, c7_texts, c9_promisable
from auditor.checks.c2_filed import FiledSets
from auditor.checks.c7_entries import Dropped, EntrySets
from auditor.checks.c7_order import ReleaseOrder
from auditor.checks.c7_shown import Delivery, Named, ShownSets
from auditor.checks.c9_promisable import Promisable
from proxid.errors import GroupMismatchError, RecordMismatchError
from proxid.evidence.events import ReleasedPayload
from proxid.protocol.record import kind_and_number

HIDDEN: Final = 0
"""Time of a request whose payload does not open."""

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS sessions (
    id BLOB PRIMARY KEY, forwarded INTEGER, forwarded_at INTEGER, answered INTEGER, unreached INTEGER, refused INTEGER,
    received INTEGER, received_at INTEGER, buffered INTEGER, fate TEXT, ended_at INTEGER, good BLOB, pipeline TEXT
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS deliveries (
    epoch INTEGER, grp INTEGER, party TEXT, released INTEGER, delivered INTEGER, dropped INTEGER, reason TEXT,
    good BLOB, place INTEGER, nth INTEGER, sent INTEGER, told TEXT, audience TEXT, grants TEXT, people BLOB,
    PRIMARY KEY (epoch, grp, party)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS places ON deliveries (party, place) WHERE place IS NOT NULL;
CREATE TABLE IF NOT EXISTS replay (epoch INTEGER, id BLOB, value BLOB, PRIMARY KEY (epoch, id)) WITHOUT ROWID;
"""


def _once(column: str, at: str) -> str:
    """Set a column of a session that must not be set yet; no row if it is."""
    return (
        f"INSERT INTO sessions (id, {column}, {at}) VALUES (?,?,?) ON CONFLICT (id) DO UPDATE SET "  # noqa: S608
        f"{column}=excluded.{column}, {at}=excluded.{at} WHERE {column} IS NULL RETURNING good"
    )


_FORWARDED: Final = _once("forwarded", "forwarded_at")
_RECEIVED: Final = _once("received", "received_at")
_ENDED: Final = _once("fate", "ended_at")


class Sets:
    """What both logs name.

    Args:
        path: of the database; a temporary one that SQLite spills to disk if None.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._db = sqlite3.connect("" if path is None else str(path), isolation_level=None)
        # What an audit that does not end leaves behind is thrown away whole, so nothing need be rolled back.
        self._db.execute("PRAGMA journal_mode=OFF")
        self._db.execute("PRAGMA synchronous=NORMAL")
        own = (c2_filed, c7_shown, c7_entries, c7_texts, c9_promisable)
        self._db.executescript(_SCHEMA + "".join(module.SCHEMA for module in own))
        self.shown, self.entries, self.filed = ShownSets(self._db), EntrySets(self._db), FiledSets(self._db)
        self.promisable, self.texts = Promisable(self._db), c7_texts.WithheldTexts(self._db)
        self.answered_heads, self.order = c1_answered.AnsweredHeads(self._db), ReleaseOrder(self._db)
        counted = "SELECT party, COUNT(place), COUNT(COALESCE(delivered, dropped)) FROM deliveries GROUP BY party"
        rows = self._db.execute(counted).fetchall()
        self._released, self._settled = (Counter({row[0]: row[at] for row in rows}) for at in (1, 2))
        self._db.execute("BEGIN")

    def _put(self, session: str, column: str, value: int) -> None:
        self._db.execute(
            f"INSERT INTO sessions (id, {column}) VALUES (?,?) "  # noqa: S608
            f"ON CONFLICT (id) DO UPDATE SET {column}=excluded.{column}",
            (_key(session), value),
        )

    def _put_once(self, statement: str, session: str, value: int | str, event: int) -> tuple[bytes | None] | None:
        row: tuple[bytes | None] | None = self._db.execute(statement, (_key(session), value, event)).fetchone()
        return row

    def forwarded(self, session: str, time_ms: int, event: int) -> None:
        """FORWARDED; raises RecordMismatchError if it was before."""
        if self._put_once(_FORWARDED, session, max(time_ms, HIDDEN), event) is None:
            raise RecordMismatchError("a request was forwarded twice")

    def forwarded_at(self, session: str) -> int | None:
        """Number of FORWARDED; None if there was none."""
        row = self._db.execute("SELECT forwarded_at FROM sessions WHERE id=?", (_key(session),)).fetchone()
        return None if row is None else row[0]

    def vouch(self, session: str, good: bytes) -> None:
        """The request that was forwarded holds: what it is remembered by (`signatures.name_of`)."""
        self._db.execute("UPDATE sessions SET good=? WHERE id=? AND received IS NULL", (good, _key(session)))

    def answered(self, session: str, event: int) -> tuple[int | None, int | None]:
        """ANSWERED; time and number of what was FORWARDED, if it was."""
        self._put(session, "answered", event)
        query = "SELECT forwarded, forwarded_at FROM sessions WHERE id=?"
        return self._db.execute(query, (_key(session),)).fetchone()  # type: ignore[no-any-return]

    def answered_at(self, session: str) -> int | None:
        """Number of ANSWERED; None if there was none."""
        row = self._db.execute("SELECT answered FROM sessions WHERE id=?", (_key(session),)).fetchone()
        return None if row is None else row[0]

    def unreached(self, session: str, form: int) -> None:
        """UNREACHED, of a form of the event: 1 was said, too, of what was answered without being logged; raises
        RecordMismatchError if it was never forwarded.
        """
        if self.forwarded_at(session) is None:
            raise RecordMismatchError("what was never forwarded is said not to have arrived")
        self._put(session, "unreached", form)

    def received(self, session: str, time_ms: int, event: int) -> bytes:
        """RECEIVED: what was vouched for, or empty; raises RecordMismatchError if it was before."""
        row = self._put_once(_RECEIVED, session, time_ms, event)
        if row is None:
            raise RecordMismatchError("a request was received twice")
        return row[0] or b""

    def refused(self, session: str, form: int) -> None:
        """REFUSED by MS, of a form of the event: what 1 was said of may have been answered at another try."""
        self._put(session, "refused", form)

    def buffered(self, session: str) -> None:
        """BUFFERED."""
        self._put(session, "buffered", 1)

    def is_buffered(self, session: str) -> bool:
        """Whether the session's record was buffered."""
        return self._has(session, "buffered")

    def is_answered(self, session: str) -> bool:
        """Whether IS recorded an answer."""
        return self._has(session, "answered")

    def is_received(self, session: str) -> bool:
        """Whether MS recorded the request."""
        return self._has(session, "received")

    def ended(self, session: str, fate: str, event: int) -> None:
        """How a session's record left, or why it never entered; raises GroupMismatchError if it had ended."""
        if self._put_once(_ENDED, session, fate, event) is None:
            raise GroupMismatchError("a record ended twice")

    def _has(self, session: str, column: str) -> bool:
        row = self._db.execute(f"SELECT {column} FROM sessions WHERE id=?", (_key(session),)).fetchone()  # noqa: S608
        return row is not None and row[0] is not None

    def _deliver(self, named: Delivery, column: str, value: int | str, reason: str | None = None) -> None:
        self._db.execute(
            f"INSERT INTO deliveries (epoch, grp, party, {column}, reason) VALUES (?,?,?,?,?) "  # noqa: S608
            f"ON CONFLICT (epoch, grp, party) DO UPDATE SET {column}=excluded.{column}, "
            "reason=COALESCE(excluded.reason, reason)",
            (*named, value, reason),
        )

    def _state(self, named: Delivery, column: str) -> int | None:
        row = self._db.execute(
            f"SELECT {column} FROM deliveries WHERE epoch=? AND grp=? AND party=?",  # noqa: S608
            named,
        ).fetchone()
        return None if row is None else row[0]

    def released(self, named: Delivery, event: int) -> None:
        """A group's release to a party; raises RecordMismatchError if it was before."""
        if self._state(named, "released") is not None:
            raise RecordMismatchError("a group was released to a party twice")
        self._deliver(named, "released", event)
        # Releases are counted as MS counts them for IS: one a party, in the order of the log.
        self._released[named[2]] += 1
        self._deliver(named, "place", self._released.total())
        self._deliver(named, "nth", self._released[named[2]])

    def released_to(self, place: tuple[int, int], payload: ReleasedPayload, event: int) -> dict[str, Named]:
        """RELEASED to each of its parties; what was found good of the records when they got them.

        Raises:
            RecordMismatchError: it was released before. EncodingError: a record is none.
        """
        for party, _, _ in payload.parties:
            self.released((*place, party), event)
        entries = kind_and_number(place[1])[0] == "entries"
        shown = {party: c7_shown.of_records(records, entries) for party, records, _ in payload.parties}
        return {party: self.shown.released((*place, party), said) for party, said in shown.items()}

    def releases(self) -> int:
        """How many releases there were; each group counts once a party."""
        return self._released.total()

    def place(self, named: Delivery) -> int | None:
        """Which release a group's to a party was, counted from 1; None if MS recorded none."""
        return self._state(named, "place")

    def released_at(self, named: Delivery) -> int | None:
        """MS's event of a group's release to a party; None if MS recorded none."""
        return self._state(named, "released")

    def told(self, named: Delivery, audience: str) -> None:
        """The gateway says whose entries or contents these are; raises RecordMismatchError if it said otherwise."""
        if self.audience(named) not in ("", audience):
            raise RecordMismatchError("events name different audiences of the same entries or contents")
        self._deliver(named, "told", audience)

    def lies_in(self, named: Delivery, audience: str) -> None:
        """The main service says whose entries or contents these are."""
        self._deliver(named, "audience", audience)

    def audience(self, named: Delivery) -> str:
        """What the gateway said, or empty."""
        row = self._db.execute("SELECT told FROM deliveries WHERE epoch=? AND grp=? AND party=?", named).fetchone()
        return "" if row is None else row[0] or ""

    def settled(self, party: str) -> int:
        """How many groups were delivered to a party, or dropped for it."""
        return self._settled[party]

    def is_dropped(self, named: Delivery, reason: str) -> bool:
        """Whether the gateway dropped this delivery for a reason."""
        query = "SELECT reason FROM deliveries WHERE epoch=? AND grp=? AND party=? AND dropped IS NOT NULL"
        row = self._db.execute(query, named).fetchone()
        return row is not None and row[0] == reason

    def vouch_contents(self, named: Delivery, digest: bytes) -> None:
        """What a party's acknowledgement of contents must sign, as one of the logs says."""
        self._db.execute("UPDATE deliveries SET good=? WHERE epoch=? AND grp=? AND party=?", (digest, *named))

    def vouched(self, named: Delivery) -> bytes:
        """What was vouched for, or empty."""
        row = self._db.execute("SELECT good FROM deliveries WHERE epoch=? AND grp=? AND party=?", named).fetchone()
        return b"" if row is None else row[0] or b""

    def sent(self, named: Delivery, event: int) -> None:
        """SENT; raises RecordMismatchError if it was before, or had been dropped."""
        if self._state(named, "sent") is not None or self._state(named, "dropped") is not None:
            raise RecordMismatchError("what was sent had been sent, or dropped, before")
        self._deliver(named, "sent", event)

    def sent_at(self, named: Delivery) -> int | None:
        """The gateway's event that says that it was sent; None if there is none."""
        return self._state(named, "sent")

    def sent_only(self) -> list[Dropped]:
        """Groups and entries that were sent and not delivered, by the event that says so, where it is known of whom."""
        where = "WHERE sent IS NOT NULL AND delivered IS NULL AND length(people)>0"
        rows = self._db.execute(f"SELECT epoch, grp, party, sent, '', grants, people FROM deliveries {where}")  # noqa: S608
        entries = (self.entries.among(named, event, self.shown.sent_of(named)) for named, event in self.entries.sent())
        return [*(Dropped(*row) for row in rows), *chain.from_iterable(entries)]

    def delivered(self, named: Delivery, event: int) -> None:
        """DELIVERED; raises RecordMismatchError if it was before."""
        if self._state(named, "delivered") is not None:
            raise RecordMismatchError("group was delivered to a party twice")
        self._settled[named[2]] += self._state(named, "dropped") is None
        self._deliver(named, "delivered", event)

    def is_delivered(self, named: Delivery) -> bool:
        """Whether the gateway recorded this delivery."""
        return self._state(named, "delivered") is not None

    def dropped(self, named: Delivery, reason: str, event: int) -> None:
        """DROPPED; raises RecordMismatchError if it was before."""
        if self._state(named, "dropped") is not None:
            raise RecordMismatchError("group was dropped for a party twice")
        self._settled[named[2]] += self._state(named, "delivered") is None
        self._deliver(named, "dropped", event, reason)

    def keep_people(self, named: Delivery, grant: str, people: bytes) -> None:
        """Who is shown in a group, until it is delivered: 16 bytes a person; and the TYPE|FIDELITY that all grant."""
        where = "WHERE epoch=? AND grp=? AND party=? AND delivered IS NULL"
        self._db.execute(f"UPDATE deliveries SET grants=?, people=? {where}", (grant, people, *named))  # noqa: S608

    def undecided(self) -> list[Dropped]:
        """What the gateway dropped, not as invalid (`EntrySets.invalid`), and nobody knows yet whether it had to."""
        self._db.execute("UPDATE deliveries SET people=NULL WHERE delivered IS NOT NULL AND people IS NOT NULL")
        columns, where = "epoch, grp, party, dropped, reason, grants, people", "length(people)>0 AND reason<>'invalid'"
        rows = self._db.execute(f"SELECT {columns} FROM deliveries WHERE dropped>0 AND {where}")  # noqa: S608
        return [*(Dropped(*row) for row in rows), *self.entries.undecided()]

    def decide(self, drop: Dropped) -> None:
        """Why a group, or an entry, was dropped is known."""
        if drop.id:
            self.entries.decide(drop)
        else:
            self._db.execute("UPDATE deliveries SET people=NULL WHERE epoch=? AND grp=? AND party=?", drop[:3])

    def remembered(self, epoch: int, identity: bytes) -> bytes | None:
        """What a replay remembers under an id; None if nothing (`spill`)."""
        row = self._db.execute("SELECT value FROM replay WHERE epoch=? AND id=?", (epoch, identity)).fetchone()
        return None if row is None else row[0]

    def remember(self, epoch: int, identity: bytes, value: bytes) -> None:
        """Remember it, in the place of what was."""
        self._db.execute("INSERT OR REPLACE INTO replay VALUES (?,?,?)", (epoch, identity, value))

    def forget(self, epoch: int) -> None:
        """Forget what a replay remembers of an epoch."""
        self._db.execute("DELETE FROM replay WHERE epoch=?", (epoch,))

    def save(self) -> None:
        """Make everything so far durable."""
        self._db.execute("COMMIT")
        self._db.execute("BEGIN")

    def close(self) -> None:
        """Close without keeping what was not saved."""
        self._db.rollback()
        self._db.close()

    def rows(self, query: str, values: Mapping[str, float] | None = None) -> list[tuple[int, ...]]:
        """The rows of a query of this module."""
        with closing(self._db.execute(query, values or {})) as cursor:
            return cursor.fetchall()


def _key(session: str) -> bytes:
    return bytes.fromhex(session[:32])
