"""`proxid study microaggregation`: the experiments of 001 §4 on a log, the synthetic one by default."""

from pathlib import Path
from typing import Any

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from proxid.lab.commands.common import (
    FILE,
    filing_of,
    filing_options,
    print_json,
    progress_bar,
    said_columns_of,
    warn_of,
)
from proxid.lab.commands.study.output import rows_of, say_duration, write_study
from proxid.lab.filing import Filing, coverage
from proxid.lab.logs.files import read_log
from proxid.lab.release.microaggregation.mechanism import Queries
from proxid.lab.release.microaggregation.method import columns
from proxid.lab.studies.microaggregation import run
from proxid.lab.studies.microaggregation_report import figures, summary
from proxid.lab.studies.topical_log import ALL_TOPICS, LogShape, make_topical_log
from proxid.ontology.wordnet import load

PAPER_MEAN = 55.666
"""001 §4: 1,000 users with 55,666 queries."""


@click.command("microaggregation", epilog="\b\nExample: proxid study microaggregation --users 1000 --out study")
@click.argument("log", type=FILE, required=False, callback=said_columns_of)
@click.option("--users", type=click.IntRange(10), default=1000, show_default=True, help="Users of the synthetic log.")
@click.option("--levels", type=click.IntRange(1), default=5, show_default=True, help="Levels of the category tree.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the synthetic log.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("study"), show_default=True, help="Folder.")
@filing_options
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def command(
    log: Path | None, users: int, levels: int, seed: int, out: Path, as_json: bool, **filing: Any
) -> int:  # fmt: skip
    """SRP per level for k = 2..5, with the first and with five categories, beside random clusters and 1/k.

    LOG is a query log whose category field may hold several paths parted by |; without one a synthetic log is made.
    """
    say_duration(5 + 0.025 * (users if log is None else rows_of(log, 0) / PAPER_MEAN))
    queries = _queries(log, users, seed, filing_of(filing) or Filing())
    with progress_bar("clusters") as progress:
        remains = run(queries, levels, seed, progress)
    found = summary(remains) | {"users": queries.users, "queries": len(queries.user)}
    parameters = {"log": "synthetic" if log is None else "file", "levels": levels, "seed": seed}
    files = write_study(out, "microaggregation", found, parameters, figures(remains, out))
    if as_json:
        print_json(found | {"files": [str(file) for file in files]})
    else:
        _print(found, files)
    return 0


def _queries(log: Path | None, users: int, seed: int, filing: Filing) -> Queries:
    if log is not None:
        batch, reader = read_log(log, classifier=filing)
        warn_of(coverage(reader.rows, reader.uncategorised, filed=True))
        return columns(batch, reader.dictionaries)[0]
    shape = LogShape(users, PAPER_MEAN, spread=1.2, topics=ALL_TOPICS, unusual=0.15, vanity=0.01, categories=5)
    batch, dictionaries = make_topical_log(load(), shape, seed)
    return columns(batch, dictionaries)[0]


def _print(found: dict[str, Any], files: list[Path]) -> None:
    title = f"SRP per level, {found['users']} users, {found['queries']} queries"
    table = Table(title=title, box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    levels = len(found["classified"])
    for name in ("cat.", "k", "1/k", "clusters", *(f"L{i + 1}" for i in range(levels)), "over 1/k", "CPU s"):
        table.add_column(name, justify="right")
    for cell in found["cells"]:
        head = (str(cell["categories"]), str(cell["k"]), f"{cell['theory']:.3f}")
        held = "yes" if cell["over_theory_at_every_level"] else "no"
        table.add_row(*head, "similar", *(f"{x:.3f}" for x in cell["srp"]), held, f"{cell['seconds']:.2f}")
        table.add_row("", "", "", "random", *(f"{x:.3f}" for x in cell["srp_random_clusters"]), "", "")
    console = Console()
    console.print(table)
    console.print("over random clusters at every level: ", all(c["over_random_at_every_level"] for c in found["cells"]))
    console.print("largest contribution of a member (median cluster): ", found["largest_contribution"])
    console.print("paper: ", found["published"])
    console.print("written: ", *(str(file) for file in files))
