"""`proxid doctor`: what is wrong with a party here, and what to do about it; `--ready` is a probe for machines."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console
from rich.table import Column, Table

from auditor.config import AuditorConfig, WitnessConfig
from gateway.config import GatewayConfig
from main_service.config import MainServiceConfig
from proxid.clients.household.config import DeviceConfig
from proxid.clients.subscriber.config import PartyConfig
from proxid.errors import ConfigError, ProxidError
from proxid.runtime.config.base import PartyBase, ServiceConfig
from proxid.runtime.config.loading import load, read_toml
from proxid.runtime.config.trust import Role
from proxid.runtime.doctor import (
    Finding,
    State,
    of_disk,
    of_files,
    of_numbers,
    of_policies,
    of_service,
    of_store,
    of_witness,
)
from proxid.runtime.provision.keyfile import load_opening_key, load_signing_key
from proxid.runtime.transport.reach import Reach

_KINDS: Final[tuple[Any, ...]] = (
    GatewayConfig, MainServiceConfig, AuditorConfig, WitnessConfig, PartyConfig, DeviceConfig,
)  # fmt: skip
_CALLED: Final[dict[str, Role]] = {"gateway": "gateway", "main_service": "main-service", "auditor": "auditor"}
"""Keys of a configuration that say where a service is called, and its role."""
_PRIVATE: Final[dict[str, Callable[[Path], object]]] = {
    "signing_key": load_signing_key, "opening_key": load_opening_key,
}  # fmt: skip
"""Keys of a configuration that name a private key's file, and how it is read."""
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
    config = load_party(path)
    found = asyncio.run(_look(config))
    if ready:
        found = [item for item in found if item.ready]
    wrong = any(item.state is State.WRONG for item in found)
    if as_json:
        rows = [_row(item) for item in found]
        click.echo(json.dumps({"role": config.role, "well": not wrong, "findings": rows}))
    elif not ready or wrong:
        _show([item for item in found if item.state is State.WRONG] if ready else found)
    return int(wrong)


def load_party(path: Path) -> Any:
    """The configuration of whichever party the file is for; raises ConfigError."""
    role = read_toml(path).get("role")
    kind = next((kind for kind in _KINDS if kind.role == role), None)
    if kind is None:
        raise ConfigError(f"{path}: role is none that can be looked at")
    return load(kind, path)


async def _look(config: PartyBase) -> list[Finding]:
    found = [*of_files(config), of_disk(config.data_dir), *_keys(config)]
    own = isinstance(config, ServiceConfig)
    if isinstance(config, ServiceConfig):
        found.append(await of_service("port", config.listen, config.tls, config.role, ready=True))
        found += [*await of_store(config, _PREFIXES[config.role]), *of_numbers(config.metrics_listen)]
        found += [*of_policies(config), of_witness(config)]
    for name, role in _CALLED.items():
        address = getattr(config, name, None)
        if isinstance(address, str):
            found.append(await _called(config, name, role, address, ready=not own))
    return found


async def _called(config: PartyBase, name: str, role: Role, address: str, ready: bool) -> Finding:
    try:
        accepted = config.trust.certificates(role)
    except ConfigError as error:
        return Finding(role, State.WRONG, error.rule, f"import the public.toml of the {role}", ready, Reach.FOREIGN)
    return await of_service(role, address, config.tls, getattr(config, f"{name}_name"), accepted, ready)


def _row(item: Finding) -> dict[str, str | None]:
    outcome = None if item.outcome is None else item.outcome.value
    return {"name": item.name, "state": item.state.value, "text": item.text, "next": item.next, "outcome": outcome}


def _keys(config: PartyBase) -> list[Finding]:
    return [
        _key(called.replace("_", " "), load_one, getattr(config, called))
        for called, load_one in _PRIVATE.items()
        if getattr(config, called, None) is not None
    ]


def _key(called: str, load_one: Callable[[Path], object], path: Path) -> Finding:
    try:
        load_one(path)
    except ProxidError as error:
        return Finding(called, State.WRONG, error.rule, "put it back from the copy", ready=True)
    return Finding(called, State.GOOD, "can be read, by its owner alone", ready=True)


def _show(found: list[Finding]) -> None:
    table = Table("what", "is", Column("found", overflow="fold"), Column("next step", overflow="fold"))
    for item in found:
        table.add_row(item.name, item.state.value, item.text, item.next)
    Console().print(table)
