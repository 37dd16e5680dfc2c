"""`proxid study thesis`: chapters 3 and 4 of 002 as one command."""

import os
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from proxid.lab.commands.common import (
    FILE,
    facts_table,
    filing_of,
    filing_options,
    print_json,
    progress_bar,
    said_columns_of,
)
from proxid.lab.commands.study.output import rows_of, say_duration
from proxid.lab.filing import Filing
from proxid.lab.studies.thesis.plan import KS, LEVELS, MODES, Cell, Plan, Source
from proxid.lab.studies.thesis.report import write_report
from proxid.lab.studies.thesis.results import Results
from proxid.lab.studies.thesis.runner import run_plan

FULL_ROWS, FULL_USERS = 1_000_000, 65_000
DEFAULT = Source()


def _numbers(_ctx: click.Context, _param: click.Parameter, value: str) -> tuple[int, ...]:
    try:
        return tuple(sorted({int(part) for part in value.split(",") if part.strip()}))
    except ValueError:
        raise click.BadParameter("whole numbers, parted by commas") from None


@click.command("thesis", epilog="\b\nExample: proxid study thesis --out study --rows 100000 --users 6500")
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder; resumes there.")
@click.option("--log", type=FILE, callback=said_columns_of, help="Study this log instead of a synthetic one.")
@click.option("--rows", default=DEFAULT.rows, show_default=True, type=click.IntRange(1000), help="Synthetic records.")
@click.option("--users", default=DEFAULT.users, show_default=True, type=click.IntRange(10), help="Synthetic people.")
@click.option("--full", is_flag=True, help="A million records of 65,000 people: an hour.")
@click.option("--k", "ks", default=",".join(map(str, KS)), show_default=True, callback=_numbers, help="Values of k.")
@click.option("--levels", default=",".join(map(str, LEVELS)), show_default=True, callback=_numbers, help="Values of ℓ.")
@click.option("--mode", "modes", multiple=True, type=click.Choice(MODES), help="Repeatable [all three].")
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0), help="Seed of log and choices.")
@click.option("--jobs", default=os.cpu_count() or 1, show_default="cores", type=click.IntRange(1), help="Processes.")
@filing_options
@click.option("--json", "as_json", is_flag=True, help="Print an object.")
def command(
    out: Path, log: Path | None, rows: int, users: int, full: bool, ks: tuple[int, ...], levels: tuple[int, ...],
    modes: tuple[str, ...], seed: int, jobs: int, as_json: bool, **filing: Any,
) -> int:  # fmt: skip
    """Release, attack and measure at every k and ℓ in modes thesis, thesis3 and mix; draw the thesis's figures.

    Finished cells stay in the folder: a run that was stopped goes on where it was. Exit 1 when mode mix failed one of
    its tests against 1/(k+m).
    """
    size = (FULL_ROWS, FULL_USERS) if full else (rows, users)
    how = filing_of(filing) or Filing()
    tree = None if how.ontology is None else str(how.ontology)
    source = Source(None if log is None else str(log), *size, seed, how.by, tree)
    plan = Plan(source, ks, levels, tuple(dict.fromkeys(modes)) or MODES)
    total = len(plan.cells())
    say_duration(total * (2.5 + 3.5e-5 * rows_of(log, size[0])), min(jobs, total))
    with progress_bar("cells", total) as progress:
        found = run_plan(plan, out, jobs=jobs, done=lambda cell, left: _step(progress, total, cell, left))
    results = Results.of(plan, found)
    files = write_report(results, out)
    return _print(results, files, out, as_json=as_json)


def _step(progress: Any, total: int, cell: Cell, left: int) -> None:
    progress(total - left, total)


def _print(results: Results, files: list[Path], out: Path, *, as_json: bool) -> int:
    from proxid.lab.studies.thesis.beside import beside, mix_verdicts
    from proxid.lab.studies.thesis.mix_table import COLUMNS, mix_rows
    from proxid.lab.studies.thesis.tables import markdown

    mix = mix_verdicts(results)
    summary = {"folder": str(out), "cells": len(results.cells), "files": len(files)}
    if as_json:
        print_json({**summary, "mix": mix, "mix_cells": mix_rows(results), "published": beside(results)})
    else:
        Console().print(facts_table("Study", {**summary, "mix": mix, "read": str(out / "study.md")}))
        if cells := mix_rows(results):
            click.echo(markdown(cells, COLUMNS))
    failed = mix["verdicts"]["different"] or sum(mix["records_over_bound"].values())
    return 1 if failed else 0
