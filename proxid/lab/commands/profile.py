"""`proxid profile`: people's interests as a log shows them (002 §3.3.4.3)."""

from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from proxid.errors import InputError
from proxid.lab.commands.common import FILE, print_json, progress_bar, say_columns, warn_if_empty, warn_of
from proxid.lab.filing import coverage, default_filing
from proxid.lab.logs import open_log
from proxid.lab.profiles import Profiler, category_names, percentages


@click.command("profile", epilog="Example: proxid profile released.tsv --user 116874 --level 1 --json")
@click.argument("log", type=FILE)
@click.option("--user", "users", multiple=True, help="Whose profile; repeatable [the --top most active].")
@click.option("--level", default=1, show_default=True, type=click.IntRange(1), help="Depth of the categories counted.")
@click.option("--top", default=10, show_default=True, type=click.IntRange(1), help="How many users without --user.")
@click.option("--classify/--no-classify", default=True, help="File queries that come without a category [yes].")
@click.option("--json", "as_json", is_flag=True, help="Print an object.")
def command(log: Path, users: tuple[str, ...], level: int, top: int, classify: bool, as_json: bool) -> int:
    """Print profiles: per cent of a user's records in each category, one decimal, cut off."""
    profiler, categories = _read(log, level, classify)
    if unknown := [user for user in users if user not in profiler.counts]:
        raise InputError(f"{len(unknown)} of the users asked for are not in the log")
    totals = {user: sum(counts.values()) for user, counts in profiler.counts.items()}
    chosen = users or tuple(sorted(totals, key=lambda user: (-totals[user], user))[:top])
    profiles = {user: _profile(profiler, user) for user in chosen}
    warn_if_empty(len(totals), "the log")
    warn_of(categories)
    if as_json:
        print_json({"level": level, "users": len(totals), "categories": categories, "profiles": profiles})
    else:
        _print(profiles)
    return 0


def _read(log: Path, level: int, classify: bool) -> tuple[Profiler, dict[str, Any]]:
    profiler = Profiler()
    say_columns(log)
    with (
        open_log(log, classifier=default_filing() if classify else None) as reader,
        progress_bar("reading") as progress,
    ):
        for batch in reader:
            dictionaries = reader.dictionaries
            profiler.add_batch(batch, dictionaries.user, category_names(dictionaries.tree, level))
            progress(reader.position, reader.size)
    return profiler, coverage(reader.rows, reader.uncategorised, filed=classify)


def _profile(profiler: Profiler, user: str) -> dict[str, Any]:
    counts = profiler.counts[user]
    return {"records": sum(counts.values()), "percent": percentages(dict(sorted(counts.items())))}


def _print(profiles: dict[str, dict[str, Any]]) -> None:
    table = Table("user", "records", "profile", title="Profiles", title_justify="left")
    for user, profile in profiles.items():
        shares = sorted(profile["percent"].items(), key=lambda item: -item[1])
        table.add_row(user, str(profile["records"]), ", ".join(f"{name} {share} %" for name, share in shares))
    Console().print(table)
