"""The audit's report as one self-contained page, for a data-protection officer (DESIGN 10.4).

No script, no image, nothing loaded: headings, tables with captions and header cells, words instead of colours, so that
a screen reader reads it and it prints. How it looks is in `page.html.j2`, its words in `wording`.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from auditor.config import AuditorConfig
from auditor.findings import (
    CHECKS,
    COMMITS,
    GATEWAY,
    GROUPS,
    HEADS,
    MAIN_SERVICE,
    PARTLY,
    RECEIPTS,
    Report,
    Verdict,
    Violation,
)
from auditor.report.articles import articles
from auditor.report.believed import believed
from auditor.report.blocks import (
    Cell,
    Link,
    Section,
    Terms,
    code,
    counted,
    items,
    moment,
    paragraph,
    section,
    table,
    worded,
)
from auditor.report.changes import numbered, since_last
from auditor.report.coverage import covered, outside, settings
from auditor.report.results import (
    access,
    consents,
    deliveries,
    demanded,
    fates,
    groups,
    least_people,
    numbers,
    rights,
    sizes,
    withheld,
)
from auditor.report.series import Issue, Since
from auditor.report.story import TOLD, anchor, grouped, stories
from auditor.report.wording import CHECKS as WORDS
from auditor.report.wording import (
    COSIGNED,
    EVENTS,
    GLOSSARY,
    KINDS,
    LOGS,
    NOT_COSIGNED,
    RULES_NOT_APPLIED,
    UNCHECKED,
    UNSEEN,
)

_PAGES: Final = Environment(
    loader=PackageLoader("auditor.report", "."), autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True
)
_VERDICTS: Final = {
    Verdict.CLEAN: "Clean: nothing that was checked contradicts what the services claim.",
    Verdict.VIOLATION: "Violated: at least one check failed; every failure is listed under “Violations”.",
    Verdict.UNCHECKED: "Not checked: the evidence could not be read.",
}
_IN_PART: Final = (
    "Not checked in full: nothing that was checked contradicts what the services claim, but not all could be."
)


def render(
    report: Report, config: AuditorConfig, now: float, issue: Issue | None = None, new: Since | None = None
) -> str:
    """The page; `config` is what the audit went by, `now` when it ended, in Unix seconds.

    Args:
        issue: which report of its series it is; None if it belongs to none. new: since the one before.
    """
    done = not report.unchecked
    parts = _parts(report, config, now) if done else [settings(report, config)]
    if issue is not None:
        parts.insert(min(1, len(parts) - 1), since_last(issue, new))
    said = "" if issue is None else numbered(issue, config.name)
    title = f"Audit report: {config.service} and its gateway"
    verdict = _IN_PART if done and report.verdict is Verdict.UNCHECKED else _VERDICTS[report.verdict]
    reason = "" if done else f"Reason: {report.unchecked}. Tried on {moment(now)}."
    return _PAGES.get_template("page.html.j2").render(
        title=title, verdict=verdict, result=report.verdict.value, reason=reason, numbered=said, parts=parts
    )


def index_page(config: AuditorConfig, rows: list[dict[str, Any]]) -> str:
    """The page that lists all reports of a series, newest first."""
    listed = [
        (row["number"], moment(row["made"]), row["verdict"], row["violations"], row["unchecked"], code(row["hash"]))
        for row in rows
    ]
    columns = ("Number", "Made", "Verdict", "Violations", "Not checked", "Hash")
    parts = [section("reports", "Reports", table(f"Reports of {config.name}", columns, listed))]
    verdict = f"{counted(len(rows), 'report')}; each lies in the folder of its number."
    return plain_page(f"Audits of {config.service} and its gateway", verdict, "index", parts)


def plain_page(title: str, said: str, result: str, parts: Sequence[Section]) -> str:
    """A page that looks like a report and is none.

    Args:
        said: one sentence at its head. result: a word for the window's title.
    """
    return _PAGES.get_template("page.html.j2").render(
        title=title, verdict=said, result=result, reason="", numbered="", parts=parts
    )


def _parts(report: Report, config: AuditorConfig, now: float) -> list[Section]:
    told = [stories(report)] if report.violations else []
    return [
        _short(report, config), covered(report, config, now), outside(report), _checks(report), believed(report),
        _violations(report), *told, articles(report), _remarks(report), fates(report), groups(report, config),
        deliveries(report), consents(report, config), rights(report), _unchecked(report), settings(report, config),
        _events(report), _glossary(),
    ]  # fmt: skip


def _short(report: Report, config: AuditorConfig) -> Section:
    counts, scope, (k, margin) = report.counts, report.scope, demanded(report, config)
    broken = sorted({v.rule for v in report.violations})
    named = ", ".join(f"{rule} ({WORDS[rule].title.lower()})" for rule in broken)
    logs = " and ".join(
        f"{counted(log.size, 'entry', 'entries')} of the {LOGS[name]}'s log" for name, log in sorted(scope.logs.items())
    )
    lines = [
        f"Read: {logs or 'nothing'}, on {counted(scope.people, 'person', 'people')} who can be named.",
        f"Violations: {len(report.violations) + _unlisted(report):,}"
        + (f", found by {'check' if len(broken) == 1 else 'checks'} {named}." if broken else "."),
        *(f"Not checked: {reason}" for reason in _reasons(report)),
        f"Of {counted(counts['requests'] - access(report), 'request')}, {counts['released']:,} were published in "
        f"{counted(counts['groups'], 'group')}, {sum(withheld(report).values()):,} were withheld, and "
        f"{counts['waiting']:,} still wait for a group.",
        *(
            f"Smallest published group of {KINDS.get(kind, kind)}: {min(by_size)} people; "
            f"{least_people(kind, report, config)} demanded (k = {k}, margin {margin})."
            for kind, by_size in sizes(report).items()
        ),
        f"Third parties confirmed {counted(counts['deliveries'], 'delivery', 'deliveries')} of a group; "
        f"{counts['dropped']:,} were dropped, {counts['pending']:,} are still to be made.",
        f"Taken at a service's word: {counted(sum(report.believed.values()), 'claim')}, listed under “Believed”.",
        f"Outside proof: {'a witness was demanded' if scope.witnessed else 'no witness was demanded'}; "
        f"{counted(report.checked[RECEIPTS], 'receipt')} of devices and third parties compared.",
        "All times are UTC. Terms in parentheses are the technical ones; the glossary at the end explains them.",
    ]  # fmt: skip
    return section("short", "In short", items(lines))


def _checks(report: Report) -> Section:
    numbered = ("Checks made this time", "In earlier audits") if report.scope.continued else ("Checks made",)
    columns = ("Check", "What it proves when it passes", *numbered, "Violations", "Result")
    rows: list[tuple[Cell, ...]] = []
    for rule in CHECKS:
        made = (report.checked[rule], report.checked_before[rule])[: len(numbered)]
        rows.append((_named(rule), proves(report, rule), *made, broken(report, rule), result(report, rule)))
    again = paragraph(
        "A number of checks counts single comparisons, not people or requests. The sets of check 7 and the keys of "
        "check 8 are gone through as a whole each time."
    )  # fmt: skip
    return section("checks", "What was checked", table("The nine checks", columns, rows), again)


def broken(report: Report, rule: int) -> int:
    """Violations of a check, with those that are only counted."""
    return sum(1 for v in report.violations if v.rule == rule) + _unlisted(report, rule)


def result(report: Report, rule: int) -> str:
    """What came of a check, in words."""
    if broken(report, rule):
        return "failed"
    if not report.checked[rule] + report.checked_before[rule]:
        return "nothing to check"
    if any(rule == missing.rule for missing in report.missing):
        return "not checked in full"
    return "passed in part" if rule in report.partly or (rule == COMMITS and not report.scope.pipeline) else "passed"


def proves(report: Report, rule: int) -> str:
    """What a check proves, as this audit made it."""
    text = WORDS[rule].proves
    if rule == HEADS:
        return f"{text} {COSIGNED if report.scope.witnessed else NOT_COSIGNED}"
    if rule == COMMITS:
        text = text if report.scope.pipeline else RULES_NOT_APPLIED
        return f"{text}{_but(report, 'pipeline.unknown', 'request')}"
    if rule == GROUPS:
        return f"{text}{_but(report, 'groups.partly_erased', 'group')}{_but(report, PARTLY, 'portion')}"
    return text


def _but(report: Report, key: str, noun: str) -> str:
    left = report.counts[key]
    return f" But for {counted(left, noun)}: see “What could not be checked”." if left else ""


def _violations(report: Report) -> Section:
    if not report.violations:
        return section("violations", "Violations", paragraph("None."))
    rules = sorted({v.rule for v in report.violations})
    meanings = items(f"Check {rule}, {WORDS[rule].title.lower()}: {WORDS[rule].broken}" for rule in rules)
    text = paragraph(
        "What is wrong is said in the auditor program's own words. The number of an entry is its place in the log, "
        "where it can be shown to anybody."
    )
    kinds = Counter((v.rule, v.log, v.text) for v in report.violations)
    summary = [(_named(rule), LOGS.get(log, log), _wrong(what), n) for (rule, log, what), n in sorted(kinds.items())]
    told = {key: at for at, key in enumerate(grouped(report)) if at < TOLD}
    rows = [
        (_named(v.rule), LOGS.get(v.log, v.log), v.event or "the log as a whole", _wrong(v.text), _told(told, v))
        for v in report.violations
    ]
    unlisted = _unlisted(report)
    return section(
        "violations", "Violations", meanings, text,
        table("Violations, by what is wrong", ("Check", "Log", "What is wrong", "Number"), summary),
        table("Every violation", ("Check", "Log", "Entry (leaf)", "What is wrong", "Story"), rows),
        paragraph(f"{unlisted:,} further violations of the same checks are not listed.") if unlisted else None,
    )  # fmt: skip


def _told(told: dict[tuple[int, str, str], int], violation: Violation) -> Cell:
    at = told.get((violation.rule, violation.log, violation.text))
    return "none" if at is None else Link("what happened, what to do", anchor(at))


def _named(rule: int) -> str:
    return f"{rule}. {WORDS[rule].title}"


def _wrong(text: str) -> Cell:
    kind, colon, rest = text.partition(": ")
    return worded(EVENTS[kind], kind, f": {rest}") if colon and kind in EVENTS else text


def _unlisted(report: Report, rule: int | None = None) -> int:
    found = numbers(report, "unlisted.")
    return sum(count for name, count in found if rule is None or name.endswith(f".{rule}"))


def _remarks(report: Report) -> Section:
    body = items(report.remarks) if report.remarks else paragraph("Nothing was left out.")
    return section("remarks", "What this audit did not ask for", body)


def _reasons(report: Report) -> list[str]:
    return [
        f"check {r.rule} ({WORDS[r.rule].title.lower()}), {LOGS.get(r.log, r.log)}'s log: {r.text}."
        for r in report.missing
    ]  # fmt: skip


def _unchecked(report: Report) -> Section:
    rows = [(text, report.counts[key]) for key, text in UNCHECKED.items()]
    again = paragraph(
        "An erasure takes away what groups of the same period could be checked by again. What an earlier audit had "
        "checked before, and this one went on from, stays checked."
    )
    missing = items(_reasons(report)) if report.missing else None
    return section(
        "unchecked", "What could not be checked", missing, table("Counted, not guessed", ("What", "Number"), rows),
        again if GROUPS in report.partly else None,
        paragraph("No audit of logs can see:"), items(UNSEEN),
    )  # fmt: skip


def _events(report: Report) -> Section:
    order = {kind: at for at, kind in enumerate(EVENTS)}
    rows = [
        (worded(EVENTS.get(kind, kind), kind), LOGS[log], count)
        for log in (GATEWAY, MAIN_SERVICE)
        for kind, count in sorted(numbers(report, f"{log}."), key=lambda item: order.get(item[0], len(order)))
    ]
    return section("entries", "Entries of the logs", table("Entries by type", ("Entry", "Log", "Number"), rows))


def _glossary() -> Section:
    return section("glossary", "Glossary", Terms(tuple(GLOSSARY.items())))
