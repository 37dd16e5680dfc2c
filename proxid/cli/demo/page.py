"""The demo's end as one page, in the look of the audit's report, which it links to."""

from typing import Final

from auditor.report.blocks import Link, paragraph, section, table
from auditor.report.page import plain_page
from proxid.cli.demo.knowledge import PARTIES
from proxid.cli.demo.result import DemoResult

_ROWS: Final = 40
"""Rows shown of each feed."""
_WORDS: Final = {
    "device": "has the person's keys, and the question",
    "gateway": "knows who, when and how much, and cannot read it",
    "main service": "reads it, under a pseudonym of the day",
    "third party": "gets who asked about which subject, and apart from it what was asked, of nobody",
    "auditor": "opens both services' evidence, and says whether all of this is true",
}


def page(result: DemoResult, report: str) -> str:
    """The page; `report` is the name of the audit's, which lies beside it."""
    parts = []
    if result.told is not None:
        columns = ("What", *PARTIES[:3], result.told.party, PARTIES[4])
        knew = table("What each party knew of one request", columns, result.told.rows())
        who = table("Who that is", ("Party", "What it does"), [(name, _WORDS[name]) for name in PARTIES])
        parts.append(section("request", "One request, five parties", knew, who))
    for party in list(result.feeds)[:1]:
        rows = [(row["user"], row["category"], row["time"]) for row in result.rows(party)[:_ROWS]]
        entries = table(f"{party}: who asked about what", ("User", "About", "From (UTC)"), rows)
        contents = result.contents(party)
        asked = sorted(contents["rows"], key=lambda row: -row["records"])[:_ROWS] if contents is not None else []
        shown = [(row["category"], row["text"], row["records"]) for row in asked]
        beside = table(f"{party}: what was asked, by nobody", ("Category", "Text", "Records"), shown)
        parts.append(section("feed", "What a third party got", entries, beside if contents is not None else None))
    said = "It is of the same minutes: both services' evidence, the witness's word, what devices and parties hold."
    found = table("Audit", ("Report", "Verdict"), [(Link("The audit's report", "short", report), result.verdict)])
    parts.append(section("audit", "What the auditor found", found, paragraph(said)))
    return plain_page("proxid demo", result.last_line(), result.verdict, parts)
