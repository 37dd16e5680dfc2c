"""`proxid device rights`: a user's access, erasure and objection (DESIGN 11)."""

import asyncio
import json
from pathlib import Path
from typing import Any

import click

from cli.device_common import CONFIG, JSON
from device_sim.household import Household
from device_sim.rights import RightsClient
from proxid.config import DeviceConfig, load
from proxid.errors import InputError
from proxid.protocol.rights import Right

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
    text = json.dumps(asyncio.run(_access(path, user)), ensure_ascii=False, indent=None if as_json else 2)
    if output is None:
        click.echo(text)
        return
    output.write_text(text + "\n", encoding="utf-8")
    output.chmod(0o600)
    click.echo(json.dumps({"written": str(output)}) if as_json else f"written to {output}")


@rights.command("erase", epilog="Example: proxid device rights erase --config device.toml -u ann --yes")
@CONFIG
@_USER
@click.option("--yes", is_flag=True, help="Do not ask.")
@JSON
def erase(path: Path, user: str, yes: bool, as_json: bool) -> None:
    """Erase the user at both services, for ever: feeds not yet delivered, links, keys of the evidence.

    Returns once nothing is left in either store or its files. The user cannot enrol under this name again.
    """
    if not yes:
        _confirm(user)
    _done(asyncio.run(_exercise(path, user, Right.ERASE)), as_json)


@rights.command("object", epilog="Example: proxid device rights object --config device.toml -u ann")
@CONFIG
@_USER
@click.option("--resume", is_flag=True, help="Take an objection back.")
@JSON
def object_(path: Path, user: str, resume: bool, as_json: bool) -> None:
    """Object to any passing on: consent of the running epoch is withdrawn, and none is taken from then on."""
    _done(asyncio.run(_exercise(path, user, Right.RESUME if resume else Right.OBJECT)), as_json)


def _confirm(user: str) -> None:
    try:
        sure = click.confirm(f"Erase {user} for ever?", err=True)
    except click.Abort:
        # Ctrl-C, or nobody there to ask.
        click.echo(err=True)
        sure = False
    if not sure:
        raise InputError("nothing was erased: it has to be confirmed at the prompt, or with --yes")


async def _access(path: Path, user: str) -> dict[str, Any]:
    config = load(DeviceConfig, path)
    household = Household.open(config)
    client = RightsClient(config, household)
    try:
        return await client.access(user)
    finally:
        await client.close()
        await household.close()


async def _exercise(path: Path, user: str, right: Right) -> dict[str, Any]:
    config = load(DeviceConfig, path)
    household = Household.open(config)
    client = RightsClient(config, household)
    try:
        receipt, _ = await client.exercise(right, user)
        if right is Right.OBJECT:
            await household.consent(user, "nothing")
    finally:
        await client.close()
        await household.close()
    return {"user": user, "right": right.value, "request": receipt.request.hex(), "time_ms": receipt.time_ms}


def _done(said: dict[str, Any], as_json: bool) -> None:
    click.echo(json.dumps(said) if as_json else f"{said['right']}: carried out, receipt kept")
