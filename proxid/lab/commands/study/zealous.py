"""`proxid study zealous`: the tables and figures of 003 on a log, the synthetic one by default."""

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
from proxid.lab.studies.zealous import Settings, run
from proxid.lab.studies.zealous_report import PUBLISHED, figures, remarks


@click.command("zealous", epilog="\b\nExample: proxid study zealous --rows 200000 --users 8000 --out study")
@counted_study_options(
    click.option("--epsilon", type=float, default=5.0, show_default=True, help="ε where m varies."),
    click.option("--delta", type=float, default=1e-3, show_default=True, help="δ (paper: 0.001)."),
)
def command(
    log: Path | None, rows: int, users: int, seed: int, epsilon: float, delta: float, out: Path, as_json: bool
) -> int:
    """ZEALOUS and k-query anonymity by m, ε and k: counts, caching, substitution; partition beside them.

    LOG is a query log. Noise is fresh in every run: no seed can fix it.
    """
    say_duration(10 + 6e-4 * rows_of(log, rows))
    bar = progress_bar("study zealous")
    with synthetic_or(log, rows, users, seed) as path, counted_log(path) as counted, bar as progress:
        found = run(counted, Settings(epsilon=epsilon, delta=delta), progress)
    found |= {"published": PUBLISHED, "remarks": remarks(found)}
    files = write_study(
        out, "zealous", found, log_of(log, rows, seed) | {"epsilon": epsilon, "delta": delta}, figures(found, out)
    )
    if as_json:
        print_json(found | {"files": [str(file) for file in files]})
    else:
        _print(found, files)
    return 0


def _print(found: dict[str, Any], files: list[Path]) -> None:
    console = Console()
    console.print(_table_2(found["table_2"]))
    console.print(_by_m("Table 3 (A): distinct items", found["table_3"]["m"], found["table_3"]["distinct"], "distinct"))
    console.print(
        _by_m("Table 3 (B): total counts", found["table_3"]["m"], found["table_3"]["total"], "total_thousands")
    )
    for kind, part in found["partition"].items():
        rows = {name: part[name] for name in ("probabilistic", "indistinguishability", "partition", "ratio")}
        console.print(_by_m(f"{kind}: partition beside ZEALOUS, δ = {part['delta']:.2g}", part["m"], rows, None))
    console.print(found["trends"])
    print_remarks(console, found["remarks"])
    console.print(f"{len(files)} files in {files[0].parent}")


def _table_2(part: dict[str, Any]) -> Table:
    table = Table(title="Table 2: τ′ by τ (m = 2, ε = 1, δ = 0.01, U five million)", box=SIMPLE_HEAD)
    for column in ("τ", "τ′", "published"):
        table.add_column(column, justify="right")
    for tau, here, there in zip(part["tau"], part["tau_prime"], PUBLISHED["table_2"]["tau_prime"], strict=True):
        table.add_row(str(tau), f"{here:.4f}", f"{there:.4f}")
    return table


def _by_m(title: str, ms: list[int], rows: dict[str, list[float]], published: str | None) -> Table:
    table = Table(title=title, box=SIMPLE_HEAD)
    table.add_column("")
    for m in ms:
        table.add_column(f"m = {m}", justify="right")
    for name, row in rows.items():
        table.add_row(name, *(f"{value:,.3g}" if isinstance(value, float) else f"{value:,}" for value in row))
        if published:
            table.add_row(
                "  published", *(f"{value:,}" for value in PUBLISHED["table_3"][published][name]), style="dim"
            )
    return table
