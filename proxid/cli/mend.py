"""`proxid mend`: what an operator does on purpose when files are damaged or lost, with the service stopped."""

import json
import re
from pathlib import Path
from typing import Any, Final

import click

from proxid.cli.serve import SERVICES
from proxid.errors import ConfigError, InputError, ProxidError
from proxid.runtime.config import ServiceConfig, load
from proxid.runtime.evidence_log import generations
from proxid.runtime.evidence_log.admitted import REASONS, Damage
from proxid.runtime.evidence_log.mending import admit, store_files
from proxid.runtime.evidence_log.setup import EvidenceOptions, folder_of
from proxid.runtime.provision.keyfile import load_signing_key

_CONFIG: Final = click.option(
    "--config", "path", required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The service's TOML.",
)  # fmt: skip


_JSON: Final = click.option("--json", "as_json", is_flag=True, help="Print an object.")


def _say(done: dict[str, Any], text: str, as_json: bool) -> None:
    click.echo(json.dumps(done) if as_json else text)


_NUMBER: Final = re.compile("[0-9]{1,18}")


@click.group("mend", epilog="Example: proxid mend store --config trial/gateway/gateway.toml")
def command() -> None:
    """Mend a stopped service's files. `proxid doctor` and the service's own errors say when, and with what."""


def _service(path: Path) -> ServiceConfig:
    """The configuration of either service; raises ConfigError of the one that the file is for."""
    errors = []
    for kind, _ in SERVICES.values():
        try:
            return load(kind, path)
        except ProxidError as error:
            errors.append(error)
    wrong = ConfigError(f"{path.name}: is no TOML of a gateway or main service")
    raise next((e for e in errors if "role" not in e.rule), wrong)


@command.command("damaged", epilog="Example: proxid mend damaged --config g/gateway.toml --leaves 122 --reason disk")
@_CONFIG
@click.option("--leaves", multiple=True, required=True, help="A number, or FIRST-LAST; as often as needed.")
@click.option("--reason", type=click.Choice(REASONS), required=True, help="What did it.")
@_JSON
def damaged(path: Path, leaves: tuple[str, ...], reason: str, as_json: bool) -> None:
    """Admit that entries of the service's log are damaged, when no copy of them is left.

    The service says so in its log with the next start, and goes on behind them. No audit is clean over them: they, and
    what may rest on them, stay unchecked. Entries that are whole cannot be admitted.
    """
    ranges = [Damage(*_range(text), reason) for text in leaves]
    admit(folder_of(_service(path)), ranges)
    done = {"admitted": [{"first": one.first, "last": one.last} for one in ranges], "reason": reason}
    _say(done, f"admitted: entries {', '.join(leaves)}; they stay unchecked in every audit", as_json)


def _range(text: str) -> tuple[int, int]:
    first, _, last = text.partition("-")
    if not _NUMBER.fullmatch(first) or (last and not _NUMBER.fullmatch(last)):
        raise InputError("--leaves is a number or FIRST-LAST")
    return int(first), int(last or first)


@command.command("store", epilog="Example: proxid mend store --config trial/gateway/gateway.toml")
@_CONFIG
@_JSON
def store(path: Path, as_json: bool) -> None:
    """Cut a torn or zero-padded end off the append-only file of the service's own store.

    What is cut off was never acknowledged if `appendfsync` is `always`; the service compares itself with its log, its
    peer and its witness when it starts, and refuses if more is missing than a store may lose.
    """
    done = store_files(_service(path))
    if as_json:
        click.echo(json.dumps({"files": [{"file": name, "cut": cut} for name, cut in done]}))
        return
    for name, cut in done:
        click.echo(f"{name}: {cut} bytes cut off" if cut else f"{name}: whole")


@command.command("successor", epilog="Example: proxid mend successor --config trial/gateway/gateway.toml")
@_CONFIG
@click.option(
    "--head", "heads", multiple=True, type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A signed head of the old log that the other service or a witness holds; the longest counts.",
)  # fmt: skip
@_JSON
def successor(path: Path, heads: tuple[Path, ...], as_json: bool) -> None:
    """Begin a new log, when the old one cannot be gone on with: it is of version 1, or lost, or its store is.

    The new log's first entry names the last signed head of the old one, which stays as it is, and is served to the
    auditor. Entries that others have seen and that this head does not cover count as hidden: give the longest head
    that anybody holds. docs/operations.md says what is lost, and who is told.
    """
    config = _service(path)
    role = next(name for name, (kind, _) in SERVICES.items() if isinstance(config, kind))
    options = EvidenceOptions(role, "", load_signing_key(config.signing_key))
    old = options.log_of(config, generations.newest(config.data_dir))
    folder, head = generations.begin_successor(config.data_dir, old, heads)
    done = {"folder": str(folder), "follows": head.origin, "entries": head.size}
    text = f"{folder}: follows {head.origin}, {head.size} entries; start the service, and tell the auditor"
    _say(done, text, as_json)
