"""`proxid study semantic`: the experiments of 000 §4 on a log, the synthetic one by default."""

import os
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from proxid.lab.commands.common import FILE, print_json, progress_bar, said_columns_of
from proxid.lab.commands.study.output import print_remarks, say_duration, write_study
from proxid.lab.concepts import ConceptMapper
from proxid.lab.logs.files import read_log
from proxid.lab.release.semantic.phrases import map_log
from proxid.lab.release.semantic.topics import FOUR, NINETEEN, OTHER, categorise
from proxid.lab.studies.semantic import PROFILES, WAYS, Plan, run
from proxid.lab.studies.semantic_report import METHODS, PROFILE_TITLES, TITLES, figures, remarks, summary
from proxid.lab.studies.topical_log import LogShape, make_topical_log
from proxid.ontology.wordnet import load


@click.command("semantic", epilog="\b\nExample: proxid study semantic --users 400 --out study")
@click.argument("log", type=FILE, required=False, callback=said_columns_of)
@click.option("--users", type=click.IntRange(2), default=400, show_default=True, help="Users taken (paper: 1000).")
@click.option("--runs", type=click.IntRange(1), default=3, show_default=True, help="Runs averaged (paper: 3).")
@click.option(
    "--settings", default="A,B,C", show_default=True, help="Settings of Sánchez et al. 2018, §4, parted by commas."
)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the log and of the noise.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("study"), show_default=True, help="Folder.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def command(log: Path | None, users: int, runs: int, settings: str, seed: int, out: Path, as_json: bool) -> int:
    """Utility loss (JSD of profiles) of SQC1, SQC2, NSQC and HBDP over ε, with paired intervals.

    LOG is a query log; without one a synthetic log about the four domains of the paper is made.
    """
    chosen = tuple(name for name in ("A", "B", "C") if name in settings.upper().split(","))
    if not chosen:
        raise click.BadParameter("settings are some of A, B, C", param_hint="--settings")
    say_duration(60 + 0.12 * users * runs)
    plan = _plan(log, users, runs, chosen, seed)
    random = np.random.default_rng(seed).bytes if log is None else os.urandom
    with progress_bar("curves") as progress:
        losses = run(load(), plan, random, progress)
    found = summary(losses) | {"users": plan.users, "phrases": len(plan.user), "runs": plan.runs}
    found["remarks"] = remarks(found)
    parameters = {"log": "synthetic" if log is None else "file", "users": users, "runs": runs, "seed": seed}
    files = write_study(out, "semantic", found, parameters, figures(losses, out))
    if as_json:
        print_json(found | {"files": [str(file) for file in files]})
    else:
        _print(found, files)
    return 0


def _plan(log: Path | None, users: int, runs: int, settings: tuple[str, ...], seed: int) -> Plan:
    """The phrases of the log that have one of the nineteen topics, users renumbered."""
    wordnet = load()
    if log is None:
        batch, dictionaries = make_topical_log(wordnet, LogShape(users=users), seed)
    else:
        batch, reader = read_log(log)
        dictionaries = reader.dictionaries
    scope = np.flatnonzero(categorise(wordnet, FOUR) != OTHER)
    with progress_bar("mapping queries to concepts") as progress:
        phrases = map_log(batch, dictionaries.query, ConceptMapper(wordnet, scope.tolist()), progress)
    inside = np.flatnonzero(categorise(wordnet, NINETEEN)[phrases.concept] != OTHER)
    taken = np.unique(phrases.user[inside])[:users]
    rows = inside[np.isin(phrases.user[inside], taken)]
    user = np.searchsorted(taken, phrases.user[rows])
    return Plan(user, phrases.concept[rows], runs=runs, settings=settings)


def _print(found: dict[str, Any], files: list[Path]) -> None:
    console = Console()
    for setting, entry in found["settings"].items():
        for kind in PROFILES:
            for way in WAYS:
                console.print(_table(f"Setting {setting}: {TITLES[way]}", found["epsilons"], entry[kind][way]["loss"]))
                console.print(f"  {PROFILE_TITLES[kind]}; at every ε > 1: {entry[kind][way]['ordering']}\n")
        console.print(f"  D = P: {entry['domains_equal_topics']}")
        console.print(f"  paper: {entry['published']}\n")
    print_remarks(console, found["remarks"])
    console.print("written: ", *(str(file) for file in files))


def _table(title: str, epsilons: list[float], loss: dict[str, Any]) -> Table:
    table = Table(title=f"{title}, mean JSD ± 95 %", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("ε", *(method.upper() for method in METHODS)):
        table.add_column(name, justify="right")
    for i, epsilon in enumerate(epsilons):
        cells = (f"{loss[m]['mean'][i]:.4f} ± {loss[m]['half_width'][i]:.4f}" for m in METHODS)
        table.add_row(f"{epsilon:g}", *cells)
    return table
