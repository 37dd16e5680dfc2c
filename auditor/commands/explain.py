"""`proxid explain`: the history of one released record across both logs, for the auditor."""

import dataclasses
import json
from pathlib import Path

import click

from auditor.conduct import AuditCommand, sources
from auditor.config import AuditorConfig
from auditor.record_history import RecordHistory, RecordName
from auditor.report.sentences import sentence
from auditor.setup import trust_of
from proxid.runtime.config.loading import load

_PATH = click.Path(path_type=Path)


@click.command("explain", epilog="Example: proxid explain 20650/3/0 --config trial/auditor/auditor.toml")
@click.argument("record")
@click.option("--config", "path", type=_PATH, required=True, help="The auditor's TOML.")
@click.option("--from", "folder", type=_PATH, help="Read an exported folder instead of the services.")
@click.option("--json", "as_json", is_flag=True, help="Print one object.")
def command(record: str, path: Path, folder: Path | None, as_json: bool) -> int:
    """Tell the history of RECORD: EPOCH/GROUP/POSITION as a party sees it, the hash of a request, or LOG/ENTRY.

    GROUP of places and commands is `location-12` or `command-12`, or the number that stands in the feed.
    It names people and texts: for the auditor alone. Exit status 2 if there is no such record.
    """
    config = load(AuditorConfig, path)
    history = RecordHistory(trust_of(config, pipeline=False), RecordName.parse(record))
    with sources(AuditCommand(config, folder)) as (gateway, service, keys):
        steps = history.read(gateway, service, keys)
    if as_json:
        click.echo(
            json.dumps(
                {"record": record, "steps": [dataclasses.asdict(step) | {"said": sentence(step)} for step in steps]}
            )
        )
        return 0
    for step in steps:
        click.echo(sentence(step))
    return 0
