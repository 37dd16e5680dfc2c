"""What both logs and the feeds hold, counted by nothing of the product: records, leaves and lines are read here anew.

segments/FIRST/leaves   record, record, …          record = u32(length) ‖ u32(CRC-32) ‖ E(salt, header)
header                  E(number, type, fields, …)     E(x, …) = u32(n) ‖ Π (u32(|x|) ‖ x), fields in JSON
"""

import json
import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Entry:
    """A log's entry, as its header says it for ever."""

    number: int
    kind: str
    fields: dict[str, Any]


def entries(evidence: Path) -> Iterator[Entry]:
    """Of a log's folder, in its order; a last record that is being written is left out."""
    for folder in sorted(path for path in (evidence / "segments").iterdir() if path.name.isdigit()):
        data, at = (folder / "leaves").read_bytes(), 0
        while at + 8 <= len(data):
            length, check = struct.unpack_from(">II", data, at)
            record = data[at + 8 : at + 8 + length]
            if len(record) < length:
                break
            assert zlib.crc32(record) == check, f"{folder} is damaged at {at}"
            number, kind, fields, *_ = _items(_items(record)[1])
            yield Entry(int.from_bytes(number, "big"), kind.decode(), json.loads(fields))
            at += 8 + length


def _items(data: bytes) -> list[bytes]:
    found, at = [], 4
    for _ in range(int.from_bytes(data[:4], "big")):
        length = int.from_bytes(data[at : at + 4], "big")
        found.append(data[at + 4 : at + 4 + length])
        at += 4 + length
    return found


@dataclass
class Count:
    """How often each thing is in the logs: FORWARDED … by session, groups and portions by what names them."""

    by_kind: dict[str, Counter[Any]] = field(default_factory=dict)
    gaps: list[str] = field(default_factory=list)

    def of(self, kind: str) -> Counter[Any]:
        return self.by_kind.get(kind, Counter())


_NAMED = {
    "FORWARDED": ("session",), "ANSWERED": ("session",), "RECEIVED": ("session",), "DELIVERED": ("ack",),
    "RELEASED": ("epoch", "group", "kind"), "ERASED": ("tombstone",), "EPOCH_OPENED": ("epoch",),
    "EPOCH_CLOSED": ("epoch",),
}  # fmt: skip
"""The fields by which an event of a kind is one."""
_AGAIN = ("main-service", "ERASED")
"""May be told twice: whoever is killed between the two services' steps of an erasure repeats it (DESIGN 10.3)."""


def count(folder: Path) -> Count:
    """Of a trial's two logs."""
    found = Count()
    for service in ("gateway", "main-service"):
        last = 0
        for entry in entries(folder / service / "data/evidence"):
            if entry.number != last + 1:
                found.gaps.append(f"{service}: {entry.number} after {last}")
            last = entry.number
            if entry.kind in _NAMED and (service, entry.kind) != _AGAIN:
                name = (service, *(entry.fields.get(part, "") for part in _NAMED[entry.kind]))
                found.by_kind.setdefault(entry.kind, Counter())[name] += 1
    return found


def lost(found: Count, acknowledged: Iterable[bytes]) -> dict[str, list[str]]:
    """Acknowledged sessions that are not in both logs exactly once each, by kind of event."""
    asked = [session.hex() for session in acknowledged]
    places = (("FORWARDED", "gateway"), ("ANSWERED", "gateway"), ("RECEIVED", "main-service"))
    missing = {kind: [name for name in asked if found.of(kind)[service, name] != 1] for kind, service in places}
    return {kind: names for kind, names in missing.items() if names}


def doubled(found: Count) -> dict[str, list[Any]]:
    """Whatever is in a log twice, acknowledged or not."""
    several = {kind: [name for name, times in names.items() if times > 1] for kind, names in found.by_kind.items()}
    return {kind: names for kind, names in several.items() if names}


def lines_of(feed: Path) -> list[dict[str, Any]]:
    """A party's feed; a last line that is being written is left out."""
    if not feed.exists():
        return []
    return [json.loads(line) for line in feed.read_bytes().split(b"\n")[:-1]]


def twice(feed: Path) -> list[tuple[int, int]]:
    """Groups, portions and contents that a party holds more than once."""
    held = Counter(
        (line["epoch"], line["group"]) for line in lines_of(feed) if "notice" not in line and "retracted" not in line
    )
    return [name for name, times in held.items() if times > 1]


def unacknowledged(folder: Path, parties: Iterable[str]) -> dict[str, list[tuple[int, int]]]:
    """Groups that a party holds and whose acknowledgement is not in the gateway's log, by party."""
    told = {
        (entry.fields["party"], entry.fields["epoch"], entry.fields["group"])
        for entry in entries(folder / "gateway/data/evidence")
        if entry.kind == "DELIVERED"
    }
    missing = {
        party: [
            (line["epoch"], line["group"])
            for line in lines_of(folder / "parties" / party / "data/feed.jsonl")
            if "notice" not in line and "retracted" not in line and (party, line["epoch"], line["group"]) not in told
        ]
        for party in parties
    }
    return {party: groups for party, groups in missing.items() if groups}


def rows_under(feed: Path, name: str) -> dict[tuple[int, int], int]:
    """How many rows a party holds under a name, by group."""
    held = {
        (line["epoch"], line["group"]): sum(row["user"] == name for row in line.get("records", ()))
        for line in lines_of(feed)
        if "notice" not in line and "retracted" not in line
    }
    return {group: rows for group, rows in held.items() if rows}
