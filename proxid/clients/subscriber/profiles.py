"""The profile database of a party (002 §3.3.4.3, DESIGN 8.10), kept up to date as records are delivered.

`profiles.sqlite` beside the feed's file. Table `profiles`: records by person as named to the party, kind and category;
view `shares` adds the thesis's percentages. It is a sum over `feed.jsonl` and nothing else: it names the state of that
file which it has counted, and whatever finds another state counts the file again. A group that is taken back and a
name that asked for erasure are so gone from both.
"""

import hashlib
import os
import sqlite3
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Final, Self

from proxid.clients.subscriber.kept import Entry, kept_rows
from proxid.errors import InputError, OutputError
from proxid.profiles import Counts, count
from proxid.regular import open_regular

FILE: Final = "profiles.sqlite"
FEED: Final = "feed.jsonl"
_TAIL: Final = 4096
"""Bytes: the file grows, or ends in a new line of its own, so that its size and end tell its states apart."""
_TABLES: Final = """
PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA secure_delete=ON;
CREATE TABLE IF NOT EXISTS profiles (
    user TEXT, kind TEXT, category TEXT, records INTEGER NOT NULL, PRIMARY KEY (user, kind, category)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS counted (feed TEXT NOT NULL);
CREATE VIEW IF NOT EXISTS shares AS SELECT
    user, kind, category, records, records * 1000 / SUM(records) OVER (PARTITION BY user, kind) / 10.0 AS percent
FROM profiles;
"""
"""The journal is not synchronised: after a crash the database is an earlier one, and the file is counted again."""
_ADD: Final = """
INSERT INTO profiles VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET records = records + excluded.records
"""
_TYPES: Final = (str, str, str, int)
Places = Counter[tuple[str, str, str]]
"""Records by person, kind and category."""


class Profiles:
    """The open database of a feed's file."""

    def __init__(self, feed: Path) -> None:
        self._feed = feed
        self._path = feed.with_name(FILE)
        self._database: sqlite3.Connection | None = None

    def __enter__(self) -> Self:
        """Count what the file has and the database has not; raises InputError, OutputError."""
        try:
            self._database = self._opened()
            if _counted(self._database) != _state_of(self._feed):
                self.renew()
        except (sqlite3.DatabaseError, UnicodeDecodeError):
            self.__exit__()
            self._database = self._anew()
            self.renew()
        return self

    def __exit__(self, *_: object) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

    def add(self, rows: Iterable[Entry]) -> None:
        """Count rows that were appended to the file; raises OutputError."""
        self._write(Counter(map(_place, rows)), anew=False)

    def renew(self) -> None:
        """Count the file from its start: rows left it. Raises InputError, OutputError."""
        self._write(Counter(_place(row) for row in kept_rows(self._feed)), anew=True)
        assert self._database is not None
        # What was overwritten is in the journal until it is taken over.
        self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _write(self, found: Places, *, anew: bool) -> None:
        assert self._database is not None
        try:
            with self._database as database:
                if anew:
                    database.execute("DELETE FROM profiles")
                database.executemany(_ADD, [(*place, records) for place, records in found.items()])
                database.execute("DELETE FROM counted")
                database.execute("INSERT INTO counted VALUES (?)", (_state_of(self._feed),))
        except sqlite3.OperationalError:
            raise OutputError(f"{FILE}: the database cannot be written") from None

    def _opened(self) -> sqlite3.Connection:
        try:
            os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
            _verify(self._path)
        except OSError:
            raise OutputError(f"{FILE}: the file cannot be opened").at(str(self._path)) from None
        database = sqlite3.connect(self._path)
        try:
            database.executescript(_TABLES)
        except sqlite3.OperationalError:
            database.close()
            raise OutputError(f"{FILE}: the database cannot be written") from None
        return database

    def _anew(self) -> sqlite3.Connection:
        """In the place of a file that is no such database."""
        try:
            for path in (self._path, *(self._path.with_name(FILE + end) for end in ("-wal", "-shm"))):
                path.unlink(missing_ok=True)
        except OSError:
            raise OutputError(f"{FILE}: cannot be made anew").at(str(self._path)) from None
        return self._opened()


def read_profiles(folder: Path, kind: str = "general") -> Counts:
    """Records by person and category of a party's folder, from the database if it is up to date, else from the file.

    Raises InputError: there is no feed in the folder, or it is damaged.
    """
    feed = folder / FEED
    if not feed.is_file():
        raise InputError(f"{folder.name} has no {FEED}: --feed is a party's data_dir")
    stored = _stored(feed)
    return counts_of(kept_rows(feed), kind) if stored is None else _counts(stored, kind)


def counts_of(rows: Iterable[Entry], kind: str = "general") -> Counts:
    """Records of a kind by person and category."""
    return _counts(Counter(map(_place, rows)), kind)


def _counts(places: Places, kind: str) -> Counts:
    found: Counts = {}
    for (user, of_kind, category), records in sorted(places.items()):
        if of_kind == kind:
            count(found, user, category, records)
    return found


def _stored(feed: Path) -> Places | None:
    """What the database has, None if that is not what is in the file now."""
    try:
        _verify(feed.with_name(FILE))
        with closing(sqlite3.connect(f"{feed.with_name(FILE).absolute().as_uri()}?mode=ro", uri=True)) as database:
            rows = list(database.execute("SELECT user, kind, category, records FROM profiles"))
            if _counted(database) != _state_of(feed) or any(tuple(map(type, row)) != _TYPES for row in rows):
                return None
            return Counter({row[:3]: row[3] for row in rows})
    except (OSError, sqlite3.DatabaseError, UnicodeDecodeError):
        return None


def _verify(path: Path) -> None:
    """Raises OSError unless it is a file: for a pipe's writer SQLite would wait, whatever signal comes."""
    open_regular(path).close()


def _counted(database: sqlite3.Connection) -> str:
    found = database.execute("SELECT feed FROM counted").fetchone()
    return found[0] if found else ""


def _state_of(feed: Path) -> str:
    with open_regular(feed) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL))
        return f"{size}:{hashlib.sha256(file.read()).hexdigest()}"


def _place(row: Entry) -> tuple[str, str, str]:
    return row["user"], row["kind"], row["category"]
