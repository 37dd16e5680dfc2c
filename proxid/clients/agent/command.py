"""`proxid agent`: a household's daemon (DESIGN 5.6)."""

from pathlib import Path

import click

from proxid.clients.agent.page.codes import Codes
from proxid.clients.agent.people import Tokens
from proxid.clients.agent.server import serve
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.remote_home import agent_home
from proxid.clients.household.state import HouseholdState
from proxid.errors import ConfigError, HouseholdBusyError
from proxid.runtime.config import load
from proxid.runtime.observability.logging import configure_logging
from proxid.runtime.process.ended import run_async

_CONFIG = click.option(
    "--config", "path", required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The household's device.toml.",
)  # fmt: skip
_USER = click.option("-u", "--user", required=True, help="The person's USER_ID.")


@click.group("agent", epilog="Example: proxid agent run --config device.toml")
def command() -> None:
    """Let assistants in the house ask through proxid.

    The agent holds the household's keys. Assistants come through doors: OpenAI-compatible (a token is one person) and
    Wyoming (a door is one person). See docs/assistants.md.
    """


@command.command("run", epilog="Example: proxid agent run --config device.toml")
@_CONFIG
def run(path: Path) -> None:
    """Run until it is told to stop; prints where its doors are."""
    config = load(DeviceConfig, path)
    configure_logging("agent", config.log_level)
    run_async(serve(config, click.echo))


@command.command("page", epilog="Example: proxid agent page --config device.toml -u ann")
@_CONFIG
@_USER
def page(path: Path, user: str) -> None:
    """Let a person onto their page: shows a code that is good once, for ten minutes."""
    config = load(DeviceConfig, path)
    if config.agent.page is None:
        raise ConfigError("agent.page: no address is configured")
    run_async(_verify_running(config))
    code = Codes(config.data_dir, HouseholdState(config.data_dir).names()).make(user)
    click.echo(f"http://localhost:{config.agent.page.rpartition(':')[2]}/\n{code}")


async def _verify_running(config: DeviceConfig) -> None:
    """Raises ConfigError unless the agent runs: else the page's port may be somebody else's, who takes the code."""
    try:
        async with agent_home(config) as home:
            await home.members()
    except HouseholdBusyError:
        rule = "agent: it does not run; start it first, a code is for its page alone"
        raise ConfigError(rule).at("", "proxid agent run, with the same --config") from None


@command.command("token", epilog="Example: proxid agent token --config device.toml -u ann")
@_CONFIG
@_USER
@click.option("--revoke", is_flag=True, help="Take back all of the person's tokens instead.")
def token(path: Path, user: str, revoke: bool) -> None:
    """Make a token for a person, to be given to an assistant as its API key. It is shown once."""
    config = load(DeviceConfig, path)
    tokens = Tokens(config.data_dir, HouseholdState(config.data_dir).names())
    click.echo(f"{tokens.revoke(user)} taken back" if revoke else tokens.make(user))
