"""The audit's report as tables on a terminal, in plain words; the raw keys are in `--json`."""

from collections.abc import Iterable
from typing import Final

from rich.console import Console
from rich.table import Table

from auditor.findings import CHECKS, Report
from auditor.report.page import broken, result
from auditor.report.wording import ACCESS, BELIEVED, DROPPED, KINDS, LOGS, RIGHTS, TOTALS, UNCHECKED, WITHHELD
from auditor.report.wording import CHECKS as WORDS

_LISTED: Final = 50

Rows = Iterable[tuple[str, int]]


def show(report: Report, console: Console | None = None) -> None:
    """Print checks, counts, violations, remarks, and last the verdict; of evidence that was not read, why."""
    console = console or Console()
    if report.unchecked:
        _verdict(console, report)
        return
    console.print(_checks(report))
    for title, rows in _tables(report):
        _print(console, title, [(text, count) for text, count in rows if count])
    for log in report.scope.logs.values():
        console.print(f"{log.origin}: {log.size:,} entries, root hash {log.root}", markup=False, soft_wrap=True)
    for policy in report.scope.policies:
        text = f"epochs {policy.first}-{policy.last}: policy {policy.policy[:16]}, {policy.standing}"
        console.print(text if policy.k is None else f"{text}, k {policy.k}, margin {policy.margin}", markup=False)
    _violations(console, report)
    for remark in report.remarks:
        console.print(f"note: {remark}", markup=False)
    _verdict(console, report)


def _verdict(console: Console, report: Report) -> None:
    for reason in report.reasons:
        where = f"check {reason.rule} ({WORDS[reason.rule].title}), {LOGS[reason.log]}'s log: " if reason.rule else ""
        console.print(f"not checked: {where}{reason.text}", markup=False, soft_wrap=True)
    console.print(f"verdict: {report.verdict.value}", markup=False)


def _checks(report: Report) -> Table:
    # The whole of both logs is counted below; only these columns are of one audit.
    table = Table("check", "this time", "earlier", "violations", "result", title="Audit")
    for rule in CHECKS:
        counts = (report.checked[rule], report.checked_before[rule], broken(report, rule))
        table.add_row(f"{rule} {WORDS[rule].title}", *(f"{count:,}" for count in counts), result(report, rule))
    return table


def _tables(report: Report) -> list[tuple[str, Rows]]:
    counts = report.counts
    reasons = {name: text for name, text in WITHHELD.items() if name != ACCESS}
    return [
        ("what happened (whole logs)", [(text, counts[key]) for key, text in TOTALS.items()]),
        ("believed", [(BELIEVED.get(row, row), n) for row, n in report.believed.items()]),
        ("why requests were withheld", _named(report, "withheld.", reasons)),
        ("why groups were not delivered", _named(report, "dropped.", DROPPED)),
        ("groups by size", _sizes(report)),
        ("rights of people", [(text, counts[f"rights.{key}"]) for key, text in RIGHTS.items()]),
        ("choices of consent", _consents(report)),
        ("what could not be checked", [(text, counts[key]) for key, text in UNCHECKED.items()]),
    ]


def _named(report: Report, prefix: str, meanings: dict[str, str]) -> Rows:
    for name, count in sorted(report.counts.items()):
        key = name.removeprefix(prefix)
        if name.startswith(prefix) and name != f"withheld.{ACCESS}":
            yield meanings.get(key, key), count


def _sizes(report: Report) -> Rows:
    for name, count in _named(report, "group.size.", {}):
        kind, _, size = name.partition(".")
        yield f"{KINDS.get(kind, kind)}: {int(size)} people", count


def _consents(report: Report) -> Rows:
    for name, count in _named(report, "consent.", {}):
        epoch, _, bundle = name.partition(".")
        yield f"period (epoch) {epoch}: {bundle}", count


def _print(console: Console, title: str, rows: list[tuple[str, int]]) -> None:
    if not rows:
        return
    table = Table(title, "number")
    for text, count in rows:
        table.add_row(text, f"{count:,}")
    console.print(table)


def _violations(console: Console, report: Report) -> None:
    for violation in report.violations[:_LISTED]:
        where = f"{LOGS.get(violation.log, violation.log)}'s log, entry {violation.event}"
        console.print(
            f"check {violation.rule} ({WORDS[violation.rule].title}), {where}: {violation.text}", markup=False
        )  # fmt: skip
    unlisted = sum(count for name, count in report.counts.items() if name.startswith("unlisted."))
    if (more := max(0, len(report.violations) - _LISTED) + unlisted) > 0:
        console.print(f"and {more:,} more violations; --json and --html list up to 1,000 of each check and log")
