"""What two services hold of a person, as rows and sentences for them (DESIGN 11)."""

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from proxid.clients.household.told import moment, told_to
from proxid.clients.household.words import Words

ROWS: Final = 2000
"""Of one page."""
_LONGEST: Final = 80
"""Signs of a text in a table; what was taken along has all of it."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Part(Generic[T]):
    """Rows of one page of a list, and where the pages beside it begin; None where there is none."""

    rows: Sequence[T]
    newer: int | None
    older: int | None


def part(rows: Sequence[T], start: str) -> Part[T]:
    """The page that begins at row `start`, a number as it stands in an address."""
    at = int(start) if start.isascii() and start.isdigit() and len(start) < 10 else 0
    at -= at % ROWS
    older = at + ROWS if at + ROWS < len(rows) else None
    return Part(rows[at : at + ROWS], max(0, at - ROWS) if at else None, older)


def cut(text: str) -> str:
    """A text as it fits into a table."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def day(seconds: float) -> str:
    """The day of a moment, UTC."""
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%d")


def passed(held: Mapping[str, Any], kept: float, words: Words) -> list[tuple[str, str, str, str, str]]:
    """What went to parties, newest first: when, to whom, about what, as what, and until when the gateway knows it.

    Args:
        held: the document of access. kept: seconds for which the gateway keeps what a party acknowledged.
    """
    said = words["page"]["passed"]
    rows = sorted(held["identity_screener"]["deliveries"], key=lambda row: -(row["time"] or float("inf")))
    return [
        (
            moment(row["time"]) if row["time"] else said["unacknowledged"],
            row["party"],
            said["kinds"][row["kind"]],
            said["names"][row["as"]],
            day(row["time"] + kept) if row["time"] else "",
        )
        for row in rows
    ]


def holders(standing: Mapping[str, Any], words: Words) -> Iterator[str]:
    """Who holds records, and what each was told and answered, in sentences."""
    said = words["page"]["rights"]
    for row in standing["recipients"]:
        yield said["holder"].format(party=row["party"], n=row["records"], name=row["name"])
    if not standing["recipients"]:
        yield said["nobody"]
    for row in standing["notices"]:
        fields = {"party": row["party"], "time": moment(row["made"]), "kind": said.get(row["kind"], row["kind"])}
        at = row["acknowledged"]
        yield said["told"].format(**fields) if at is None else said["acknowledged"].format(**fields, then=moment(at))


def consents(held: Mapping[str, Any], epoch_seconds: int, words: Words) -> list[tuple[str, list[str]]]:
    """The day on which each epoch's consent began to hold, and what it lets each party know."""
    rows = []
    for epoch in held["identity_screener"]["epochs"]:
        told = told_to([(grant["party"], grant["kind"], grant["as"]) for grant in epoch["grants"]], words)
        rows.append((moment(epoch["epoch"] * epoch_seconds), told or [words["consent"]["nobody"]]))
    return rows
