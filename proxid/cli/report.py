"""`proxid report`: fetch an auditor's newest report, as its operator or a service that it reports to (DESIGN 10.5)."""

import json
from pathlib import Path
from typing import Any

import click

from auditor.report.series import JSON, NOTE, PAGE, Verified, verify
from proxid.cli.doctor import load_party
from proxid.clients.auditing.client import open_auditor
from proxid.errors import MALFORMED, InputError, NoteInvalidError, OutputError
from proxid.evidence.note import Verifier
from proxid.jsontext import load_json
from proxid.runtime.config.base import PartyBase
from proxid.runtime.process.ended import run_async
from proxid.runtime.provision.keyfile import load_signing_key


@click.command("report", epilog="Example: proxid report 127.0.0.1:7445 --config gateway/gateway.toml --out reports")
@click.argument("address")
@click.option(
    "--config", "path", required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The TOML of who fetches: its certificate is shown.",
)  # fmt: skip
@click.option("--number", default=0, type=click.IntRange(0), help="An older one (default: the newest).")
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Where it is written.")
@click.option("--json", "as_json", is_flag=True, help="Print one object.")
def command(address: str, path: Path, number: int, out: Path, as_json: bool) -> int:
    """Fetch a report of the auditor at ADDRESS and check its signature, and the reports before it that are in --out.

    Exit status 0 if it holds, 1 if it is not what the auditor signed, 2 if it could not be fetched.
    """
    config = load_party(path)
    files = run_async(_fetch(config, address, number))
    try:
        found = _verified(_write(out, files), config)
    except NoteInvalidError as error:
        click.echo(json.dumps({"holds": False, "why": error.rule}) if as_json else f"does not hold: {error.rule}")
        return 1
    said = {"holds": True, "number": found.number, "verdict": found.verdict, "hash": found.hash}
    click.echo(json.dumps(said) if as_json else f"report {found.number}: {found.verdict}, hash {found.hash}")
    return 0


async def _fetch(config: PartyBase, address: str, number: int) -> dict[str, bytes]:
    async with open_auditor(config, address) as auditor:
        return await auditor.report(number)


def _write(out: Path, files: dict[str, bytes]) -> Path:
    """The report's folder; raises InputError for what is no report, OutputError."""
    try:
        said: Any = load_json(files[JSON])
        folder = out / f"{int(said['report']['number']):06}"
        parts = {name: files[name] for name in (JSON, PAGE, NOTE)}
    except MALFORMED:
        raise InputError("what the auditor sent is no report") from None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in parts.items():
            (folder / name).write_bytes(data)
    except OSError:
        raise OutputError(f"{folder}: the report cannot be written") from None
    return folder


def _verified(folder: Path, config: PartyBase) -> Verified:
    """Raises NoteInvalidError, InputError if no auditor's key is trusted."""
    key = config.trust.auditor
    if config.role == "auditor":
        key = load_signing_key(getattr(config, "signing_key")).public  # noqa: B009 - only that party has one
    names = [server.name for server in config.trust.servers if server.role == "auditor"]
    if key is None or not names:
        raise InputError("no auditor is trusted: import its public.toml")
    return verify(folder, Verifier(names[0], key))
