"""`proxid explain`: the history of one released record across both logs, for the auditor."""

import dataclasses
import json
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from auditor.commands.audit import AuditCommand, sources
from auditor.config import AuditorConfig
from auditor.record_history import RecordHistory, RecordName
from auditor.setup import trust_of
from proxid.protocol.record import group_name
from proxid.runtime.config.loading import load

_PATH = click.Path(path_type=Path)


@click.command("explain", epilog="Example: proxid explain 20650/3/0 --config trial/auditor/auditor.toml")
@click.argument("record")
@click.option("--config", "path", type=_PATH, required=True, help="The auditor's TOML.")
@click.option("--from", "folder", type=_PATH, help="Read an exported folder instead of the services.")
@click.option("--json", "as_json", is_flag=True, help="Print one object.")
def command(record: str, path: Path, folder: Path | None, as_json: bool) -> int:
    """Show the history of RECORD: EPOCH/GROUP/POSITION as a party sees it, or the hash of a request.

    GROUP of places and commands is `location-12` or `command-12`, or the number that stands in the feed.
    It names people and texts: for the auditor alone. Exit status 2 if there is no such record.
    """
    config = load(AuditorConfig, path)
    history = RecordHistory(trust_of(config, pipeline=False), RecordName.parse(record))
    with sources(AuditCommand(config, folder)) as (gateway, service, keys):
        steps = history.read(gateway, service, keys)
    if as_json:
        click.echo(json.dumps({"record": record, "steps": [dataclasses.asdict(step) for step in steps]}))
        return 0
    table = Table("log", "leaf", "event", "what", title=f"Record {record}")
    for step in steps:
        what = {key: _named(value) if key == "group" else value for key, value in step.what.items()}
        table.add_row(step.log, str(step.leaf), step.event, json.dumps(what, ensure_ascii=False))
    Console().print(table, markup=False)
    return 0


def _named(group: object) -> object:
    return group_name(group) if isinstance(group, int) else group
