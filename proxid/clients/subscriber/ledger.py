"""What a party has received, on disk: each group once, however often it is delivered (DESIGN 9).

`feed.jsonl`, one group a line, appended and synchronised before the group is acknowledged. A line torn by a crash is
cut off at the next start; the gateway delivers that group again. A group whose acknowledgement comes too late,
because somebody in it withdrew, is taken back by a line `retracted`. A notice that a person asked for erasure or
objected is a line `notice`; after one of erasure no row of that name is left in the file.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from proxid.clients.subscriber.group import OpenedRecord
from proxid.clients.subscriber.rows import contents_of, row_of
from proxid.errors import InputError
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
        cursor: of the last group. kept: groups that were not taken back, as far as their digest is known.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = EntryFile(path)
        self._seen: set[GroupId] = set()
        self._noticed: set[str] = set()
        self.cursor = 0
        self.kept: dict[GroupId, Kept] = {}

    def __enter__(self) -> Self:
        """Read what is there; raises InputError for a damaged file, OutputError if it cannot be written."""
        self._file.__enter__()
        for entry in _entries(self._path):
            if "notice" in entry:
                self._noticed.add(entry["notice"])
                continue
            group = GroupId(entry["epoch"], entry["group"])
            self._seen.add(group)
            self.cursor = max(self.cursor, entry["cursor"])
            if entry.get("retracted"):
                self._forget(group)
            elif "digest" in entry:
                self.kept[group] = Kept(group, entry["cursor"], bytes.fromhex(entry["digest"]))
        return self

    def __exit__(self, *_: object) -> None:
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
        self._seen.add(group)
        self.kept[group] = kept
        self.cursor = max(self.cursor, kept.cursor)

    def retract(self, group: GroupId, cursor: int) -> None:
        """Take a group back that the gateway no longer counts as delivered; raises OutputError.

        A portion comes again, without the entries of who withdrew.
        """
        self._file.append({"epoch": group.epoch, "group": group.group, "cursor": cursor, "retracted": True})
        self._forget(group)

    def _forget(self, group: GroupId) -> None:
        self.kept.pop(group, None)
        if kind_and_number(group.group)[0] == "entries":
            self._seen.discard(group)

    def note(self, notice: Notice) -> bool:
        """Keep a notice durably, once, and do what it asks of the file; whether it is new. Raises OutputError."""
        name = notice.digest.hex()
        if name in self._noticed:
            return False
        if notice.kind == "erase":
            self._file.rewrite(_without(entry, notice.name) for _, entry in read_entries(self._path))
        self._file.append({"notice": name, "kind": notice.kind, "user": notice.name, "time_ms": notice.time_ms})
        self._noticed.add(name)
        return True


def _without(entry: dict[str, Any], user: str) -> dict[str, Any]:
    """A line of the file without the rows of a name."""
    rows = entry.get("records")
    return entry if rows is None else {**entry, "records": [row for row in rows if row.get("user") != user]}


def read_groups(path: Path) -> list[dict[str, Any]]:
    """The groups of a feed file that were kept; raises InputError naming the line that is damaged."""
    kept: dict[tuple[int, int], dict[str, Any]] = {}
    for entry in _entries(path):
        if "notice" in entry:
            continue
        if entry.get("retracted"):
            kept.pop((entry["epoch"], entry["group"]), None)
        else:
            kept[entry["epoch"], entry["group"]] = entry
    return list(kept.values())


def _entries(path: Path) -> Iterator[dict[str, Any]]:
    for number, entry in read_entries(path):
        try:
            if "notice" not in entry:
                hash((entry["epoch"], entry["group"], entry["cursor"], bytes.fromhex(entry.get("digest", ""))))
        except (AttributeError, ValueError, KeyError, TypeError):
            raise InputError(f"{path.name}: line {number} is damaged") from None
        yield entry
