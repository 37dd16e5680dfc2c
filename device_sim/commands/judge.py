"""`proxid device judge`: who answers for an answer that this household holds (DESIGN 4.1, 10.5)."""

import json
from pathlib import Path

import click

from device_sim.commands.common import CONFIG, JSON
from proxid.clients.auditing.client import Judged, open_auditor
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.history import Asked
from proxid.clients.household.receipts import Receipt, ReceiptBook, read_receipts
from proxid.clients.household.state import HouseholdState
from proxid.errors import InputError
from proxid.runtime.config import load
from proxid.runtime.process.ended import run_async

_LEAST = 8


@click.command("judge", epilog="Example: proxid device judge --config device.toml 3f9c20aa81d1")
@CONFIG
@click.argument("session")
@click.option(
    "--opening", is_flag=True, help="Open the question to the auditor, who then judges if it was rightly withheld."
)
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="Write that here, to be presented by hand."
)
@JSON
def judge(path: Path, session: str, opening: bool, out: Path | None, as_json: bool) -> int:
    """Have the auditor judge the message that answered SESSION: a request hash, or its first digits (8 at least).

    It says whether the main service (signer) or the gateway (sanitizer) answers for whom it names, which entry of the
    gateway's log shows it, and whether that names the right person. Exit status 1 if it does not.

    With --opening it gets what was asked, in plain words, with what shows that SESSION asked that: what was said of a
    request that was withheld enters no evidence otherwise. Only what an own history keeps can be opened.
    """
    config = load(DeviceConfig, path)
    if opening:
        return _open(config, session, out, as_json)
    found = run_async(_judge(config, _receipt(config, session)))
    said = {"accountable": found.accountable, "entry": found.entry, "named": found.named, "key": found.key.hex()}
    if as_json:
        click.echo(json.dumps({**said, "note": found.note.decode("utf-8")}))
    else:
        click.echo("\n".join(f"{key}: {value}" for key, value in said.items()))
    return int(found.named == "wrong")


def _open(config: DeviceConfig, session: str, out: Path | None, as_json: bool) -> int:
    found = _asked(config, session)
    opened = ("opening", found.session, found.opening)
    if out is not None:
        ReceiptBook(out).add_bytes(*opened)
    else:
        run_async(_present(config, opened))
    said = {"presented": out is None, "session": found.session.hex()}
    click.echo(json.dumps(said) if as_json else f"{found.session.hex()[:12]}: {'written' if out else 'presented'}")
    return 0


def _asked(config: DeviceConfig, session: str) -> Asked:
    for user in HouseholdState(config.data_dir).users().values() if len(session) >= _LEAST else ():
        for asked in user.history.asked():
            if asked.opening and asked.session.hex().startswith(session):
                return asked
    raise InputError("no own history that is kept here holds that question")


async def _present(config: DeviceConfig, opened: tuple[str, bytes, bytes]) -> None:
    if config.auditor is None:
        raise InputError("auditor: its address is not configured; --out writes a file for it")
    async with open_auditor(config, config.auditor, config.auditor_name) as auditor:
        await auditor.present([opened])


def _receipt(config: DeviceConfig, session: str) -> Receipt:
    file = config.data_dir / "receipts.jsonl"
    receipts = read_receipts(file) if file.exists() and len(session) >= _LEAST else iter(())
    found = next((receipt for receipt in receipts if receipt.session.hex().startswith(session)), None)
    if found is None:
        raise InputError("no receipt of that request is kept here")
    return found


async def _judge(config: DeviceConfig, receipt: Receipt) -> Judged:
    if config.auditor is None:
        raise InputError("auditor: its address is not configured")
    async with open_auditor(config, config.auditor, config.auditor_name) as auditor:
        return await auditor.judge(receipt.message)
