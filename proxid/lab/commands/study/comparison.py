"""`proxid study all`: every mechanism of the five papers on the same log, in one table."""

import functools
import tempfile
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from proxid.errors import InputError
from proxid.lab.commands.common import FILE, filing_of, filing_options, print_json, progress_bar, said_columns_of
from proxid.lab.commands.study.output import rows_of, say_duration, write_study
from proxid.lab.filing import Filing
from proxid.lab.logs import Layout, create_log
from proxid.lab.logs.digest import digest_of
from proxid.lab.studies.comparison import Plan, compare
from proxid.lab.studies.comparison_report import LEGEND, figure, printed
from proxid.lab.studies.entries import Entry, entries
from proxid.lab.studies.topical_log import ALL_TOPICS, LogShape, make_topical_log
from proxid.ontology.wordnet import load

MEAN_QUERIES = 60.0
"""Of a person of the synthetic log."""


@click.command("all", epilog="\b\nExample: proxid study all --users 3000 --out study")
@click.argument("log", type=FILE, required=False, callback=said_columns_of)
@click.option(
    "--users",
    type=click.IntRange(20),
    default=3000,
    show_default=True,
    help="People: of the synthetic log; of LOG as many as have 60 records each of them.",
)
@click.option("--epsilon", type=float, default=2.0, show_default=True, help="ε where a mechanism takes one.")
@click.option("--k", type=click.IntRange(2), default=10, show_default=True, help="k of kbuffer, k-query and k_A.")
@click.option("--only", multiple=True, help="Only mechanisms whose name contains this; may be repeated.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the log and of the attackers.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("study"), show_default=True, help="Folder.")
@filing_options
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def command(
    log: Path | None, users: int, epsilon: float, k: int, only: tuple[str, ...], seed: int, out: Path, as_json: bool,
    **filing: Any,
) -> int:  # fmt: skip
    """Guarantee, attack success, what is published, utility by task and cost of every mechanism on one log.

    LOG is any log with times; of a larger one than --users times 60 records, whole histories of people drawn by --seed
    are taken, so that it ends. Without LOG a synthetic log is made. The releases themselves are thrown away: each is an
    alternative with a budget of its own, and no budget is charged.
    """
    records = int(users * MEAN_QUERIES)
    say_duration(10 + 0.045 / MEAN_QUERIES * min(records, rows_of(log, records)))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = _synthetic(folder, users, seed) if log is None else log
        chosen, how = functools.partial(_chosen, epsilon=epsilon, k=k, only=only), filing_of(filing) or Filing()
        plan = Plan(
            source, folder, chosen, digest_of(source), k=k, seed=seed, records=records if log else None, filing=how
        )
        with progress_bar("mechanisms") as progress:
            rows = compare(plan, progress)
    parameters = {
        "log": "synthetic" if log is None else "file",
        "users": users,
        "epsilon": epsilon,
        "k": k,
        "seed": seed,
    }
    found = {"log": {"sha256": plan.digest}, "legend": LEGEND, "mechanisms": rows}
    files = write_study(out, "all", found, parameters, figure(rows, out))
    if as_json:
        print_json(found | {"files": [str(file) for file in files]})
    else:
        _print(rows, files)
    return 0


def _synthetic(folder: Path, users: int, seed: int) -> Path:
    shape = LogShape(users, MEAN_QUERIES, spread=1.2, topics=ALL_TOPICS, unusual=0.15, vanity=0.01, navigation=0.15)
    batch, dictionaries = make_topical_log(load(), shape, seed)
    with create_log(folder / "log.tsv", Layout().having("category"), dictionaries) as out:
        out.write(batch)
    return folder / "log.tsv"


def _chosen(users: int, epsilon: float, k: int, only: tuple[str, ...]) -> list[Entry]:
    """The mechanisms asked for. Raises InputError when there is none of that name."""
    every = entries(users, epsilon, k)
    chosen = [entry for entry in every if not only or any(part.lower() in entry.label.lower() for part in only)]
    if not chosen:
        raise InputError("no mechanism has such a name: " + ", ".join(entry.label for entry in every))
    return chosen


def _print(rows: list[dict[str, Any]], files: list[Path]) -> None:
    console = Console()
    printed(rows, console)
    console.print("written: ", *(str(file) for file in files))
