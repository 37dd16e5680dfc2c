"""Filing a search log: its queries are general by definition, so no type is asked for (DESIGN 15).

The classifier of spoken requests gives a path only to what it takes for a general question: "piano" is a command there.
Here every query that can be read has the path of the category stage, `NONE` where its words have no topic; what is
empty, unreadable or in another language has no category.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from proxid.errors import InputError
from proxid.regular import regular_bytes

LEAST = 0.9
"""Share of records with a category under which a report warns."""


@dataclass(frozen=True, slots=True)
class Filing:
    """How queries are filed, as a classifier of logs: by the category network or by 002's Algorithm 1 (`thesis`).

    ontology: a file of one's own tree instead of the IAB taxonomy. What classifies is loaded when the first query
    without a category asks for it, and raises InputError for an unusable ontology.
    """

    by: str = "network"
    ontology: Path | None = None
    loaded: list[Any] = field(default_factory=list, repr=False, compare=False)

    def __call__(self, text: str) -> str:
        """The path of a query, "" for one without."""
        if not self.loaded:
            from proxid.classify import load_default

            self.loaded.append(load_default(method=self.by, ontology_file=self.ontology))
        return "/".join(self.loaded[0].file(text))

    @property
    def said(self) -> dict[str, str]:
        """What a manifest says of it: the method and, of another ontology, its SHA-256."""
        if self.ontology is None:
            return {"by": self.by}
        return {"by": self.by, "ontology": hashlib.sha256(regular_bytes(self.ontology)).hexdigest()}


def filing_as(said: Mapping[str, str], asked: Filing | None) -> Filing:
    """The filing that a release's manifest names, with the ontology that was asked for.

    Raises InputError where what was asked for is another one: paths would not compare.
    """
    if not said:
        return asked or Filing()
    filing = asked or Filing(str(said.get("by", "network")))
    if filing.said != said:
        what = f"--file-by {said.get('by')}" + (" and --ontology, its file" if "ontology" in said else "")
        raise InputError(f"the release was filed in another way: ask for {what}")
    return filing


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
