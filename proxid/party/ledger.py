"""What a party has received, on disk: each group once, however often it is delivered (DESIGN 9).

`feed.jsonl`, one group a line, appended and synchronised before the group is acknowledged. A line torn by a crash is
cut off at the next start; the gateway delivers that group again. A group whose acknowledgement comes too late,
because somebody in it withdrew, is taken back by a line `retracted`.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from proxid.errors import InputError, OutputError
from proxid.party.group import OpenedRecord
from proxid.party.rows import row_of


@dataclass(frozen=True, slots=True)
class GroupId:
    """A group is one in its service's epoch."""

    epoch: int
    group: int


class Ledger:
    """The open file and an index of what is in it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None
        self._seen: set[GroupId] = set()
        self.cursor = 0

    def __enter__(self) -> Self:
        """Read what is there; raises InputError for a damaged file, OutputError if it cannot be written."""
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600)
        except OSError:
            raise OutputError(f"{self._path.name}: the file cannot be opened") from None
        whole = self._path.read_bytes()
        end = whole.rfind(b"\n") + 1
        os.ftruncate(self._file, end)
        os.lseek(self._file, end, os.SEEK_SET)
        for group in _entries(self._path):
            self._seen.add(GroupId(group["epoch"], group["group"]))
            self.cursor = max(self.cursor, group["cursor"])
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def has(self, group: GroupId) -> bool:
        """Whether the group was received before."""
        return group in self._seen

    def add(self, group: GroupId, cursor: int, records: list[OpenedRecord]) -> None:
        """Keep a group durably; raises OutputError."""
        rows = [row_of(record) for record in records]
        self._append({"epoch": group.epoch, "group": group.group, "cursor": cursor, "records": rows})
        self._seen.add(group)
        self.cursor = max(self.cursor, cursor)

    def retract(self, group: GroupId, cursor: int) -> None:
        """Take a group back that the gateway no longer counts as delivered; raises OutputError."""
        self._append({"epoch": group.epoch, "group": group.group, "cursor": cursor, "retracted": True})

    def _append(self, entry: dict[str, Any]) -> None:
        assert self._file is not None
        line = json.dumps(entry)
        try:
            os.write(self._file, line.encode("utf-8") + b"\n")
            os.fsync(self._file)
        except OSError:
            raise OutputError(f"{self._path.name}: the file cannot be written") from None


def read_groups(path: Path) -> list[dict[str, Any]]:
    """The groups of a feed file that were kept; raises InputError naming the line that is damaged."""
    kept: dict[tuple[int, int], dict[str, Any]] = {}
    for entry in _entries(path):
        if entry.get("retracted"):
            kept.pop((entry["epoch"], entry["group"]), None)
        else:
            kept[entry["epoch"], entry["group"]] = entry
    return list(kept.values())


def _entries(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                entry = json.loads(line)
                entry["epoch"], entry["group"], entry["cursor"]
            except (ValueError, KeyError, TypeError):
                raise InputError(f"{path.name}: line {number} is damaged") from None
            yield entry
