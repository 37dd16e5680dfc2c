"""The report's part on what each check rests on, and on what was taken at a service's word (DESIGN 10.4)."""

from auditor.findings import CHECKS, Report
from auditor.report.blocks import Cell, Section, code, paragraph, section, table
from auditor.report.wording import BASES, BELIEVED
from auditor.report.wording import CHECKS as WORDS


def believed(report: Report) -> Section:
    """Of each check what was recomputed, countersigned, believed, unreadable; and all that was believed."""
    rests: list[tuple[Cell, ...]] = [
        (f"{rule} {WORDS[rule].title}", *(report.resting(rule)[basis] for basis in BASES)) for rule in CHECKS
    ]
    caption, columns = "What services were taken at their word for", ("Claim", "Key", "Number")
    claims = [(BELIEVED.get(row, "No words for this claim."), code(row), n) for row, n in report.believed.items()]
    text = paragraph(
        "Everything that a service claims is computed again by the auditor, or was signed by two who do not trust each "
        "other, or is listed here. Whoever reads this report need believe the services nothing else."
    )
    return section(
        "believed", "Believed", text, table(caption, columns, claims),
        table("What each check rests on: comparisons, in all audits", ("Check", *BASES.values()), rests),
    )  # fmt: skip
