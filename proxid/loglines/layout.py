"""What a log file looks like, so that a release can keep its input's structure (002 §4.3.2, transparency).

Fields have one name everywhere: user, query, time, rank, url, category, group. In TSV they are called AnonID, Query,
QueryTime, ItemRank, ClickURL (AOL's five) and, optionally, Category and Group.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from proxid.errors import InputError

FIELDS = ("user", "query", "time", "rank", "url", "category", "group")
AOL_FIELDS = FIELDS[:5]
FORMATS = ("tsv", "jsonl", "parquet")
_SUFFIXES = {"txt": "tsv", "tsv": "tsv", "jsonl": "jsonl", "ndjson": "jsonl", "parquet": "parquet"}


@dataclass(frozen=True, slots=True)
class Layout:
    """Format, fields in file order, header line (TSV), gzip (TSV and JSONL), Arrow types of the fields (Parquet)."""

    format: str = "tsv"
    fields: tuple[str, ...] = AOL_FIELDS
    header: bool = True
    compressed: bool = False
    types: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.format not in FORMATS:
            raise InputError("a log's format is tsv, jsonl or parquet")
        if not {"user", "query"} <= set(self.fields) <= set(FIELDS):
            raise InputError("a log has at least the fields user and query, and no unknown ones")

    def having(self, *names: str) -> "Layout":
        """The same layout with these fields added at the end, unless present."""
        more = tuple(name for name in names if name not in self.fields)
        types = self.types + ("",) * len(more) if self.types else ()
        return replace(self, fields=self.fields + more, types=types)


NAMES = dict(zip(FIELDS, ("AnonID", "Query", "QueryTime", "ItemRank", "ClickURL", "Category", "Group"), strict=True))
"""What AOL calls each field."""
FIELD_OF: Final = {name.lower(): field for field, name in NAMES.items()} | {f: f for f in FIELDS}
"""The field that a column is, by its name in lower case: what every format calls its columns by."""
MAX_LINE: Final = 1 << 20
"""Bytes; a longer line is no query."""


def fields_of(names: Sequence[str], extra: Mapping[str, str] | None = None) -> list[str]:
    """The field of each named column, "" for one that no log has; `extra` has further names and their fields.

    Raises InputError, which names the field, where two columns are the same one.
    """
    lower = [name.strip().lower() for name in names]
    known = FIELD_OF | dict(extra or {})
    found = [known.get(name, "") for name in lower]
    for field_name in dict.fromkeys(filter(None, found)):
        if found.count(field_name) > 1:
            raise InputError(f"two columns are named for {field_name}: leave one, or name the other otherwise")
    return found


def need_fields(found: Collection[str], where: str) -> None:
    """Raises InputError, which says what is missing, unless there are users and queries among the fields found."""
    missing = [f"{name} ({NAMES[name]})" for name in ("user", "query") if name not in found]
    if missing:
        raise InputError(f"{where} without {' and '.join(missing)}: name the columns so")


def layout_of(path: Path, *, like: Layout | None = None) -> Layout:
    """The layout that a file's name asks for: `.tsv`, `.txt`, `.jsonl`, `.parquet`, with `.gz` where it applies.

    Other fields are those of `like`. Raises InputError for an unknown ending when there is no `like`.
    """
    parts = path.name.lower().split(".")[1:]
    compressed = bool(parts) and parts[-1] == "gz"
    name = _SUFFIXES.get(parts[-2] if compressed and len(parts) > 1 else parts[-1] if parts else "")
    if name is None and like is None:
        raise InputError(
            "a log's name ends in .tsv, .txt, .jsonl or .parquet, with .gz where it applies: convert others"
        )
    base = like or Layout()
    kind = name or base.format
    return replace(base, format=kind, compressed=compressed, types=base.types if kind == "parquet" else ())


@dataclass(slots=True)
class BadRows:
    """Rows of a file that could not be read: counted by reason, the first ones kept with their line number."""

    kept: int = 1000
    counts: dict[str, int] = field(default_factory=dict)
    lines: list[tuple[int, str]] = field(default_factory=list)
    first: dict[str, int] = field(default_factory=dict)

    def add(self, line: int, reason: str) -> None:
        """Count one bad row; `line` counts from 1."""
        self.counts[reason] = self.counts.get(reason, 0) + 1
        self.first.setdefault(reason, line)
        if len(self.lines) < self.kept:
            self.lines.append((line, reason))

    def said(self) -> str:
        """Each reason with its number of rows and the first line, the most frequent one first."""
        ordered = sorted(self.counts, key=lambda reason: -self.counts[reason])
        return "; ".join(
            f"{reason} ({self.counts[reason]} rows, first line {self.first[reason]})" for reason in ordered
        )

    def __len__(self) -> int:
        return sum(self.counts.values())
