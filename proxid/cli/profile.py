"""`proxid profile`: people's interests, as a log shows them or as a party was told (002 §3.3.4.3, DESIGN 8.10)."""

import importlib
import json
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from proxid.classify.types import RequestType
from proxid.cli.main import NEEDED, has_laboratory
from proxid.clients.subscriber.kept import received_rows
from proxid.clients.subscriber.profiles import counts_of, read_profiles
from proxid.errors import ConfigError, InputError
from proxid.profiles import Counts, at_level, percentages

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_LOGS = "proxid.lab.commands.profile"
"""By name: the laboratory may not be installed."""


@click.command("profile", epilog="Example: proxid profile --feed trial/parties/acme/data --level 1")
@click.argument("log", type=FILE, required=False)
@click.option("--feed", type=click.Path(exists=True, file_okay=False, path_type=Path),
              help="A party's data_dir: what its feed told, instead of LOG.")  # fmt: skip
@click.option("--user", "users", multiple=True, help="Whose profile; repeatable [the --top most active].")
@click.option("--level", default=1, show_default=True, type=click.IntRange(1), help="Depth of the categories counted.")
@click.option("--top", default=10, show_default=True, type=click.IntRange(1), help="How many users without --user.")
@click.option(
    "--kind",
    type=click.Choice([str(kind) for kind in RequestType]),
    default="general",
    show_default=True,
    help="Of a feed.",
)
@click.option("--classify/--no-classify", default=True, help="Of LOG: file queries without a category [yes].")
@click.option("--file-by", type=click.Choice(["network", "thesis"]), default="network", show_default=True,
              help="Of LOG: categories by network, or by Algorithm 1 of the thesis.")  # fmt: skip
@click.option("--ontology", type=FILE, help="Of LOG: another tree, id,parent,name or an Open Directory dump.")
@click.option("--json", "as_json", is_flag=True, help="Print an object.")
def command(
    log: Path | None, feed: Path | None, users: tuple[str, ...], level: int, top: int, as_json: bool, **of_source: Any
) -> int:
    """Print profiles: per cent of a user's records in each category, one decimal, cut off.

    LOG is a query log (which needs the laboratory), or what `proxid subscribe` wrote: its feed.jsonl, lines of --json.
    """
    if (log is None) == (feed is None):
        raise ConfigError("give LOG or --feed, not both")
    counts, said = _of_feed(feed, of_source["kind"]) if log is None else _of_file(log, level, **of_source)
    counts = at_level(counts, level)
    if unknown := [user for user in users if user not in counts]:
        raise InputError(f"{len(unknown)} of the users asked for are not in the {'log' if feed is None else 'feed'}")
    totals = {user: sum(profile.values()) for user, profile in counts.items()}
    chosen = users or tuple(sorted(totals, key=lambda user: (-totals[user], user))[:top])
    profiles = {user: {"records": totals[user], "percent": _percent(counts, user)} for user in chosen}
    if as_json:
        found = {"level": level, "users": len(totals), **said, "profiles": profiles}
        click.echo(json.dumps(found, indent=2, ensure_ascii=False))
    else:
        _print(profiles, said.get("kind"))
    return 0


def _of_feed(feed: Path | None, kind: str) -> tuple[Counts, dict[str, Any]]:
    assert feed is not None
    return read_profiles(feed, kind), {"kind": kind}


def _of_file(log: Path, level: int, kind: str, **filing: Any) -> tuple[Counts, dict[str, Any]]:
    rows = received_rows(log)
    if rows is not None:
        return counts_of(rows, kind), {"kind": kind}
    if not has_laboratory():
        raise ConfigError(f"profile of a log {NEEDED}")
    counts, categories = importlib.import_module(_LOGS).counts_of_log(log, level, **filing)
    return counts, {"categories": categories}


def _percent(counts: Counts, user: str) -> dict[str, float]:
    return percentages(dict(sorted(counts[user].items())))


def _print(profiles: dict[str, dict[str, Any]], kind: str | None) -> None:
    """Of a feed with its kind, and how the others are seen."""
    others = " or ".join(str(other) for other in RequestType if other != kind)
    title = "Profiles" if kind is None else f"Profiles: {kind} (others: --kind {others})"
    table = Table("user", "records", "profile", title=title, title_justify="left")
    for user, profile in profiles.items():
        shares = sorted(profile["percent"].items(), key=lambda item: -item[1])
        table.add_row(user, str(profile["records"]), ", ".join(f"{name} {share} %" for name, share in shares))
    Console(markup=False).print(table)
