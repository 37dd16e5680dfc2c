"""`proxid device ask`: one question, or a conversation (DESIGN 5.1)."""

import asyncio
import io
import json
import sys
import unicodedata
from pathlib import Path
from typing import Final

import click

from device_sim.commands.common import CONFIG, JSON, at_home
from device_sim.commands.consent import offers
from proxid.clients.agent.asking import said_of
from proxid.clients.household.home import Home
from proxid.clients.household.household import Answer
from proxid.clients.household.told import standing_of
from proxid.clients.household.words import words_in
from proxid.errors import InputError, ProxidError
from proxid.runtime.process.ended import run_async

HELP: Final = "Ask what you like. /consent says who is told what, /consent CHOICE changes it, /bye ends."


@click.command("ask", epilog='Example: proxid device ask --config device.toml -u ann "what time is it"')
@CONFIG
@click.option("-u", "--user", required=True, help="The recognised speaker's USER_ID.")
@click.option("--location", default="", help='Place as "lat,lon".')
@click.argument("text", required=False)
@JSON
def ask(path: Path, user: str, location: str, text: str | None, as_json: bool) -> None:
    """Ask one question and print the verified answer; without TEXT, a conversation: a line is a question."""

    async def once(home: Home) -> Answer:
        return await home.ask(user, unicodedata.normalize("NFC", text or ""), location)

    if text is None:
        if as_json:
            raise InputError("--json is for one question: give its text")
        run_async(at_home(path, lambda home: _converse(home, user, location)))
        return
    answer = run_async(at_home(path, once))
    if as_json:
        done = {"answer": answer.text, "session": answer.session.hex(), "retries": answer.retries}
        click.echo(json.dumps(done))
    else:
        click.echo(answer.text)


async def _converse(home: Home, user: str, location: str) -> None:
    """Until /bye or the end of the input; a prompt only for people."""
    shown = sys.stdin.isatty()
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="surrogateescape")  # a line that is no text is told so, as any that is refused
    await home.consent(user)  # nobody of the household is told at once, and a lasting choice is given anew
    if shown:
        click.echo(HELP)
    while True:
        if shown:
            click.echo("> ", nl=False)
        line = unicodedata.normalize("NFC", await asyncio.to_thread(sys.stdin.readline))
        said = line.strip()
        if not line or said == "/bye":
            return
        if said:
            try:
                click.echo(await _said(home, user, location, said))
            except ProxidError as error:
                click.echo(said_of(error).text)


async def _said(home: Home, user: str, location: str, text: str) -> str:
    if not text.startswith("/"):
        return (await home.ask(user, text, location)).text
    word, _, choice = text.partition(" ")
    if word != "/consent":
        return HELP
    found = await home.consent(user)
    if choice and choice.strip() not in found.policy.bundles:
        return "\n".join([f"There is no such choice: {choice.strip()}.", *offers(found)])
    if choice:
        found = await home.consent(user, choice.strip())
    lasting = next(member.lasting for member in await home.members() if member.user == user)
    return "\n".join([*standing_of(found, lasting, words_in("en")), *([] if choice else offers(found))])
