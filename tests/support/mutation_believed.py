"""What an audit takes at a service's word, by which row of docs/adr/0023; and what nothing names, with the reason.

Each is a pattern of a mutation's name (`LOG/EVENT/FIELD/HOW`, and the event behind where two changed places). The first
that fits counts. docs/evidence.md has the same list.
"""

import re
from typing import Any, Final

ROWS: Final[tuple[tuple[str, str], ...]] = (
    (r"main-service/REFUSED/header\.rule/", "turned_away"),
    (r"gateway/REFUSED/", "turned_away"),
    (r"main-service/SUPPRESSED/header\.reason/enum-(rejected|no_category|unprocessable|classifier_failed|no_place|no_shape)",
     "texts"),
    (r"gateway/ANSWERED/payload\.original\.blocks\[[23]\]/", "answers"),
    (r"gateway/ANSWERED/payload\.original\.header\.(nonce|time_ms)/", "answers"),
    (r"main-service/EPOCH_OPENED/payload\.feeds\[\]\.sealed/", "seals"),
    (r".*/event/told after the next ", "order"),
)  # fmt: skip
"""Rows of the report. `order` is counted where requests are taken up otherwise than they came; of two neighbours that
rest on nothing of each other either order is an honest one."""

NAMED: Final[tuple[tuple[str, str], ...]] = ()
"""What ends clean and is no row."""


def believed_as(mutation: Any) -> str:
    """The row; empty if there is none."""
    return _first(ROWS, mutation)


def reason_of(mutation: Any) -> str:
    """Why nothing names it; empty if it must be found."""
    return _first(NAMED, mutation)


def _first(table: tuple[tuple[str, str], ...], mutation: Any) -> str:
    name = f"{mutation.name} {mutation.beside}".rstrip()
    return next((said for pattern, said in table if re.match(pattern, name)), "")
