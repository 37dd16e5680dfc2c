"""`proxid device consent` and `status`: who is told what, until when, in sentences (DESIGN 7)."""

import datetime
import json
from pathlib import Path

import click

from device_sim.commands.common import CONFIG, JSON, at_home
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.home import Choice, Home, Member
from proxid.clients.household.state import HouseholdState
from proxid.clients.household.told import allowed, meaning_of, objection_of, sent_of, standing_of
from proxid.clients.household.words import words_in
from proxid.protocol.naming import Naming
from proxid.runtime.config import load
from proxid.runtime.process.ended import run_async


@click.command("consent", epilog="Example: proxid device consent --config device.toml -u ann searches")
@CONFIG
@click.option("-u", "--user", required=True, help="The person's USER_ID.")
@click.option("--until-withdrawn", is_flag=True, help="Give it anew each epoch, while it means no more than now.")
@click.argument("bundle", required=False)
@JSON
def consent(path: Path, user: str, bundle: str | None, until_withdrawn: bool, as_json: bool) -> None:
    """Choose a bundle of consent for the current epoch; `nothing` withdraws everything.

    Without BUNDLE say what is in effect, and what each choice means. Everybody is at `nothing` again when the epoch
    ends, unless they chose --until-withdrawn: then the agent, or the next command in the person's name, gives the same
    anew. If the bundle means more by then (another party, another kind, a name), it does not: choose again.

    Returns when both services have acknowledged: from then on nothing of the user is delivered that the bundle does
    not allow. What a party that is not allowed anything any more had been sent before is said.
    """

    async def choose(home: Home) -> tuple[Choice, str]:
        found = await home.consent(user, bundle or "", until_withdrawn)
        return found, next(member.lasting for member in await home.members() if member.user == user)

    found, lasting = run_async(at_home(path, choose))
    since = objection_at(path, user)
    bundles = found.policy.bundles
    granted = {grant.party for grant in bundles.get(found.bundle, ())}
    lost = [row for row in found.sent if row.party not in granted and (row.records or row.contents)]
    if as_json:
        naming, until = Naming.of(found.policy.settings), datetime.datetime.fromtimestamp(found.until, datetime.UTC)
        offered = {} if bundle else {"offered": {name: allowed(bundles[name], naming) for name in bundles}}
        before = {"sent": [row._asdict() for row in lost]} if lost else {}
        done = {
            "user": user, "bundle": found.bundle, "version": found.version, "policy": found.policy.digest.hex(),
            "until": until.isoformat(), "lasting": found.lasting, "pending": found.pending, "objects_since": since,
            **offered, **before,
        }  # fmt: skip
        click.echo(json.dumps(done))
        return
    said = [*objection_of(since, words_in("en"))]
    said += [f"It is taken back by: proxid device rights object -u {user} --resume"] if said else []
    said += [*standing_of(found, lasting, words_in("en")), *(sent_of(row, words_in("en")) for row in lost)]
    click.echo("\n".join(said if bundle else said + offers(found)))


def objection_at(path: Path, user: str) -> float | None:
    """Since when somebody of a configuration's household objects, as `UserState.objection`: kept in its folder."""
    member = HouseholdState(load(DeviceConfig, path).data_dir).users().get(user)
    return None if member is None else member.objection


def offers(found: Choice) -> list[str]:
    """The choices and what each means, a line each."""
    choices = [f"  {name}: {' '.join(meaning_of(found.policy, name, words_in('en')))}" for name in found.policy.bundles]
    return ["The choices:", *choices]


@click.command("status", epilog="Example: proxid device status --config device.toml")
@CONFIG
@JSON
def status(path: Path, as_json: bool) -> None:
    """Who is enrolled in this household, and what each chose until they withdraw it."""

    async def ask(home: Home) -> list[Member]:
        return await home.members()

    members = run_async(at_home(path, ask))
    if as_json:
        click.echo(json.dumps([{"user": m.user, "erased": m.erased, "lasting": m.lasting} for m in members]))
        return
    for member in members:
        kept = f"{member.lasting} until withdrawn" if member.lasting else "chooses anew each epoch"
        click.echo(f"{member.user}: {'erased' if member.erased else kept}")
