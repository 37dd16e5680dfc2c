"""Filing a search log: its queries are general by definition, so no type is asked for (DESIGN 15).

The classifier of spoken requests gives a path only to what it takes for a general question: "piano" is a command there.
Here every query that can be read has the path of the category stage, `NONE` where its words have no topic; what is
empty, unreadable or in another language has no category.
"""

from collections.abc import Callable
from typing import Any

LEAST = 0.9
"""Share of records with a category under which a report warns."""


def default_filing() -> Callable[[str], str]:
    """The category stage that ships with the package, loaded when the first query without a category asks for it."""
    loaded: list[Any] = []

    def path_of(text: str) -> str:
        if not loaded:
            from proxid.classify import load_default

            loaded.append(load_default())
        return "/".join(loaded[0].file(text))

    return path_of


def coverage(records: int, without: int, *, filed: bool) -> dict[str, Any]:
    """What reports say of categories: how many records have none, the share that has one, a warning under LEAST.

    `filed`: whether queries that came without a category were filed.
    """
    share = 1 - without / records if records else 1.0
    found: dict[str, Any] = {"coverage": round(share, 4), "records_without": without}
    if share < LEAST:
        why = "their queries are empty, unreadable or in another language" if filed else "queries were not to be filed"
        found["warning"] = f"{without} of {records} records have no category: {why}"
    return found
