"""`proxid policy`: the documents that the services go by and an audit recomputes from (DESIGN 7, 10.4)."""

import datetime
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from auditor.config import AuditorConfig
from gateway.config import GatewayConfig
from main_service.config import MainServiceConfig
from proxid.errors import ConfigError, EncodingError, InputError, ProxidError
from proxid.protocol.epochs import Epochs
from proxid.protocol.policy import PolicyDocument, differences
from proxid.regular import regular_text
from proxid.runtime.config.base import GovernedConfig, require_parties
from proxid.runtime.config.loading import load
from proxid.runtime.config.terms import Grid, below, document_of, grid_digest, grid_of, terms_of
from proxid.runtime.provision.policies import PolicyFolder

_ROLES: Final[tuple[type[GovernedConfig], ...]] = (GatewayConfig, MainServiceConfig, AuditorConfig)
_FILE: Final = click.Path(exists=True, dir_okay=False, path_type=Path)
_CONFIG: Final = click.option(
    "--config", "path", required=True, type=_FILE, help="TOML of the gateway, the main service or the auditor."
)
_JSON: Final = click.option("--json", "as_json", is_flag=True, help="Print an object.")
_SHORT: Final = 16
"""Digits of a digest that are printed; as many as make it unique may be given."""


@click.group("policy", epilog="Example: proxid policy show --config trial/gateway/gateway.toml")
def command() -> None:
    """Policies: third parties, bundles of consent, and the settings of both services.

    A policy is a document that is named by its digest. Each epoch goes by one that both services hold, and is audited
    by that one, if the auditor has accepted it.
    """


@dataclass(frozen=True, slots=True)
class _Holder:
    """Whose documents these are."""

    path: Path
    kind: type[GovernedConfig]
    config: GovernedConfig

    @classmethod
    def of(cls, path: Path) -> "_Holder":
        """The holder whose configuration this is; raises ConfigError of the role that the file is for."""
        errors: list[ProxidError] = []
        for kind in _ROLES:
            try:
                return cls(path, kind, load(kind, path))
            except ConfigError as error:
                errors.append(error)
        wrong = ConfigError(f"{path.name}: is no TOML of a gateway, main service or auditor")
        raise next((e for e in errors if "role" not in e.rule), wrong)

    @property
    def folder(self) -> PolicyFolder:
        """The documents."""
        return PolicyFolder(self.config.data_dir)

    @property
    def epochs(self) -> Epochs:
        """As this holder counts them."""
        return Epochs(self.config.epoch_seconds)

    @property
    def epoch(self) -> int:
        """The current one."""
        return self.epochs.number(time.time())

    def read(self, file: Path) -> tuple[PolicyDocument, Grid | None]:
        """The document of a file, which holds its text or is a policy.toml, and its grid of people.

        Raises:
            ConfigError, InputError: it is neither.
        """
        if file.suffix != ".json":
            config = load(self.kind, self.path, policy=file)
            return document_of(config), grid_of(config)
        try:
            document = PolicyDocument.decode(regular_text(file, "ascii").rstrip("\r\n"))
        except (OSError, ValueError, EncodingError):
            raise InputError(f"{file.name}: is no policy document").at(str(file)) from None
        anonymiser = document.settings.get("anonymiser")
        named = anonymiser.get("population") if isinstance(anonymiser, dict) else None
        return document, None if named is None else self._grid(named, file)

    def _grid(self, digest: str, file: Path) -> Grid | None:
        own = grid_of(self.config)
        if own is not None and grid_digest(own) == digest:
            return own
        return PolicyFolder.grid_at(file.parent, digest)

    def find(self, name: str) -> PolicyDocument:
        """A document by the first digits of its digest, or of a file; raises InputError, ConfigError."""
        # No name is too long for it, as for Path.is_file.
        return self.read(Path(name))[0] if os.path.isfile(name) else self.folder.find(name)


@command.command("show", epilog="Example: proxid policy show --config trial/auditor/auditor.toml 3fa9 > policy.json")
@_CONFIG
@click.argument("digest", required=False)
@_JSON
def show(path: Path, digest: str | None, as_json: bool) -> None:
    """List the documents that are held, and from which epoch each counts; with DIGEST print the text of one.

    The text is what `accept` takes. Its first digits are enough of a digest.
    """
    holder = _Holder.of(path)
    if digest is not None:
        click.echo(holder.folder.find(digest).text)
        return
    rows = _rows(holder)
    if as_json:
        click.echo(json.dumps({"epoch": holder.epoch, "policies": rows}))
        return
    for row in rows:
        since = "" if row["from"] is None else f"from epoch {row['from']} ({row['begins']})"
        click.echo(f"{row['policy'][:_SHORT]}  {row['state']:<9} {since}".rstrip())


def _rows(holder: _Holder) -> list[dict[str, Any]]:
    folder, epoch = holder.folder, holder.epoch
    if isinstance(holder.config, AuditorConfig):
        digests = {*folder.digests(), document_of(holder.config).digest}
        return [_row(digest, "accepted", None, holder) for digest in sorted(digests)]
    in_force, rows = folder.counting(epoch)[:1], []
    activations = list(dict.fromkeys(reversed(folder.activations())))[::-1]  # the same one twice is one
    for at, (first, digest) in enumerate(activations):
        overruled = any(later == first for later, _ in activations[at + 1 :])
        state = "coming" if first > epoch else "in force" if [digest] == in_force else "older"
        rows.append(_row(digest, "overruled" if overruled else state, first, holder))
    return rows


def _row(digest: bytes, state: str, first: int | None, holder: _Holder) -> dict[str, Any]:
    begins = None if first is None else _moment(holder.epochs.start(first))
    return {"policy": digest.hex(), "state": state, "from": first, "begins": begins}


def _moment(seconds: int) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")


@command.command("diff", epilog="Example: proxid policy diff --config trial/gateway/gateway.toml 3fa9 new-policy.toml")
@_CONFIG
@click.argument("old")
@click.argument("new")
@_JSON
def diff(path: Path, old: str, new: str, as_json: bool) -> int:
    """Say what two documents say differently. OLD and NEW are files, or first digits of digests.

    Exit status 1 if they differ.
    """
    holder = _Holder.of(path)
    rows = differences(holder.find(old), holder.find(new))
    if as_json:
        click.echo(json.dumps({"differences": [{"name": n, "old": a, "new": b} for n, a, b in rows]}))
    else:
        for name, before, after in rows:
            click.echo(f"{name}: {_said(before)} -> {_said(after)}")
    return 1 if rows else 0


def _said(value: object) -> str:
    return "-" if value is None else json.dumps(value)


@command.command(
    "activate",
    epilog="Example: proxid policy activate new.toml --from 20800 --config trial/gateway/gateway.toml",
)
@click.argument("file", type=_FILE)
@click.option("--from", "first", type=click.IntRange(0), help="First epoch that goes by it (the next one).")
@_CONFIG
@_JSON
def activate(file: Path, first: int | None, path: Path, as_json: bool) -> None:
    """From an epoch on let this service go by the policy of FILE, without a restart.

    The epoch is opened under it once both services hold it: activate it at both, from the same epoch. Until then the
    older one stays. Of two documents for one epoch the one activated later counts.
    """
    holder = _Holder.of(path)
    if isinstance(holder.config, AuditorConfig):
        raise InputError("an auditor accepts policies, services activate them")
    first = holder.epoch + 1 if first is None else first
    if first <= holder.epoch:
        raise InputError(f"--from must be an epoch to come: the current one is {holder.epoch}")
    document, grid = holder.read(file)
    try:
        require_parties(holder.config.trust, document.parties)
    except ValueError as error:
        raise InputError(str(error)) from None
    terms_of(document, _grids(grid, holder.folder))
    if not holder.folder.activations():  # never started: what its files say now is what counts until then
        holder.folder.adopt(holder.config, holder.epoch)
    holder.folder.verify_epochs(document)
    holder.folder.add(document, grid)
    since = holder.folder.activate(document.digest, first)
    begins = _moment(holder.epochs.start(since))
    if as_json:
        click.echo(json.dumps({"policy": document.digest.hex(), "from": since, "begins": begins}))
    else:
        short, how = document.digest.hex()[:_SHORT], "counts" if since == first else "counts already"
        click.echo(f"{short} {how} from epoch {since} ({begins}) once both services hold it")


@command.command("accept", epilog="Example: proxid policy accept policy.json --config trial/auditor/auditor.toml")
@click.argument("file", required=False, type=_FILE)
@_CONFIG
@_JSON
def accept(file: Path | None, path: Path, as_json: bool) -> int:
    """Let audits judge epochs by the policy of FILE, or of the auditor's own configuration.

    FILE is a policy.toml, or a text that `show` printed (*.json). Exit status 1, and nothing is accepted, if it is
    below a floor of the auditor's configuration: such an epoch is a violation.
    """
    holder = _Holder.of(path)
    if not isinstance(holder.config, AuditorConfig):
        raise InputError("services activate policies, an auditor accepts them")
    document, grid = (document_of(holder.config), grid_of(holder.config)) if file is None else holder.read(file)
    fallen = below(terms_of(document, _grids(grid, holder.folder)), holder.config.floors)
    if document.settings["epoch_seconds"] != holder.config.epoch_seconds:
        fallen.append("epoch_seconds")
    if not fallen:
        holder.folder.add(document, grid)
    done = {"policy": document.digest.hex(), "accepted": not fallen, "below": fallen}
    if as_json:
        click.echo(json.dumps(done))
    elif fallen:
        click.echo(f"{document.digest.hex()[:_SHORT]} is below the floors: {', '.join(fallen)}; not accepted", err=True)
    else:
        click.echo(f"{document.digest.hex()[:_SHORT]} is accepted")
    return 1 if fallen else 0


def _grids(grid: Grid | None, folder: PolicyFolder) -> Callable[[str], Grid | None]:
    return folder.grid if grid is None else lambda _: grid
