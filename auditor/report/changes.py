"""What is new in a report since the one before it in its series (DESIGN 10.4)."""

from auditor.report.blocks import Section, code, items, moment, paragraph, section, table
from auditor.report.series import Issue, Since
from auditor.report.wording import CHECKS as WORDS
from auditor.report.wording import LOGS, RIGHTS, TOTALS

_COUNTED = {**TOTALS, **{f"rights.{key}": text for key, text in RIGHTS.items()}}


def numbered(issue: Issue, name: str) -> str:
    """Number and hash of a report, as a sentence."""
    return f"Report {issue.number} of {name}, made {moment(issue.made)}; SHA-256 of report.json: {issue.hash}"


def since_last(issue: Issue, new: Since | None) -> Section:
    """What happened since the report before."""
    title = "Since the last report"
    if new is None:
        first = "This is the first report of its series." if issue.number == 1 else "No earlier report can be compared."
        return section("since", title, paragraph(first))
    lines = [f"{count:,} new entries in the {LOGS.get(log, log)}'s log." for log, count in new["entries"].items()]
    found = [
        f"New violation, check {v['rule']} ({WORDS[v['rule']].title.lower()}), {LOGS.get(v['log'], v['log'])}: "
        f"{v['text']}."
        for v in new["violations"]
    ]  # fmt: skip
    lines += found or ["No new violation."]
    lines += [f"Could not be checked then, and was now: {text}." for text in new["checked_now"]]
    rows = [(text.capitalize(), f"{new['counts'][key]:+,}") for key, text in _COUNTED.items() if key in new["counts"]]
    before = table("The report before", ("What", "Value"), [
        ("Number", new["report"]), ("Hash of the last one", code(issue.previous)),
    ])  # fmt: skip
    return section("since", title, items(lines), table("What was added", ("What", "More"), rows), before)
