"""`proxid study sessions`: the tables and figures of 004 on a log, the synthetic one by default."""

from pathlib import Path
from typing import Any

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from proxid.lab.commands.common import print_json, progress_bar
from proxid.lab.commands.study.output import (
    counted_study_options,
    log_of,
    print_remarks,
    rows_of,
    say_duration,
    write_study,
)
from proxid.lab.studies.counted import counted_log, synthetic_or
from proxid.lab.studies.sessions import Settings, run
from proxid.lab.studies.sessions_report import PUBLISHED, figures, remarks


@click.command("sessions", epilog="\b\nExample: proxid study sessions --rows 200000 --users 8000 --K 10 --out study")
@counted_study_options(
    click.option("--K", "k", type=float, default=20.0, show_default=True, help="Threshold of Table 5's runs."),
    click.option("--b", type=float, default=1.0, show_default=True, help="Noise scale."),
)
def command(log: Path | None, rows: int, users: int, seed: int, k: float, b: float, out: Path, as_json: bool) -> int:
    """Sessions, clicks and KA: what they publish, what they cost, and query suggestion from them (P@5, R@5).

    LOG is a query log. Noise is fresh in every run: no seed can fix it.
    """
    say_duration(5 + 1.5e-4 * rows_of(log, rows))
    bar = progress_bar("study sessions")
    with synthetic_or(log, rows, users, seed) as path, counted_log(path) as counted, bar as progress:
        found = run(counted, Settings(k=k, b=b), progress)
    found |= {"published": PUBLISHED, "remarks": remarks(found)}
    files = write_study(out, "sessions", found, log_of(log, rows, seed) | {"K": k, "b": b}, figures(found, out))
    if as_json:
        print_json(found | {"files": [str(file) for file in files]})
    else:
        _print(found, files)
    return 0


def _print(found: dict[str, Any], files: list[Path]) -> None:
    console = Console()
    console.print(_table_4(found["table_4"]))
    console.print(_table_5(found["table_5"]))
    for name, held in found["cost"].items():
        console.print(f"{name}: ε = {held['epsilon']:.3g}, δ = {held['delta']:.3g} ({held['relation']} neighbours)")
    print_remarks(console, found["remarks"])
    console.print(f"{len(files)} files in {files[0].parent}")


def _table_4(rows: list[dict[str, Any]]) -> Table:
    table = Table(title="Table 4: what parameters cost", box=SIMPLE_HEAD)
    for column in ("b", "K", "l_s", "l_q", "ε", "published", "δ", "published", "δ > 1/U"):
        table.add_column(column, justify="right")
    for row, (epsilon, delta) in zip(rows, PUBLISHED["table_4"], strict=True):
        numbers = [f"{row[name]:g}" for name in ("b", "K", "l_s", "l_q")]
        held = (f"{row['epsilon']:.2f}", f"{epsilon:.2f}", f"{row['delta']:.2e}", f"{delta:.2e}")
        table.add_row(*numbers, *held, "yes" if row["delta_over_1_in_U"] else "")
    return table


def _table_5(runs: dict[str, Any]) -> Table:
    table = Table(title="Table 5: query suggestion (published: AOL)", box=SIMPLE_HEAD)
    for column in ("run", "P@5", "R@5", "sessions", "P@5 common", "R@5 common", "sessions common", "published"):
        table.add_column(column, justify="right")
    for name, run_ in runs.items():
        cells = []
        for part in ("own", "common"):
            scores = run_[part]
            cells += [f"{scores['precision_at_5']:.4f}", f"{scores['recall_at_5']:.4f}", f"{scores['sessions']:,.0f}"]
        paper = PUBLISHED["table_5"][name]
        table.add_row(name, *cells, " ".join(f"{value:,.4g}" for value in paper.values()))
    return table
