"""Makes one audit as it was asked for, whoever asks: the command or the auditor's service (DESIGN 10.4)."""

import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final

from auditor.audit import Audit, AuditOptions, Progress
from auditor.checks.c9_receipts import read_receipts, verify_receipts
from auditor.config import AuditorConfig
from auditor.findings import GATEWAY, MAIN_SERVICE, Report
from auditor.reading.export import FolderKeys, FolderLog
from auditor.reading.source import EvidenceSource, KeySource
from auditor.report.page import index_page, render
from auditor.report.series import Series, newest
from auditor.setup import logs_of, opening_of, trust_of
from auditor.state import AuditState
from auditor.trust import Trust
from proxid.errors import InputError, NoteInvalidError, OutputError
from proxid.evidence.checkpoint import generation_of, open_checkpoint, origin
from proxid.evidence.note import Verifier
from proxid.regular import regular_bytes
from proxid.runtime.provision.keyfile import load_signing_key
from proxid.runtime.provision.policies import PolicyFolder

_ROOMLESS: Final = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}
"""What SQLite says of a disk that takes nothing more."""


def _silent() -> AbstractContextManager[Progress]:
    return nullcontext(AuditOptions().progress)


@dataclass(frozen=True, slots=True)
class AuditCommand:
    """See the options of the command.

    Attributes:
        workers: see `AuditOptions`. progress: opens what is told of every event, for as long as the audit runs.
    """

    config: AuditorConfig
    folder: Path | None = None
    receipts: Sequence[Path] = ()
    known: Sequence[Path] = ()
    fresh: bool = False
    keep: bool = True
    pipeline: bool = True
    workers: int | None = None
    progress: Callable[[], AbstractContextManager[Progress]] = _silent


def run_audit(options: AuditCommand) -> Report:
    """One audit; raises EvidenceUnreadableError, InputError for receipts or heads that are none, OutputError."""
    config = options.config
    held = verify_receipts(options.receipts)
    trust = trust_of(config, options.pipeline and config.pipeline_again)
    if options.keep:  # what the configuration says now stays accepted when it says something else
        PolicyFolder(config.data_dir).accept(config)
    state = _state(options)
    presented = chain.from_iterable(read_receipts(path, held) for path in options.receipts)
    known = [head for path in options.known for head in _heads(path, trust)]
    with sources(options) as (gateway, service, keys), options.progress() as at, _closed(state), _written(state):
        asked = AuditOptions(known=known, receipts=presented, progress=at, workers=options.workers)
        return Audit(trust, keys, asked, state=state).run(gateway, service)


def series_of(config: AuditorConfig, folder: Path) -> Series:
    """The auditor's reports in a folder."""
    key = load_signing_key(config.signing_key)
    return Series(
        folder, config.name, key, lambda report, issue, new: render(report, config, issue.made, issue, new),
        lambda rows: index_page(config, rows),
    )  # fmt: skip


@contextmanager
def _closed(state: AuditState | None) -> Iterator[None]:
    """An audit that could not be made lets others at its state, too."""
    try:
        yield
    finally:
        if state is not None:
            state.close()


@contextmanager
def _written(state: AuditState | None) -> Iterator[None]:
    """Within the block what SQLite cannot write is an OutputError that says where."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in _ROOMLESS:
            raise
        where = Path(tempfile.gettempdir()) if state is None else state.working
        raise OutputError(f"{where}: what the audit has read cannot be written").at(str(where)) from None


def _state(options: AuditCommand) -> AuditState | None:
    if not options.keep:
        return None
    folder = options.config.data_dir / "audit"
    if options.folder is not None:
        # An exported folder is another history until it is shown to be the same: it has a state of its own.
        folder = options.config.data_dir / "audit-of-export"
    state = AuditState(folder, opening_of(options.config))
    if options.fresh:
        state.reset()
    return state


def _heads(path: Path, trust: Trust) -> list[bytes]:
    """Heads that somebody else was shown: one, or all `*.head` of a folder, of a series of reports its newest one's."""
    if not path.is_dir():
        return [_head(path, trust)]
    found = sorted((newest(path) or path).glob("*.head"))
    if not found:
        raise InputError(f"{path}: holds no heads")
    return [_head(file, trust) for file in found]


def _head(path: Path, trust: Trust) -> bytes:
    """One head. What no log has signed shows nothing, whoever brings it."""
    try:
        data = regular_bytes(path)
    except OSError:
        raise InputError(f"{path}: cannot be read") from None
    named = data.partition(b"\n")[0].decode("utf-8", "replace")
    for name, key in ((GATEWAY, trust.screener), (MAIN_SERVICE, trust.service_key)):
        with suppress(NoteInvalidError):
            if generation_of(named, origin(trust.service, name)):
                open_checkpoint(data, Verifier(named, key))
                return data
    raise InputError(f"{path}: is no head that one of the two logs has signed")


@contextmanager
def sources(options: AuditCommand) -> Iterator[tuple[EvidenceSource, EvidenceSource, KeySource]]:
    """The gateway's log, MS's, and the evidence keys: over gRPC, or of an exported folder."""
    if options.folder is not None:
        keys = FolderKeys(options.folder, opening_of(options.config))
        yield FolderLog(options.folder / GATEWAY), FolderLog(options.folder / MAIN_SERVICE), keys
        return
    gateway, service = logs_of(options.config)
    try:
        yield gateway, service, gateway
    finally:
        gateway.close()
        service.close()
