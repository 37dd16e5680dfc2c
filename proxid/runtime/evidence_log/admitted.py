"""Damage that the operator of a log has admitted (DESIGN 10.2): `damaged` in the log's folder, one JSON object a line.

    {"first": 122, "last": 130, "reason": "disk", "logged": false}

The service starts over such leaves and says so in its log, by DAMAGED. What they said stays unchecked for good.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from proxid.errors import MALFORMED, LogDamagedError
from proxid.jsontext import load_json
from proxid.regular import regular_text
from proxid.runtime.whole import replace_whole

FILE: Final = "damaged"
REASONS: Final = ("disk", "power", "copy", "software", "unknown")
"""Words, not text: what an operator writes could name somebody."""


@dataclass(frozen=True, slots=True)
class Damage:
    """Leaves `first` to `last`; `logged`: the log says so."""

    first: int
    last: int
    reason: str
    logged: bool = False


@dataclass(frozen=True, slots=True)
class Admitted:
    """All that was admitted of a log."""

    ranges: tuple[Damage, ...] = ()

    def covers(self, number: int) -> bool:
        """Whether a leaf was admitted to be damaged."""
        return any(item.first <= number <= item.last for item in self.ranges)

    @classmethod
    def read(cls, folder: Path) -> "Admitted":
        """What lies in a log's folder; raises LogDamagedError."""
        path = folder / FILE
        if not path.exists():
            return NOTHING
        try:
            rows = [load_json(row) for row in regular_text(path, "ascii").splitlines()]
            return cls(
                tuple(Damage(int(r["first"]), int(r["last"]), str(r["reason"]), bool(r["logged"])) for r in rows)
            )
        except (OSError, *MALFORMED):
            raise LogDamagedError(f"{path}: cannot be read; admit the damage again after deleting it") from None

    def write(self, folder: Path) -> None:
        """Keep it; raises OSError."""
        rows = [
            json.dumps({"first": r.first, "last": r.last, "reason": r.reason, "logged": r.logged}) for r in self.ranges
        ]
        replace_whole(folder / FILE, "".join(f"{row}\n" for row in rows).encode("ascii"))

    def with_more(self, ranges: Iterable[Damage]) -> "Admitted":
        """With further damage."""
        return Admitted((*self.ranges, *(item for item in ranges if item not in self.ranges)))

    def with_logged(self, damage: Damage) -> "Admitted":
        """With one of them said in the log."""
        return Admitted(tuple(replace(item, logged=True) if item == damage else item for item in self.ranges))


NOTHING: Final = Admitted()


def runs(numbers: Sequence[int]) -> list[str]:
    """Rising numbers as ranges: `7`, `9-12`."""
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return [str(first) if first == last else f"{first}-{last}" for first, last in found]
