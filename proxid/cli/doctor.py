"""`proxid doctor`: what is wrong with a party here, and what to do about it; `--ready` is a probe for machines."""

import asyncio
import json
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console
from rich.table import Table

from auditor.config import AuditorConfig, WitnessConfig
from gateway.config import GatewayConfig
from main_service.config import MainServiceConfig
from proxid.clients.household.config import DeviceConfig
from proxid.clients.subscriber.config import PartyConfig
from proxid.errors import ConfigError, ProxidError
from proxid.runtime.config.base import PartyBase, ServiceConfig
from proxid.runtime.config.loading import load, read_toml
from proxid.runtime.doctor import Finding, State, of_disk, of_files, of_numbers, of_port, of_store, of_witness
from proxid.runtime.provision.keyfile import load_signing_key

_KINDS: Final[tuple[Any, ...]] = (
    GatewayConfig, MainServiceConfig, AuditorConfig, WitnessConfig, PartyConfig, DeviceConfig,
)  # fmt: skip
_PREFIXES: Final = {"gateway": "{gw}", "main-service": "{ms}"}


@click.command("doctor", epilog="Example: proxid doctor --config trial/gateway/gateway.toml")
@click.option(
    "--config", "path", required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The TOML of a gateway, main service, auditor, witness, third party or household.",
)  # fmt: skip
@click.option("--ready", is_flag=True, help="Look only at what serving needs, and print nothing if that is there.")
@click.option("--json", "as_json", is_flag=True, help="Print one object.")
def command(path: Path, ready: bool, as_json: bool) -> int:
    """Look at files, certificates, ports, store, disk, clock, policy and witness of one party, and change nothing.

    Exit status 0 if nothing is wrong, 1 if something is, 2 if it could not be looked at.
    """
    config = _load(path)
    found = asyncio.run(_look(config))
    if ready:
        found = [item for item in found if item.ready]
    wrong = any(item.state is State.WRONG for item in found)
    if as_json:
        rows = [{"name": i.name, "state": i.state.value, "text": i.text, "next": i.next} for i in found]
        click.echo(json.dumps({"role": config.role, "well": not wrong, "findings": rows}))
    elif not ready or wrong:
        _show([item for item in found if item.state is State.WRONG] if ready else found)
    return int(wrong)


def _load(path: Path) -> Any:
    """The configuration of whichever party the file is for; raises ConfigError."""
    role = read_toml(path).get("role")
    kind = next((kind for kind in _KINDS if kind.role == role), None)
    if kind is None:
        raise ConfigError(f"{path}: role is none that can be looked at")
    return load(kind, path)


async def _look(config: PartyBase) -> list[Finding]:
    found = [*of_files(config), of_disk(config.data_dir), *_keys(config)]
    if isinstance(config, ServiceConfig):
        found.append(of_port("port", config.listen, "proxid serve, and read what it says", ready=True))
        found += [*await of_store(config, _PREFIXES[config.role]), *of_numbers(config.metrics_listen)]
        found.append(of_witness(config))
    for name in ("gateway", "main_service"):
        address = getattr(config, name, None)
        if isinstance(address, str):
            what = "see that it runs, and that the way there is open"
            found.append(of_port(name.replace("_", "-"), address, what, ready=not isinstance(config, ServiceConfig)))
    return found


def _keys(config: PartyBase) -> list[Finding]:
    path = getattr(config, "signing_key", None)
    if path is None:
        return []
    try:
        load_signing_key(path)
    except ProxidError as error:
        return [Finding("signing key", State.WRONG, error.rule, "put it back from the copy", ready=True)]
    return [Finding("signing key", State.GOOD, "can be read, by its owner alone", ready=True)]


def _show(found: list[Finding]) -> None:
    table = Table("what", "is", "found", "next step")
    for item in found:
        table.add_row(item.name, item.state.value, item.text, item.next)
    Console().print(table)
