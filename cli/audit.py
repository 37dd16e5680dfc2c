"""`proxid audit`: read both services' evidence and say whether they did what they claim."""

import json
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from auditor.audit import Audit, AuditOptions
from auditor.report import CHECKS, Report, Verdict
from auditor.setup import logs_of, trust_of
from proxid.config.loading import load
from proxid.config.services import AuditorConfig


@click.command(epilog="Example: proxid audit --config house/auditor/auditor.toml")
@click.option("--config", "config_file", type=click.Path(path_type=Path), required=True, help="The auditor's TOML.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
def command(config_file: Path, as_json: bool) -> int:
    """Audit both services from their evidence. Exit status: 0 clean, 1 violation, 2 could not check."""
    report = run_audit(load(AuditorConfig, config_file))
    if as_json:
        click.echo(json.dumps(report.as_dict()))
    else:
        show(report)
    return 0 if report.verdict is Verdict.CLEAN else 1


def run_audit(config: AuditorConfig) -> Report:
    """One audit over gRPC, with progress on stderr."""
    gateway, service = logs_of(config)
    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    try:
        with Progress(*columns, console=console, transient=True) as progress:
            task = progress.add_task("reading evidence")

            def at(log: str, number: int, last: int) -> None:
                if number % 200 == 0:
                    progress.update(task, description=f"{log}: event {number:,} of {last:,}")

            return Audit(trust_of(config), gateway, AuditOptions(progress=at)).run(gateway, service)
    finally:
        gateway.close()
        service.close()


def show(report: Report) -> None:
    """The report as tables."""
    console = Console()
    checks = Table("check", "what", "checked", "violations", title="Audit")
    for rule, what in CHECKS.items():
        broken = sum(1 for v in report.violations if v.rule == rule)
        checks.add_row(str(rule), what, f"{report.checked[rule]:,}", str(broken))
    console.print(checks)
    counts = Table("what happened", "number")
    for name, count in sorted(report.counts.items()):
        counts.add_row(name, f"{count:,}")
    console.print(counts)
    for violation in report.violations[:50]:
        console.print(
            f"check {violation.rule}, {violation.log}, event {violation.event}: {violation.text}", markup=False
        )
    console.print(f"verdict: {report.verdict.value}")
