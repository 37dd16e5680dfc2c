"""`proxid device ask` and `proxid device consent` (DESIGN 5.1, 7)."""

import datetime
import json
import unicodedata
from collections.abc import Mapping
from pathlib import Path

import click

from device_sim.commands.common import CONFIG, JSON, load_households, open_households
from proxid.clients.household.household import Answer, Household, Standing
from proxid.errors import InputError
from proxid.runtime.process.ended import run_async

_USER = click.option("-u", "--user", required=True, help="The recognised speaker's USER_ID.")


@click.command("ask", epilog='Example: proxid device ask --config device.toml -u ann "what time is it"')
@CONFIG
@_USER
@click.option("--location", default="", help='Place as "lat,lon".')
@click.argument("text")
@JSON
def ask(path: Path, user: str, location: str, text: str, as_json: bool) -> None:
    """Ask one question and print the verified answer."""
    answer = run_async(_ask(path, user, unicodedata.normalize("NFC", text), location))
    if as_json:
        done = {"answer": answer.text, "session": answer.session.hex(), "retries": answer.retries}
        click.echo(json.dumps(done))
    else:
        click.echo(answer.text)


async def _ask(path: Path, user: str, text: str, location: str) -> Answer:
    async with open_households(load_households([path])) as speakers:
        return await _household(speakers, user).ask(user, text, location)


@click.command("consent", epilog="Example: proxid device consent --config device.toml -u ann searches")
@CONFIG
@_USER
@click.argument("bundle")
@JSON
def consent(path: Path, user: str, bundle: str, as_json: bool) -> None:
    """Choose a bundle of consent for the current epoch; `nothing` withdraws everything.

    Returns when both services have acknowledged: from then on nothing of the user is delivered that the bundle does
    not allow.
    """
    found = run_async(_consent(path, user, bundle))
    until = datetime.datetime.fromtimestamp(found.until, datetime.UTC)
    done = {"user": user, "bundle": bundle, "version": found.version, "policy": found.policy.hex()}
    if as_json:
        click.echo(json.dumps({**done, "until": until.isoformat()}))
    else:
        click.echo(
            f"{bundle} is in effect until {until:%a %d %b %Y %H:%M} UTC "
            f"(version {found.version} of this epoch, policy {found.policy.hex()[:16]})"
        )


async def _consent(path: Path, user: str, bundle: str) -> Standing:
    async with open_households(load_households([path])) as speakers:
        household = _household(speakers, user)
        await household.consent(user, bundle)
        return await household.standing(user)


def _household(speakers: Mapping[str, Household], user: str) -> Household:
    found = speakers.get(user)
    if found is None:
        raise InputError("nobody of that name is enrolled in this household")
    if found.is_erased(user):
        raise InputError("the user was erased at both services")
    return found
