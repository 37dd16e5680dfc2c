"""`proxid audit`: read both services' evidence and say whether they did what they claim (DESIGN 10.4)."""

import dataclasses
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from auditor.commands.tables import show
from auditor.conduct import AuditCommand, run_audit, series_of, sources
from auditor.config import AuditorConfig
from auditor.findings import GATEWAY, MAIN_SERVICE, Report, Verdict
from auditor.reading.export import export
from auditor.report.page import render
from auditor.report.series import verify as verify_report
from proxid.errors import EvidenceUnreadableError, InputError, NoteInvalidError, OutputError
from proxid.evidence.note import Verifier
from proxid.runtime.config.loading import load
from proxid.runtime.provision.keyfile import load_opening_key, load_signing_key
from proxid.runtime.provision.public import PublicFile

_PATH = click.Path(path_type=Path)


@click.command(epilog="Example: proxid audit --config trial/auditor/auditor.toml --html report.html")
@click.option("--config", "path", type=_PATH, help="The auditor's TOML.")
@click.option("--from", "folder", type=_PATH, help="Audit an exported folder instead of the services.")
@click.option("--export", "target", type=_PATH, help="Write both logs into a folder, and do not audit.")
@click.option("--receipts", multiple=True, type=_PATH, help="Receipts of devices or parties: a file, or a folder.")
@click.option(
    "--compare", "--known", "known", multiple=True, type=_PATH,
    help="Signed heads that another auditor, a witness or anybody was shown: one, or a folder of them.",
)  # fmt: skip
@click.option("--fresh", is_flag=True, help="Check everything from the beginning, not what is new.")
@click.option("--no-state", is_flag=True, help="Go on from no earlier audit, and leave nothing for a later one.")
@click.option("--no-pipeline", is_flag=True, help="Do not classify disclosed utterances again (part of check 4).")
@click.option(
    "--workers", type=click.IntRange(0, 64),
    help="Further processes that check signatures; the report is the same. Unless given, one for a log of some length, "
    "where there is a second processor.",
)  # fmt: skip
@click.option("--html", "page", type=_PATH, help="Also write a report to read and to print.")
@click.option("--out", type=_PATH, help="Add the report, numbered and signed, to the series in this folder.")
@click.option("--verify", type=_PATH, help="Check a signed report and those before it, and do not audit.")
@click.option("--by", type=_PATH, help="With --verify: the public.toml of the auditor, instead of --config.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
def command(
    path: Path | None, folder: Path | None, target: Path | None, receipts: tuple[Path, ...], known: tuple[Path, ...],
    fresh: bool, no_state: bool, no_pipeline: bool, workers: int | None, page: Path | None, out: Path | None,
    verify: Path | None, by: Path | None, as_json: bool,
) -> int:  # fmt: skip
    """Audit both services from their evidence, and from what outsiders hold of it (--receipts, --compare, a witness).

    Exit status: 0 clean, 1 violation, 2 could not check.

    An audit goes on from the last one's state in data_dir; what was found before stays found. With --verify: 0 if the
    report is what the auditor signed, 1 if not.
    """
    if verify is not None:
        return _verify(verify, _author(path, by), as_json)
    if path is None:
        raise InputError("option --config is missing")
    config = load(AuditorConfig, path)
    if target is not None:
        _export(config, target)
        click.echo(json.dumps({"exported": str(target)}) if as_json else f"both logs are in {target}: audit --from it")
        return 0
    options = AuditCommand(config, folder, receipts, known, fresh, not no_state, not no_pipeline, workers, _progress)
    try:
        report = run_audit(options)
    except EvidenceUnreadableError as error:
        report = Report(unchecked=error.rule, unchecked_code=error.code.value)
    now = time.time()
    if page is not None:
        _write(page, render(report, config, now))
    if out is not None:
        series_of(config, out).add(report, now)
    if as_json:
        click.echo(json.dumps(report.as_dict()))
    else:
        show(report)
    return {Verdict.CLEAN: 0, Verdict.VIOLATION: 1, Verdict.UNCHECKED: 2}[report.verdict]


def _author(path: Path | None, by: Path | None) -> Verifier:
    """Name and key that a report must be signed with; raises ConfigError, InputError."""
    if by is not None:
        public = PublicFile.read(by)
        if public.role != AuditorConfig.role or public.sign is None:
            raise InputError(f"{by}: is not the public.toml of an auditor")
        return Verifier(public.name, public.sign)
    if path is None:
        raise InputError("give --by or --config: whose report it must be")
    config = load(AuditorConfig, path)
    return Verifier(config.name, load_signing_key(config.signing_key).public)


def _verify(path: Path, author: Verifier, as_json: bool) -> int:
    try:
        found = verify_report(path, author)
    except NoteInvalidError as error:
        click.echo(json.dumps({"holds": False, "why": error.rule}) if as_json else f"does not hold: {error.rule}")
        return 1
    said = dataclasses.asdict(found)
    words = f"report {found.number} holds: {found.verdict}, hash {found.hash}, with {found.chained} before it"
    click.echo(json.dumps({"holds": True, **said}) if as_json else words)
    return 0


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError:
        raise OutputError(f"{path}: cannot be written") from None


class _At:
    """Moves the bar of whichever log is read."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._tasks = {log: progress.add_task(log, total=None) for log in (GATEWAY, MAIN_SERVICE)}

    def __call__(self, log: str, number: int, last: int) -> None:
        if number % 100 == 0 or number == last:
            self._progress.update(self._tasks[log], completed=number, total=last)


@contextmanager
def _progress() -> Iterator[_At]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield _At(progress)


def _export(config: AuditorConfig, target: Path) -> None:
    with sources(AuditCommand(config)) as (gateway, service, keys), _progress() as at:
        try:
            export(target, gateway, service, keys, load_opening_key(config.opening_key), at)
        except OSError:
            raise OutputError(f"{target}: the export cannot be written") from None
