"""What the device commands share: options, opening households, and finding who lives where."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import click

from proxid.clients.auditing.presenting import present
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.household import Household
from proxid.errors import InputError, ProxidError
from proxid.runtime.config import load

CONFIG = click.option(
    "--config", "path", required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The household's device.toml.",
)  # fmt: skip
CONFIGS = click.option(
    "--config", "paths", required=True, multiple=True, type=click.Path(exists=True, path_type=Path),
    help="A household's device.toml, or a folder of households; may be repeated.",
)  # fmt: skip
JSON = click.option("--json", "as_json", is_flag=True, help="Print an object.")


def load_households(paths: Iterable[Path]) -> list[DeviceConfig]:
    """Configurations of files and of folders of households; raises ConfigError, InputError if there are none."""
    files: list[Path] = []
    for path in paths:
        files += sorted(path.glob("*/device.toml")) if path.is_dir() else [path]
    if not files:
        raise InputError("no household is configured there")
    return [load(DeviceConfig, file) for file in files]


async def present_held(config: DeviceConfig) -> None:
    """Present new receipts to the auditor, if there is one; one that is away gets them the next time."""
    try:
        await present(config, config.data_dir / "receipts.jsonl")
    except ProxidError as error:
        click.echo(f"receipts were not presented: {error.rule}", err=True)


@asynccontextmanager
async def open_households(configs: Sequence[DeviceConfig]) -> AsyncIterator[Mapping[str, Household]]:
    """Household by USER_ID; the first one that enrolled a user counts. Raises InputError if there is nobody."""
    households = [Household.open(config) for config in configs]
    try:
        speakers: dict[str, Household] = {}
        for household in households:
            for user in household.users:
                speakers.setdefault(user, household)
        if not speakers:
            raise InputError("nobody is enrolled in these households yet: proxid device enrol")
        yield speakers
        for config in configs:
            await present_held(config)
    finally:
        for household in households:
            await household.close()
