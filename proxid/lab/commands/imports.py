"""`proxid import`: one's own history, out of what Google or Amazon hands out (DESIGN 15)."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from proxid.errors import InputError
from proxid.lab.imports import History, read_alexa, read_takeout

_IN = click.Path(exists=True, path_type=Path)
_OUT = click.Path(dir_okay=False, path_type=Path)


@click.group("import", epilog="Example: proxid import takeout takeout.zip -u ann -o me.jsonl")
def command() -> None:
    """Turn an export of your assistant's history into a query log.

    The result is the log of one person, to look at (`proxid profile`), to replay (`proxid device replay`) or to mix
    into a synthetic log and attack (`proxid synth --with`). It is no log to release: that takes many people.
    """


def _options(function: Callable[..., Any]) -> Callable[..., Any]:
    options = [
        click.argument("source", metavar="IN", type=_IN),
        click.option("-u", "--user", required=True, help="Name of the person: an export does not say who spoke."),
        click.option("-o", "--output", required=True, type=_OUT, help="Log to write: JSON lines, .jsonl."),
        click.option("--json", "as_json", is_flag=True, help="Print the report as an object."),
    ]
    for option in reversed(options):
        function = option(function)
    return function


@command.command("takeout", epilog="Example: proxid import takeout takeout.zip -u ann -o me.jsonl")
@_options
def takeout(source: Path, user: str, output: Path, as_json: bool) -> int:
    """Google: My Activity of Assistant and Gemini Apps in JSON. IN is the zip, its folder, or the file."""
    return _import(read_takeout, source, user, output, as_json)


@command.command("alexa", epilog="Example: proxid import alexa 'All Data Categories.zip' -u ann -o me.jsonl")
@_options
def alexa(source: Path, user: str, output: Path, as_json: bool) -> int:
    """Amazon: the Alexa part of an export. IN is a zip, a folder with all parts, or one Intent-….csv."""
    return _import(read_alexa, source, user, output, as_json)


def _import(read: Callable[[Path, History], None], source: Path, user: str, output: Path, as_json: bool) -> int:
    if output.suffix != ".jsonl":
        raise InputError(f"{output.name}: the log is JSON lines, give it a name that ends in .jsonl")
    if not user.strip():
        raise InputError("-u: the person needs a name")
    history = History(user.strip(), output.parent)
    read(source, history)
    report = history.write(output)
    click.echo(json.dumps(report) if as_json else "\n".join(_told(report, user.strip(), output)))
    return 0


def _told(report: dict[str, Any], user: str, output: Path) -> list[str]:
    lines = [
        f"{report['kept']:,} utterances in {output}, all under {user!r}: an account may have been several people's"
    ]
    if report["kept"]:
        lines.append(f"from {report['first']} to {report['last']}")
    skipped = sorted(report["skipped"].items(), key=lambda row: -row[1])
    lines += [f"left out: {count:,} {reason}" for reason, count in skipped]
    return lines
