"""Records as rows for people and tools: JSON objects, and the layout of the AOL log (DESIGN 9, 13)."""

import datetime
from typing import Any, Final

from proxid.clients.subscriber.group import OpenedRecord
from proxid.protocol.contents import ContentsBody
from proxid.protocol.notice import Notice

RUNGS: Final = ("text", "unit", "category")
"""Names of the ladder's rungs (8.7), by their number in the body."""
PAIRS: Final = "mix"
"""Mode of a record whose asker is somebody else of its group."""
TSV_HEADER: Final = ("AnonID", "Query", "QueryTime", "ItemRank", "ClickURL", "Category")
SCHEMA: Final = "proxid/feed/v1"
"""What every printed line names: `feed.schema.json` beside this module (docs/feed.md)."""
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


def lines_of(entry: dict[str, Any]) -> list[dict[str, Any]]:
    """A kept group as the lines that `proxid subscribe --json` prints, by `feed.schema.json`.

    A record of a pair names somebody of the group who did not ask what it says: `listed_user`.
    """
    place = {"schema": SCHEMA, **{name: entry[name] for name in ("epoch", "group", "cursor")}}
    lines = [] if entry.get("contents") is None else [{**place, "contents": entry["contents"]}]
    for row in entry["records"]:
        shown = dict(row)
        if row["mode"] == PAIRS:
            shown = {"listed_user": shown.pop("user"), **shown}
        lines.append({**place, **shown})
    return lines


def notice_entry(notice: Notice) -> dict[str, Any]:
    """A notice as the feed's file has it."""
    return {"notice": notice.digest.hex(), "kind": notice.kind, "user": notice.name, "time_ms": notice.time_ms}


def notice_line(entry: dict[str, Any]) -> dict[str, Any]:
    """A kept notice as a printed line."""
    return {"schema": SCHEMA, "notice": entry["kind"], "user": entry["user"], "time_ms": entry["time_ms"]}


def tsv_of(row: dict[str, Any]) -> str:
    """A row as a line of the AOL layout, with the category behind it: rank and URL are never published."""
    time = str(row["time"]).replace("T", " ").removesuffix("Z")
    fields = (row["user"], row["text"] or NO_QUERY, time, "", "", row["category"])
    return "\t".join(str(field).replace("\t", " ").replace("\n", " ") for field in fields)


def _iso(seconds: int) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
