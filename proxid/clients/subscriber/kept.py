"""Reading what a party has received: its feed's file, or what `proxid subscribe` printed (DESIGN 9)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from proxid.errors import MALFORMED, InputError
from proxid.protocol.record import group_name
from proxid.runtime.entry_file import read_entries

Entry = dict[str, Any]
_NEEDED: Final = ("user", "kind", "category")


def feed_entries(path: Path) -> Iterator[Entry]:
    """The lines of a feed's file; raises InputError naming the one that is damaged."""
    for number, entry in read_entries(path):
        try:
            if "notice" in entry:
                _need(entry, str, "notice", "kind", "user")
                _need(entry, int, "time_ms")
            else:
                _need(entry, int, "epoch", "group", "cursor")
                bytes.fromhex(entry.get("digest", ""))
                if not all(isinstance(row, dict) for row in entry.get("records", ())):
                    raise ValueError
        except MALFORMED:
            raise InputError(f"{path.name}: line {number} is damaged") from None
        yield entry


def _need(entry: Entry, kind: type, *names: str) -> None:
    """Raises ValueError, KeyError unless all of these are of a type; true and false are no numbers."""
    if not all(type(entry[name]) is kind for name in names):
        raise ValueError


def kept_entries(path: Path, after: int = 0) -> Iterator[Entry]:
    """A feed's notices, and its groups that were not taken back, in the file's order; in two passes.

    Args:
        after: groups above this cursor alone, and notices that came once it was reached.

    Raises:
        InputError: as `feed_entries`.
    """
    last = {_group(entry): at for at, entry in enumerate(feed_entries(path)) if "notice" not in entry}
    reached = 0
    for at, entry in enumerate(feed_entries(path)):
        if "notice" in entry:
            if reached >= after:
                yield entry
            continue
        reached = max(reached, entry["cursor"])
        if entry["cursor"] > after and last[_group(entry)] == at and not entry.get("retracted"):
            yield entry


def kept_groups(path: Path) -> Iterator[Entry]:
    """The groups of a feed's file that were not taken back; raises as `feed_entries`."""
    return (entry for entry in kept_entries(path) if "notice" not in entry)


def read_groups(path: Path) -> list[Entry]:
    """`kept_groups` at once."""
    return list(kept_groups(path))


def kept_rows(path: Path) -> Iterator[Entry]:
    """The records of a feed's file as rows; raises InputError naming a line that is damaged."""
    for entry in kept_groups(path):
        for row in entry.get("records", ()):
            if not all(isinstance(row.get(name), str) for name in _NEEDED):
                raise InputError(f"{path.name}: {group_name(int(entry['group']))} of epoch {entry['epoch']} is damaged")
            yield row


def received_rows(path: Path) -> Iterator[Entry] | None:
    """The records of a feed's file, or of what `proxid subscribe --json` printed; None for another file.

    Raises InputError as `kept_rows`.
    """
    try:
        first = next(read_entries(path))[1]
    except (StopIteration, InputError):
        return None
    if not isinstance(first, dict) or not {"epoch", "notice"} & first.keys():
        return None
    return _printed(path) if "schema" in first else kept_rows(path)


def _printed(path: Path) -> Iterator[Entry]:
    """Without names that then asked for erasure."""
    rows: list[Entry] = []
    for number, entry in read_entries(path):
        if not isinstance(entry, dict):
            raise InputError(f"{path.name}: line {number} is damaged")
        if "listed_user" in entry:
            entry["user"] = entry.pop("listed_user")
        if entry.get("notice") == "erase":
            rows = [row for row in rows if row["user"] != entry.get("user")]
        elif all(isinstance(entry.get(name), str) for name in _NEEDED):
            rows.append(entry)
    yield from rows


def _group(entry: Entry) -> tuple[int, int]:
    return entry["epoch"], entry["group"]
