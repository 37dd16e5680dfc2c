"""Each violation's story in sentences, and what to do now (DESIGN 10.4): no names, no texts; `explain` has those."""

from typing import Final

from auditor.findings import (
    COMMITS,
    COMPLETENESS,
    CONSENT,
    ERASURE,
    GROUPS,
    HEADS,
    OPENING,
    RECEIPTS,
    SIGNATURES,
    Report,
    Violation,
)
from auditor.report.blocks import Section, Stories, Story, paragraph, section
from auditor.report.wording import CHECKS, EVENTS, LOGS

TOLD: Final = 50
"""Stories of one report at most: violations of one check, log and wording have one together."""

NEXT: Final = {
    HEADS: (
        "Keep both states of the log, the one shown to you and the one shown to others: together they prove it to "
        "anybody. Compare with the witness and with other auditors. Trust nothing newer of this service until it is "
        "explained."
    ),
    OPENING: "Ask the operator for a copy of the entry from before. If there is none, treat what it held as lost.",
    SIGNATURES: (
        "Show both operators the entry. Whoever's signature stands under the message answers for it: "
        "the message itself is the proof. If a third party holds it, tell that party not to use it."
    ),
    COMMITS: (
        "Compare the versions of the rules on both sides. If they are the same, stop publishing until the main "
        "service's operator can say what changed the text."
    ),
    GROUPS: (
        "Stop the release of this kind of record. Everybody in the group may be recognised: weigh whether it has to be "
        "reported as a breach, and tell the third parties to delete the group."
    ),
    CONSENT: "Tell the third party to delete what it got, and have the gateway's operator say why it was passed on.",
    COMPLETENESS: (
        "Ask the operator of the named log for the entry, and the other one for its counterpart. Ask devices and "
        "third parties for their receipts, which show what both keep silent about."
    ),
    ERASURE: "Have the operator carry out what is missing, and say so to the person; a month is the legal limit.",
    RECEIPTS: (
        "Keep the receipt: it carries the service's own signature. Ask the operator for the entry; if there is none, "
        "the service has hidden what it signed."
    ),
}
"""What to do first after a violation of each check."""


def anchor(at: int) -> str:
    """The name of a story in the page."""
    return f"story-{at}"


def grouped(report: Report) -> dict[tuple[int, str, str], list[Violation]]:
    """Violations that say the same of the same log, in the report's order."""
    found: dict[tuple[int, str, str], list[Violation]] = {}
    for violation in report.violations:
        found.setdefault((violation.rule, violation.log, violation.text), []).append(violation)
    return found


def stories(report: Report) -> Section:
    """What happened and what to do now, one story for all violations that say the same of a log."""
    groups = list(grouped(report).values())
    told = Stories(tuple(_story(at, group) for at, group in enumerate(groups[:TOLD])))
    left = len(groups) - TOLD
    more = paragraph(f"{left:,} further kinds of violations have no story here.") if left > 0 else None
    text = paragraph(
        "Names of people and texts stand in no report. The auditor sees the whole history of an entry, across both "
        "logs and with names, by the command that is given."
    )
    return section("stories", "What happened, and what to do now", text, told, more)


def _story(at: int, group: list[Violation]) -> Story:
    first = group[0]
    title = f"{CHECKS[first.rule].title}: {LOGS.get(first.log, first.log)}"
    return Story(anchor(at), title, tuple(_sentences(first, len(group))))


def _sentences(violation: Violation, count: int) -> list[str]:
    kind, colon, rest = violation.text.partition(": ")
    log = LOGS.get(violation.log, violation.log)
    where = f"Entry {violation.event:,} of the {log}'s log" if violation.event else f"The {log}'s log as a whole"
    if colon and kind in EVENTS:
        said = [f"{where} records: {EVENTS[kind]}.", f"The auditor found: {rest}."]
    else:
        said = [f"{where} was looked at.", f"The auditor found: {violation.text}."]
    if count > 1:
        said.append(f"The same was found {count:,} times in this log.")
    said += [CHECKS[violation.rule].broken, f"What to do now: {NEXT[violation.rule]}"]
    if violation.event:
        said.append(f"The whole history: proxid explain {violation.log}/{violation.event} --config auditor.toml")
    return said
