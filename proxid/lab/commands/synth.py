"""`proxid synth`: a synthetic query log like AOL's, from a seed (DESIGN 13)."""

import json
from pathlib import Path

import click

from proxid.lab.commands.common import progress_bar
from proxid.lab.filing import Filing
from proxid.lab.logs import Dictionaries, create_log, layout_of
from proxid.lab.logs.synth import Shape, synthesise
from proxid.lab.logs.synth.mixed import OwnLog, mixed, read_own

_LOG = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("synth", epilog="Example: proxid synth --rows 100000 --users 1000 --seed 1 -o log.tsv")
@click.option("--rows", required=True, type=click.IntRange(0), help="Records.")
@click.option("--users", required=True, type=click.IntRange(1), help="People who may appear.")
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0), help="The same log for the same seed.")
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False, path_type=Path), help="Log to write.")
@click.option("--days", type=float, help="Time it spans [what AOL's rate of 4.58 records a second needs].")
@click.option("--spread", type=float, help="σ of log-normal activity [0.4 at 318 records a user to 1.5 at 56].")
@click.option("--category/--no-category", default=True, show_default=True, help="With the category of each query.")
@click.option("--header/--no-header", default=True, show_default=True, help="TSV: with a header line.")
@click.option("--with", "own", multiple=True, type=_LOG, help="Somebody's own log, mixed in; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Print an object.")
def command(
    rows: int, users: int, seed: int, output: Path, days: float | None, spread: float | None,
    category: bool, header: bool, own: tuple[Path, ...], as_json: bool,
) -> int:  # fmt: skip
    """Write a synthetic query log: AOL TSV, JSON lines or Parquet by the name of the file, `.gz` where it applies.

    It holds nobody's data: a category tree with the sizes of the thesis's Table 4.4, people with favourite subtrees and
    log-normal activity, sessions, repeated, unique and vanity texts, clicks. Memory does not grow with the rows.

    --with mixes real people into the crowd, their days moved into the log's and their categories to popular ones of its
    tree, so that `proxid attack --person NAME` shows whether they would be found.
    """
    shape, known = Shape(rows, users, seed, days, spread), Dictionaries()
    layout = layout_of(output).having("category") if category else layout_of(output)
    layout = type(layout)(layout.format, layout.fields, header and layout.format == "tsv", layout.compressed)
    people = read_own(own, Filing(), shape) if own else None
    with progress_bar("synth", rows) as progress, create_log(output, layout, known) as out:
        made = synthesise(shape, known, fresh_texts=True)
        for batch in mixed(made, people, known) if people else made:
            out.write(batch)
            progress(out.rows, rows)
    found = {"rows": out.rows, "users": users, "seed": seed, "seconds": shape.seconds, "fields": layout.fields}
    if people:
        found["mixed_in"] = len(people)
    click.echo(json.dumps(found) if as_json else f"{out.rows:,} records of at most {users:,} people{_said(people)}")
    return 0


def _said(people: OwnLog | None) -> str:
    return f", {len(people):,} records mixed in" if people else ""
