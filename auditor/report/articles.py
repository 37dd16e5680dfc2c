"""The report by article of the General Data Protection Regulation: what an audit shows of each duty (DESIGN 11)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from auditor.findings import COMPLETENESS, CONSENT, ERASURE, GROUPS, HEADS, OPENING, RECEIPTS, SIGNATURES, Report
from auditor.report.blocks import Cell, Section, counted, paragraph, section, table
from auditor.report.wording import CHECKS


@dataclass(frozen=True, slots=True)
class Article:
    """A duty, the checks that bear on it, and what this audit counted."""

    article: str
    duty: str
    checks: tuple[int, ...]
    figure: Callable[[Report], str]


def _right(key: str, one: str, many: str) -> Callable[[Report], str]:
    return lambda report: counted(report.counts[f"rights.{key}"], one, many)


ARTICLES: Final = (
    Article("5(1)(c), 25", "No more than needed; protection by design", (GROUPS,),
            lambda r: f"{counted(r.counts['groups'], 'group')} published, each drawn again"),
    Article("5(2), 24", "Being able to show it", (HEADS, COMPLETENESS),
            lambda r: f"{sum(log.size for log in r.scope.logs.values()):,} entries under both services' signatures"),
    Article("4(5), 32", "Pseudonyms; security of processing", (OPENING, SIGNATURES),
            lambda r: f"{r.scope.people:,} people with a pseudonym"),
    Article("6(1)(a), 7", "Consent, and its proof", (CONSENT,), _right("consent", "choice", "choices")),
    Article("7(3)", "Withdrawal, as easy as consent", (CONSENT,), _right("withdrawal", "withdrawal", "withdrawals")),
    Article("12, 15, 20", "Access and portability", (ERASURE,), _right("access", "person asked", "people asked")),
    Article("17", "Erasure", (ERASURE,), _right("erase", "person erased", "people erased")),
    Article("19", "Telling those who got the data", (ERASURE,),
            lambda r: counted(r.counts["gateway.NOTICED"], "notice confirmed", "notices confirmed")),
    Article("21", "Objection", (ERASURE,), _right("object", "objection", "objections")),
    Article("33, 34", "Reporting a breach within 72 hours", (HEADS, GROUPS, CONSENT, RECEIPTS),
            lambda r: counted(len(r.violations), "violation") + " to weigh"),
)  # fmt: skip
"""Articles in the order of the report."""


def articles(report: Report) -> Section:
    """Which checks bear on which article, how they ended, and the figure."""
    rows: list[tuple[Cell, ...]] = [
        (f"Art. {one.article}", one.duty, _checks(one), one.figure(report), _result(report, one)) for one in ARTICLES
    ]
    text = paragraph(
        "The table says what the evidence shows of each duty. It is no legal opinion: whether a violation is a breach "
        "that has to be reported is for the controller to decide."
    )
    columns = ("Article", "Duty", "Checks", "This audit", "Result")
    return section("articles", "By article of the GDPR", text, table("Duties and checks", columns, rows))


def _checks(one: Article) -> str:
    return ", ".join(f"{rule} ({CHECKS[rule].title.lower()})" for rule in one.checks)


def _result(report: Report, one: Article) -> str:
    if any(v.rule in one.checks for v in report.violations):
        return "violated"
    if any(reason.rule in one.checks for reason in report.missing):
        return "not checked in full"
    made = sum(report.checked[rule] + report.checked_before[rule] for rule in one.checks)
    return "nothing against it was found" if made else "nothing to check"
