"""`proxid audit`: read both services' evidence and say whether they did what they claim (DESIGN 10.4)."""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from auditor.audit import Audit, AuditOptions
from auditor.checks.c9_receipts import read_receipts, verify_receipts
from auditor.commands.tables import show
from auditor.config import AuditorConfig
from auditor.findings import GATEWAY, MAIN_SERVICE, Report, Verdict
from auditor.reading.export import FolderKeys, FolderLog, export
from auditor.reading.source import EvidenceSource, KeySource
from auditor.report.page import render
from auditor.setup import logs_of, trust_of
from auditor.state import AuditState
from auditor.trust import Trust
from proxid.errors import EvidenceUnreadableError, InputError, NoteInvalidError, OutputError
from proxid.evidence.checkpoint import generation_of, open_checkpoint, origin
from proxid.evidence.note import Verifier
from proxid.runtime.config.loading import load
from proxid.runtime.provision.keyfile import load_opening_key
from proxid.runtime.provision.policies import PolicyFolder

_PATH = click.Path(path_type=Path)


@dataclass(frozen=True, slots=True)
class AuditCommand:
    """See the options of the command."""

    config: AuditorConfig
    folder: Path | None = None
    receipts: Sequence[Path] = ()
    known: Sequence[Path] = ()
    fresh: bool = False
    keep: bool = True
    pipeline: bool = True
    workers: int = 0


@click.command(epilog="Example: proxid audit --config trial/auditor/auditor.toml --html report.html")
@click.option("--config", "path", type=_PATH, required=True, help="The auditor's TOML.")
@click.option("--from", "folder", type=_PATH, help="Audit an exported folder instead of the services.")
@click.option("--export", "target", type=_PATH, help="Write both logs into a folder, and do not audit.")
@click.option("--receipts", multiple=True, type=_PATH, help="Receipts of devices or parties: a file, or a folder.")
@click.option("--known", multiple=True, type=_PATH, help="A signed head that somebody else was shown.")
@click.option("--fresh", is_flag=True, help="Check everything from the beginning, not what is new.")
@click.option("--no-state", is_flag=True, help="Go on from no earlier audit, and leave nothing for a later one.")
@click.option("--no-pipeline", is_flag=True, help="Do not classify disclosed utterances again (part of check 4).")
@click.option(
    "--workers", type=click.IntRange(0, 64), default=0, show_default=True,
    help="Further processes that check signatures; the report is the same.",
)  # fmt: skip
@click.option("--html", "page", type=_PATH, help="Also write a report to read and to print.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as one JSON object.")
def command(
    path: Path, folder: Path | None, target: Path | None, receipts: tuple[Path, ...], known: tuple[Path, ...],
    fresh: bool, no_state: bool, no_pipeline: bool, workers: int, page: Path | None, as_json: bool,
) -> int:  # fmt: skip
    """Audit both services from their evidence, and from what outsiders hold of it (--receipts, --known, a witness).

    Exit status: 0 clean, 1 violation, 2 could not check.

    An audit goes on from the last one's state in data_dir; what was found before stays found.
    """
    config = load(AuditorConfig, path)
    if target is not None:
        _export(config, target)
        return 0
    options = AuditCommand(config, folder, receipts, known, fresh, not no_state, not no_pipeline, workers)
    try:
        report = run_audit(options)
    except EvidenceUnreadableError as error:
        report = Report(unchecked=error.rule, unchecked_code=error.code.value)
    if page is not None:
        _write(page, render(report, config, time.time()))
    if as_json:
        click.echo(json.dumps(report.as_dict()))
    else:
        show(report)
    return {Verdict.CLEAN: 0, Verdict.VIOLATION: 1, Verdict.UNCHECKED: 2}[report.verdict]


def run_audit(options: AuditCommand) -> Report:
    """One audit, with progress on stderr; raises EvidenceUnreadableError."""
    config = options.config
    verify_receipts(options.receipts)
    trust = trust_of(config, options.pipeline)
    if options.keep:  # what the configuration says now stays accepted when it says something else
        PolicyFolder(config.data_dir).accept(config)
    state = _state(options)
    presented = chain.from_iterable(read_receipts(path) for path in options.receipts)
    known = [_known(path, trust) for path in options.known]
    with sources(options) as (gateway, service, keys), _progress() as at:
        asked = AuditOptions(known=known, receipts=presented, progress=at, workers=options.workers)
        return Audit(trust, keys, asked, state=state).run(gateway, service)


def _state(options: AuditCommand) -> AuditState | None:
    if not options.keep:
        return None
    folder = options.config.data_dir / "audit"
    if options.folder is not None:
        # An exported folder is another history until it is shown to be the same: it has a state of its own.
        folder = options.config.data_dir / "audit-of-export"
    state = AuditState(folder, load_opening_key(options.config.opening_key))
    if options.fresh:
        state.reset()
    return state


def _known(path: Path, trust: Trust) -> bytes:
    """A head that somebody else was shown. One that no log signed shows nothing, whoever brings it."""
    try:
        data = path.read_bytes()
    except OSError:
        raise InputError(f"{path}: cannot be read") from None
    named = data.partition(b"\n")[0].decode("utf-8", "replace")
    for name, key in ((GATEWAY, trust.screener), (MAIN_SERVICE, trust.service_key)):
        with suppress(NoteInvalidError):
            if generation_of(named, origin(trust.service, name)):
                open_checkpoint(data, Verifier(named, key))
                return data
    raise InputError(f"{path}: is no head that one of the two logs has signed")


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError:
        raise OutputError(f"{path}: cannot be written") from None


@contextmanager
def sources(options: AuditCommand) -> Iterator[tuple[EvidenceSource, EvidenceSource, KeySource]]:
    """The gateway's log, MS's, and the evidence keys: over gRPC, or of an exported folder."""
    if options.folder is not None:
        keys = FolderKeys(options.folder, load_opening_key(options.config.opening_key))
        yield FolderLog(options.folder / GATEWAY), FolderLog(options.folder / MAIN_SERVICE), keys
        return
    gateway, service = logs_of(options.config)
    try:
        yield gateway, service, gateway
    finally:
        gateway.close()
        service.close()


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
