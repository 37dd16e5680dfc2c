"""`proxid device ask` and `proxid device consent` (DESIGN 5.1, 7)."""

import datetime
import json
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import click

from device_sim.commands.common import CONFIG, JSON, load_households, open_households
from proxid.clients.household.gateway import SentBefore
from proxid.clients.household.household import Answer, Household, Standing
from proxid.errors import InputError
from proxid.protocol.consent import Grant
from proxid.protocol.naming import Naming
from proxid.protocol.policy import PolicyDocument
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
@click.argument("bundle", required=False)
@JSON
def consent(path: Path, user: str, bundle: str | None, as_json: bool) -> None:
    """Choose a bundle of consent for the current epoch; `nothing` withdraws everything.

    Without BUNDLE say what is in effect, and what each bundle allows whom. Everybody is at `nothing` again when the
    epoch ends.

    Returns when both services have acknowledged: from then on nothing of the user is delivered that the bundle does
    not allow. What a party that is not allowed anything any more had been sent before is said.
    """
    found, policy, sent = run_async(_consent(path, user, bundle))
    bundles, naming = policy.bundles, Naming.of(policy.settings)
    allowed = {grant.party for grant in bundles.get(found.bundle, ())}
    lost = [row for row in sent if row.party not in allowed and (row.records or row.contents)]
    until = datetime.datetime.fromtimestamp(found.until, datetime.UTC)
    done = {"user": user, "bundle": found.bundle, "version": found.version, "policy": found.policy.hex()}
    if as_json:
        offered = {} if bundle is not None else {"offered": {name: _allowed(bundles[name], naming) for name in bundles}}
        before = {"sent": [row._asdict() for row in lost]} if lost else {}
        click.echo(json.dumps({**done, "until": until.isoformat(), **offered, **before}))
        return
    click.echo(
        f"{found.bundle} is in effect until {until:%a %d %b %Y %H:%M} UTC "
        f"(version {found.version} of this epoch, policy {found.policy.hex()[:16]})"
    )
    for row in lost:
        click.echo(row.in_words())
    if bundle is None:
        click.echo("offered:")
        for name, grants in bundles.items():
            click.echo(f"  {name}: {_in_words(grants, naming)}")
        click.echo(_FORMS[_form(policy)])


_AS: Final = {
    (True, "user_id"): "the person", (True, "alias"): "an alias of the epoch",
    (False, "user_id"): "the person", (False, "alias"): "an alias", (False, "day"): "an alias of the day",
}  # fmt: skip
"""In words, by whether all kinds come under one name."""


_FORMS: Final = {
    "split": "general: which subject a person asked about, and in which part of the day; what was asked comes apart "
    "from it, in no one's name, and only where enough people asked the like",
    "pairs": "general: a person's name beside what somebody of a group asked, never beside their own words; whoever "
    "knows their habits may guess whose they are",
}
"""What a party gets of general queries, in one sentence, by form."""


def _form(policy: PolicyDocument) -> str:
    """Of a document's releases; one from before there were forms means pairs."""
    rules = policy.settings.get("anonymiser")
    return "split" if isinstance(rules, Mapping) and rules.get("form") == "split" else "pairs"


def _in_words(grants: Iterable[Grant], naming: Naming) -> str:
    """`acme: command and general and location as the person; globex: …`"""
    said = []
    for grant in grants:
        named: dict[str, list[str]] = {}
        for row in _allowed([grant], naming):
            named.setdefault(_AS[naming.one, row["as"]], []).append(row["type"])
        said.append(f"{grant.party}: " + ", ".join(f"{' and '.join(kinds)} as {how}" for how, kinds in named.items()))
    return "; ".join(said) or "nothing to nobody"


def _allowed(grants: Iterable[Grant], naming: Naming) -> list[dict[str, str]]:
    """What grants come to."""
    rows = [(grant.party, kind, naming.fidelity(kind, grant.fidelity)) for grant in grants for kind in grant.types]
    return [{"party": party, "type": kind, "as": said} for party, kind, said in rows]


async def _consent(
    path: Path, user: str, bundle: str | None
) -> tuple[Standing, PolicyDocument, tuple[SentBefore, ...]]:
    async with open_households(load_households([path])) as speakers:
        household = _household(speakers, user)
        if bundle is not None:
            await household.consent(user, bundle)
        sent = household.sent_before(user)
        return await household.standing(user), await household.offered(user), sent


def _household(speakers: Mapping[str, Household], user: str) -> Household:
    found = speakers.get(user)
    if found is None:
        raise InputError("nobody of that name is enrolled in this household")
    if found.is_erased(user):
        raise InputError("the user was erased at both services")
    return found
