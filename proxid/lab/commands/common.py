"""What the commands of the query-log lab share: options of the mechanism, loading two logs, printing reports."""

import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from proxid.lab.filing import Filing, coverage, filing_as
from proxid.lab.load import Asked, load_release, manifest_of
from proxid.lab.logs import open_log
from proxid.lab.mechanism import MODES
from proxid.lab.released_log import Release
from proxid.loglines.head import said_columns

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
OUTPUT = click.Path(dir_okay=False, path_type=Path)
Command = Callable[..., Any]


def mechanism_options(command: Command) -> Command:
    """--mode --k --level --margin --delta --truth --classify: what is known of how the release was made."""
    options = [
        click.option("--mode", type=click.Choice(MODES), help="Mechanism [manifest, else by its groups]."),
        click.option("--k", type=click.IntRange(2), help="Anonymity parameter [manifest, else 10]."),
        click.option("--level", type=click.IntRange(0), help="Depth at which records wait [manifest, else 2]."),
        click.option("--margin", type=click.IntRange(0), help="m of mode mix [manifest, else 1]."),
        click.option("--delta", type=float, help="δ of mode thesis3 [manifest, else 1.2]."),
        click.option("--truth", type=FILE, help="Sidecar of `proxid release --truth`: released row TAB input row."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def filing_options(command: Command) -> Command:
    """--file-by and --ontology: how queries without a category are filed."""
    ontology = click.option("--ontology", type=FILE, help="Another tree: id,parent,name, or an Open Directory dump.")
    how = click.Choice(["network", "thesis"])
    by = click.option("--file-by", type=how, help="Categories by network, or by Algorithm 1 of the thesis [network].")
    return by(ontology(command))


def filing_of(options: dict[str, Any]) -> Filing | None:
    """What `filing_options` were given; None without any."""
    by, ontology = options.pop("file_by"), options.pop("ontology")
    return None if by is None and ontology is None else Filing(by or "network", ontology)


def asked(options: dict[str, Any]) -> Asked:
    """The mechanism options that were given."""
    return Asked(**{name: options.pop(name) for name in Asked.__slots__})


@contextmanager
def progress_bar(title: str, total: float | None = None) -> Iterator[Callable[[float, float], None]]:
    """A bar on stderr; the block calls what it is given with (done, total)."""
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda done, whole: bar.update(task, completed=done, total=whole)


def load(original: Path, released: Path, options: dict[str, Any]) -> Release:
    """Both logs with a bar; queries without a category are filed as the release's manifest says."""
    say_columns(original)
    say_columns(released)
    what, filing = asked(options), filing_as(manifest_of(released).get("filing", {}), filing_of(options))
    with progress_bar("reading") as progress:
        found = load_release(
            original, released, what, truth=options["truth"], classifier=filing, progress=progress,
            person=options.get("person"),
        )  # fmt: skip
    warn_if_empty(len(found.original), "the original")
    warn_if_empty(len(found.released), "the release")
    warn_of(_coverage(found))
    return found


def print_json(value: Any) -> None:
    """One JSON object on stdout; what is no number becomes null."""
    click.echo(json.dumps(_clean(value), indent=2, ensure_ascii=False))


def _clean(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _clean(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(inner) for inner in value]
    return None if _is_none(value) else value


def describe(release: Release) -> dict[str, Any]:
    """The mechanism and how much of the truth is known, for the head of a report."""
    mechanism = release.mechanism
    return {
        "mechanism": {name: getattr(mechanism, name) for name in mechanism.__slots__},
        "records_in": len(release.original),
        "categories": _coverage(release),
        "records_out": len(release.released),
        "held_share": 1 - len(release.released) / max(len(release.original), 1),
        "truth": "exact" if release.exact else "derived where a whole text leaves one possible owner",
        "known_owner_share": float(release.known.mean()) if len(release.released) else 0.0,
    }


def _coverage(release: Release) -> dict[str, Any]:
    return coverage(len(release.original), int((release.original.category < 0).sum()), filed=True)


def warn_of(categories: dict[str, Any] | None) -> None:
    """Say on stderr that many records have no category, and why."""
    if categories and "warning" in categories:
        Console(stderr=True).print(f"warning: {categories['warning']}", style="yellow", highlight=False)


def percent(value: float | None) -> str:
    """A share in per cent."""
    return "-" if value is None or math.isnan(value) else f"{100 * value:.2f}"


def facts_table(title: str, facts: dict[str, Any]) -> Table:
    """Numbers by name, nested ones indented."""
    table = Table(title=title, title_justify="left", show_header=False)
    for name, value in _flat(facts, 0):
        table.add_row(name, value)
    return table


def _flat(facts: dict[str, Any], depth: int) -> Iterator[tuple[str, str]]:
    for name, value in facts.items():
        label = "  " * depth + name.replace("_", " ")
        if isinstance(value, dict):
            yield label, ""
            yield from _flat(value, depth + 1)
        elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
            for item in value:
                yield from _flat(item, depth + 1)
        elif isinstance(value, list | tuple):
            yield label, "; ".join(map(_shown, value)) or "-"
        else:
            yield label, _shown(value)


def _shown(value: Any) -> str:
    if _is_none(value):
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _is_none(value: Any) -> bool:
    """Whether a value is missing: None, or NaN where a share of nothing was asked for."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def say_columns(path: Path) -> None:
    """Say on stderr which column of a log without a header is taken for what. Raises InputError for what is no log."""
    with open_log(path) as log:
        if log.layout.format == "tsv" and not log.layout.header and log.size:
            said = f"{path.name} has no header: {said_columns(log.layout.fields)}"
            Console(stderr=True).print(said, highlight=False, markup=False, soft_wrap=True)


def said_columns_of(_context: click.Context, _parameter: click.Parameter, path: Path | None) -> Path | None:
    """`say_columns` for an argument that may be left out."""
    if path is not None:
        say_columns(path)
    return path


def warn_if_empty(records: int, what: str) -> None:
    """Say on stderr that a log has no records, so that the dashes of a report are understood."""
    if records == 0:
        Console(stderr=True).print(f"warning: {what} has 0 records", style="yellow", highlight=False)
