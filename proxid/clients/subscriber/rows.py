"""Records as rows for people and tools: JSON objects, and the layout of the AOL log (DESIGN 9, 13)."""

import datetime
from typing import Any, Final

from proxid.clients.subscriber.group import OpenedRecord
from proxid.protocol.contents import ContentsBody

RUNGS: Final = ("text", "unit", "category")
"""Names of the ladder's rungs (8.7), by their number in the body."""
TSV_HEADER: Final = ("AnonID", "Query", "QueryTime", "ItemRank", "ClickURL", "Category")
NO_QUERY: Final = "-"
"""What stands for a query that is not shown; the AOL log uses it too."""


def row_of(record: OpenedRecord) -> dict[str, Any]:
    """A record as a JSON object."""
    body = record.body
    mechanism = body.mechanism
    return {
        "user": record.user,
        "as": record.fidelity,
        "kind": body.kind,
        "rung": RUNGS[body.rung] if body.rung < len(RUNGS) else str(body.rung),
        "text": body.text,
        "category": "/".join(body.path),
        "time": _iso(body.time_bucket),
        "k": mechanism.k,
        "margin": mechanism.margin,
        "level": mechanism.level,
        "mode": mechanism.mode,
    }


def contents_of(body: ContentsBody) -> dict[str, Any]:
    """Contents as a JSON object: what was asked, in how many records, by nobody."""
    k, margin, level, threshold = body.mechanism
    rows = [{"category": "/".join(row.path), "text": row.text, "records": row.records} for row in body.rows]
    return {"k": k, "margin": margin, "level": level, "threshold": threshold, "withheld": body.withheld, "rows": rows}


def tsv_of(row: dict[str, Any]) -> str:
    """A row as a line of the AOL layout, with the category behind it: rank and URL are never published."""
    time = str(row["time"]).replace("T", " ").removesuffix("Z")
    fields = (row["user"], row["text"] or NO_QUERY, time, "", "", row["category"])
    return "\t".join(str(field).replace("\t", " ").replace("\n", " ") for field in fields)


def _iso(seconds: int) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
