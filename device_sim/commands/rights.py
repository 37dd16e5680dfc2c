"""`proxid device rights`: a user's access, erasure and objection, and how they stand (DESIGN 11)."""

import json
import os
from pathlib import Path
from typing import Any

import click

from device_sim.commands.common import CONFIG, JSON, at_home
from proxid.clients.household.home import Home
from proxid.clients.household.told import moment
from proxid.errors import InputError, OutputError, ProxidError, told
from proxid.jsontext import load_json
from proxid.protocol.rights import Right
from proxid.runtime.process.ended import run_async
from proxid.runtime.whole import write_whole

_USER = click.option("-u", "--user", required=True, help="USER_ID of the person whose right it is.")


@click.group("rights", epilog="Example: proxid device rights access --config device.toml -u ann -o ann.json")
def rights() -> None:
    """Exercise a user's rights; each is signed with the user's key and leaves a receipt in data_dir.

    Consent and withdrawal are `proxid device consent`.
    """


@rights.command("access", epilog="Example: proxid device rights access --config device.toml -u ann -o ann.json")
@CONFIG
@_USER
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write the document here.")
@JSON
def access(path: Path, user: str, output: Path | None, as_json: bool) -> None:
    """Everything both services hold of the user, as a JSON document to take along."""
    text = json.dumps(_exercise(path, user, Right.ACCESS), ensure_ascii=False, indent=None if as_json else 2)
    if output is None:
        click.echo(text)
        return
    _write_own(output, (text + "\n").encode())
    click.echo(json.dumps({"written": str(output)}) if as_json else f"written to {output}")


def _write_own(path: Path, data: bytes) -> None:
    """Write a file that its owner alone may read; raises OutputError."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            os.fchmod(descriptor, 0o600)
            write_whole(descriptor, data)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise OutputError(f"{path.name}: the file cannot be written: {error.strerror}") from None


@rights.command("erase", epilog="Example: proxid device rights erase --config device.toml -u ann --yes")
@CONFIG
@_USER
@click.option("--yes", is_flag=True, help="Do not ask.")
@JSON
def erase(path: Path, user: str, yes: bool, as_json: bool) -> None:
    """Erase the user at both services, for ever: feeds not yet delivered, links, keys of the evidence.

    Says first which third parties hold records: they are told, and `rights status` shows what they answer. Accepted at
    once; returns when nothing is left in either store or its files. The user cannot enrol under this name again.
    """
    try:
        holders = _holders(_exercise(path, user, Right.STATUS))
    except InputError:  # there is nobody of that name here
        raise
    except ProxidError as error:
        holders = f"which third parties hold records could not be asked: {told(error)}"
    if not as_json:
        click.echo(holders, err=True)
    if not yes:
        _confirm(user)
    _done(_exercise(path, user, Right.ERASE), as_json)


@rights.command("status", epilog="Example: proxid device rights status --config device.toml -u ann")
@CONFIG
@_USER
@JSON
def status(path: Path, user: str, as_json: bool) -> None:
    """Who holds records of the user, how an erasure or objection stands, and what third parties answered to notices."""
    found = _exercise(path, user, Right.STATUS)
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False))
        return
    click.echo(f"erasure: {found['erasure']}")
    if "objects" in found:  # an agent of before does not say it
        since = found["objects_since"]
        click.echo(f"objection: {'none' if since is None else f'since {moment(since)}' if since else 'in effect'}")
    click.echo(_holders(found))
    for notice in found["notices"]:
        at = notice["acknowledged"]
        said = "has not acknowledged it yet" if at is None else f"acknowledged it {moment(at)}"
        click.echo(f"{notice['party']}: told {moment(notice['made'])} ({notice['kind']}); {said}")


def _holders(found: dict[str, Any]) -> str:
    recipients = found["recipients"]
    if not recipients:
        return "no third party is known to hold a record"
    total = sum(r["records"] for r in recipients)
    parties = sorted({r["party"] for r in recipients})
    who = "1 third party holds" if len(parties) == 1 else f"{len(parties)} third parties hold"
    return f"{who} {total} acknowledged records: {', '.join(parties)}; each will be told"


@rights.command("object", epilog="Example: proxid device rights object --config device.toml -u ann")
@CONFIG
@_USER
@click.option("--resume", is_flag=True, help="Take an objection back.")
@JSON
def object_(path: Path, user: str, resume: bool, as_json: bool) -> None:
    """Object to any passing on: nothing goes out from then on, whatever was granted, and third parties are told.

    Consent of the running epoch is withdrawn too, and none is taken until --resume.
    """
    _done(_exercise(path, user, Right.RESUME if resume else Right.OBJECT), as_json)


def _confirm(user: str) -> None:
    try:
        sure = click.confirm(f"Erase {user} for ever?", err=True)
    except click.Abort:
        # Ctrl-C, or nobody there to ask.
        click.echo(err=True)
        sure = False
    if not sure:
        raise InputError("nothing was erased: it has to be confirmed at the prompt, or with --yes")


def _exercise(path: Path, user: str, right: Right) -> dict[str, Any]:
    async def exercise(home: Home) -> str:
        return await home.right(user, right)

    done: dict[str, Any] = load_json(run_async(at_home(path, exercise)))
    return done


def _done(said: dict[str, Any], as_json: bool) -> None:
    click.echo(json.dumps(said) if as_json else f"{said['right']}: carried out, receipt kept")
