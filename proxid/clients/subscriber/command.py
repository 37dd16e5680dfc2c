"""`proxid subscribe`: a third party's feed (DESIGN 9)."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console
from rich.table import Table

from proxid.clients.auditing.presenting import present
from proxid.clients.subscriber.acknowledgements import FILE
from proxid.clients.subscriber.config import PartyConfig
from proxid.clients.subscriber.kept import kept_entries
from proxid.clients.subscriber.rows import TSV_HEADER, contents_of, lines_of, notice_entry, notice_line, row_of, tsv_of
from proxid.clients.subscriber.subscriber import Counts, open_subscriber
from proxid.errors import ProxidError, told
from proxid.protocol.record import group_name
from proxid.runtime.config import load
from proxid.runtime.observability.logging import configure_logging
from proxid.runtime.process.ended import run_async


@click.command("subscribe", epilog="Example: proxid subscribe --config trial/parties/acme/party.toml --follow")
@click.option(
    "--config",
    "path",
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The party's party.toml.",
)
@click.option("--follow", is_flag=True, help="Wait for groups to come, until Ctrl-C.")
@click.option("--all", "everything", is_flag=True, help="First print what was received before.")
@click.option("--from", "after", type=click.IntRange(0), help="First print what was received after this cursor.")
@click.option(
    "--format",
    "layout",
    default="table",
    show_default=True,
    type=click.Choice(["table", "jsonl", "tsv"]),
    help="tsv: the AOL log's layout.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format jsonl.")
def command(path: Path, follow: bool, everything: bool, after: int | None, layout: str, as_json: bool) -> int:
    """Receive a party's feed: verify, keep and acknowledge each group, and print its records.

    Each group is printed once, however often it is delivered; what was received stays in data_dir/feed.jsonl. A notice
    that a person asked for erasure takes that name's rows out of the file; what else you made
    of them is yours to delete. What each line means: docs/feed.md.
    Exit status 1 if a group did not verify, 0 also if nothing was new.
    """
    config = load(PartyConfig, path)
    configure_logging("party", config.log_level)
    as_json = as_json or layout == "jsonl"
    show, tell = _printer("jsonl" if as_json else layout), _json_notice if as_json else _tell
    feed = config.data_dir / "feed.jsonl"
    if (everything or after is not None) and feed.exists():
        for entry in kept_entries(feed, after or 0):
            (tell if "notice" in entry else show)(entry)
    counts = run_async(_receive(config, follow, show, tell))
    return 1 if counts.refused else 0


_PRESENT_SECONDS: Final = 30.0
Show = Callable[[dict[str, Any]], None]
"""Prints a group, or a notice, as the feed's file has it."""


async def _receive(config: PartyConfig, follow: bool, show: Show, tell: Show) -> Counts:
    async with open_subscriber(config) as subscriber:
        subscriber.told = lambda notice: tell(notice_entry(notice))
        new, presented = 0, time.monotonic()
        async for group in subscriber.groups(follow):
            new += 1
            if time.monotonic() - presented > _PRESENT_SECONDS:
                await _present(config)
                presented = time.monotonic()
            entry = {"epoch": group.id.epoch, "group": group.id.group, "cursor": group.cursor}
            said = {} if group.contents is None else {"contents": contents_of(group.contents)}
            show({**entry, "records": [row_of(record) for record in group.records], **said})
        if not (new or follow):
            click.echo("no new groups", err=True)
    await _present(config)
    return subscriber.counts


async def _present(config: PartyConfig) -> None:
    """Present new acknowledgements to the auditor, if there is one; one that is away gets them the next time."""
    try:
        await present(config, config.data_dir / FILE)
    except ProxidError as error:
        click.echo(f"acknowledgements were not presented: {told(error)}", err=True)


_ASKED = {"erase": "asked for erasure: delete what you hold under this name", "object": "objected to any use"}


def _tell(notice: dict[str, Any]) -> None:
    click.echo(f"notice: {notice['user']} {_ASKED[notice['kind']]}", err=True)


def _json_notice(notice: dict[str, Any]) -> None:
    click.echo(json.dumps(notice_line(notice)))


def _printer(layout: str) -> Show:
    if layout == "jsonl":
        return _jsonl
    if layout == "tsv":
        click.echo("\t".join(TSV_HEADER))
        return _tsv
    return _table


def _tsv(group: dict[str, Any]) -> None:
    """Contents name nobody, and have no line in this layout."""
    for row in group["records"]:
        click.echo(tsv_of(row))


def _jsonl(group: dict[str, Any]) -> None:
    for line in lines_of(group):
        click.echo(json.dumps(line))


def _table(group: dict[str, Any]) -> None:
    title, contents = f"epoch {group['epoch']}, {group_name(group['group'])}", group.get("contents")
    Console().print(table_of(group["records"], title) if contents is None else contents_table(contents, title))


def contents_table(contents: dict[str, Any], title: str, most: int | None = None) -> Table:
    """Contents as a table: what was asked, and in how many records, most frequent first.

    Args:
        most: rows at most; all if None.
    """
    table = Table(title=title, title_justify="left")
    for column in ("category", "text", "records"):
        table.add_column(column)
    for row in sorted(contents["rows"], key=lambda row: -row["records"])[:most]:
        table.add_row(row["category"], row["text"], str(row["records"]))
    return table


def table_of(rows: list[dict[str, Any]], title: str) -> Table:
    """Records as a table."""
    table = Table(title=title, title_justify="left")
    for column in ("user", "kind", "shown", "text", "category"):
        table.add_column(column)
    table.add_column("time (UTC)", no_wrap=True)
    for row in rows:
        table.add_row(row["user"], row["kind"], row["rung"], row["text"], row["category"], _short(row["time"]))
    return table


def _short(time: str) -> str:
    """A release's time bucket without its seconds."""
    return f"{time[:16].replace('T', ' ')}Z"
