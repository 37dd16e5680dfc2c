"""What a party has received, on disk: each group once, however often it is delivered (DESIGN 9).

`feed.jsonl`, one group a line, appended and synchronised before the group is acknowledged. A line torn by a crash is
cut off at the next start; the gateway delivers that group again. A group whose acknowledgement comes too late,
because somebody in it withdrew, is taken back: a line `retracted` stands in the place of its rows. A portion comes
again, without the entries of who withdrew, and the feed goes on before it. A notice that a person asked for erasure or
objected is a line `notice`; after one of erasure no row of that name is left in the file.
"""

from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Self

from proxid.clients.subscriber.group import OpenedRecord
from proxid.clients.subscriber.kept import feed_entries
from proxid.clients.subscriber.profiles import Profiles
from proxid.clients.subscriber.rows import contents_of, notice_entry, row_of
from proxid.protocol.contents import ContentsBody
from proxid.protocol.notice import Notice
from proxid.protocol.record import kind_and_number
from proxid.runtime.entry_file import EntryFile, read_entries


@dataclass(frozen=True, slots=True)
class GroupId:
    """A group is one in its service's epoch."""

    epoch: int
    group: int


@dataclass(frozen=True, slots=True)
class Kept:
    """A group that was kept: its cursor, and the digest that an acknowledgement of it signs."""

    id: GroupId
    cursor: int
    digest: bytes


class Ledger:
    """The open file and an index of what is in it.

    Attributes:
        cursor: where the feed goes on: of the last group, or before the first portion that was taken back after it.
        kept: groups that were not taken back, as far as their digest is known.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = EntryFile(path)
        self._profiles = Profiles(path)
        self._seen: set[GroupId] = set()
        self._noticed: set[str] = set()
        self.cursor = 0
        self.kept: dict[GroupId, Kept] = {}

    def __enter__(self) -> Self:
        """Read what is there; raises InputError for a damaged file, OutputError if it cannot be written."""
        self._file.__enter__()
        for entry in feed_entries(self._path):
            if "notice" in entry:
                self._noticed.add(entry["notice"])
                continue
            group = GroupId(entry["epoch"], entry["group"])
            self._seen.add(group)
            if entry.get("retracted"):
                self._forget(group, entry["cursor"])
                continue
            self.cursor = max(self.cursor, entry["cursor"])
            if "digest" in entry:
                self.kept[group] = Kept(group, entry["cursor"], bytes.fromhex(entry["digest"]))
        self._profiles.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._profiles.__exit__()
        self._file.__exit__()

    def has(self, group: GroupId) -> bool:
        """Whether the group was received before."""
        return group in self._seen

    def add(self, kept: Kept, records: list[OpenedRecord], contents: ContentsBody | None = None) -> None:
        """Keep a group, portion or contents durably; raises OutputError."""
        rows, group = [row_of(record) for record in records], kept.id
        line = {"epoch": group.epoch, "group": group.group, "cursor": kept.cursor, "digest": kept.digest.hex()}
        said = {} if contents is None else {"contents": contents_of(contents)}
        self._file.append({**line, "records": rows, **said})
        self._profiles.add(rows)
        self._seen.add(group)
        self.kept[group] = kept
        self.cursor = max(self.cursor, kept.cursor)

    def retract(self, group: GroupId, cursor: int) -> None:
        """Take a group back that the gateway no longer counts as delivered; its rows leave the file.

        A portion is as if it had not come. Raises OutputError.
        """
        line = {"epoch": group.epoch, "group": group.group, "cursor": cursor, "retracted": True}
        others = (entry for _, entry in read_entries(self._path) if not _is_of(entry, group))
        self._file.rewrite(chain(others, [line]))
        self._profiles.renew()
        self._forget(group, cursor)

    def _forget(self, group: GroupId, cursor: int) -> None:
        self.kept.pop(group, None)
        if kind_and_number(group.group)[0] == "entries":
            self._seen.discard(group)
            self.cursor = min(self.cursor, cursor - 1)
        else:
            self.cursor = max(self.cursor, cursor)

    def note(self, notice: Notice) -> bool:
        """Keep a notice durably, once, and do what it asks of the file; whether it is new. Raises OutputError."""
        name = notice.digest.hex()
        if name in self._noticed:
            return False
        if notice.kind == "erase":
            self._file.rewrite(_without(entry, notice.name) for _, entry in read_entries(self._path))
        self._file.append(notice_entry(notice))
        self._profiles.renew()
        self._noticed.add(name)
        return True


def _is_of(entry: dict[str, Any], group: GroupId) -> bool:
    """Whether a line of the file is of a group."""
    return (entry.get("epoch"), entry.get("group")) == (group.epoch, group.group)


def _without(entry: dict[str, Any], user: str) -> dict[str, Any]:
    """A line of the file without the rows of a name."""
    rows = entry.get("records")
    return entry if rows is None else {**entry, "records": [row for row in rows if row.get("user") != user]}
