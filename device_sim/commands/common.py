"""What the device commands share: options, opening households, and finding who lives where."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TypeVar

import click

from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.home import Home, present_receipts
from proxid.clients.household.household import Household
from proxid.clients.household.remote_home import open_home
from proxid.errors import InputError, ProxidError, told
from proxid.runtime.config import load

T = TypeVar("T")
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
        await present_receipts(config)
    except ProxidError as error:
        click.echo(f"receipts were not presented: {told(error)}", err=True)


@asynccontextmanager
async def open_households(configs: Sequence[DeviceConfig]) -> AsyncIterator[Mapping[str, Household]]:
    """Household by USER_ID; the first one that enrolled a user counts.

    Raises:
        InputError: there is nobody. HouseholdBusyError: another process has a household's keys open.
    """
    async with AsyncExitStack() as stack:
        speakers: dict[str, Household] = {}
        for config in configs:
            household = Household.open(config)
            stack.push_async_callback(household.close)
            for user in household.users:
                speakers.setdefault(user, household)
        if not speakers:
            raise InputError("nobody is enrolled in these households yet: proxid device enrol")
        yield speakers
        for config in configs:
            await present_held(config)


async def at_home(path: Path, act: Callable[[Home], Awaitable[T]]) -> T:
    """Do something in the household of a configuration, with its agent if one runs, and present what was signed."""
    (config,) = load_households([path])
    async with open_home(config) as home:
        done = await act(home)
    await present_held(config)
    return done
