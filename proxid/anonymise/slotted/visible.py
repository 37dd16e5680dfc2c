"""What the records of a slot's group say, and how wide their time must be (DESIGN 8.8, 8.9)."""

from collections.abc import Iterable
from typing import Final

from proxid.anonymise.slotted.types import SlotGroup

PRESENCE_DOMAINS: Final = frozenset({"alarm", "lock", "security", "leaving", "away"})
"""Shapes that tell when somebody is at home, asleep or away."""

PART_OF_DAY: Final = 21_600.0
NO_PLACE: Final = "anywhere"
PLACE_MARK: Final = "@"
COMMAND_RESOLUTION: Final = 3
"""H3 resolution of the coarse place of a command, about 120 km across."""


def command_path(shape: tuple[str, ...], place: str) -> tuple[str, ...]:
    """Node path of a command: its shape from domain to parameter bucket, at a coarse place (a cell, or `anywhere`)."""
    return (f"{shape[0]}{PLACE_MARK}{place or NO_PLACE}", *shape[1:])


def time_floor(kind: str, path: tuple[str, ...]) -> float:
    """Narrowest slot in seconds that may show a record's time: the part of the day for what reveals presence."""
    if kind != "command" or not path:
        return 0.0
    words = set(path[0].partition(PLACE_MARK)[0].split("_"))
    words.update(word for part in path[1:] for word in part.split("_"))
    return PART_OF_DAY if words & PRESENCE_DOMAINS else 0.0


def location_text(intent: str, slots: Iterable[tuple[str, str]]) -> str:
    """Intent and slots of a location query, never its words: `weather_query time=morning`."""
    return " ".join([intent, *(f"{kind}={value}" for kind, value in sorted(set(slots)))])


def shown_text(group: SlotGroup, text: str) -> str:
    """The text of one record of a group: its intent and slots only if the group's intents are diverse."""
    return text if group.diverse else ""


def shown_path(kind: str, node: tuple[str, ...]) -> tuple[str, ...]:
    """The path of a group's records: a place's own cell (which names its ancestors), or the whole shape."""
    return node[-1:] if kind == "location" else node
