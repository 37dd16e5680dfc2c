"""`proxid evaluate`: what is left of a log in its release (DESIGN 14)."""

from pathlib import Path
from typing import Any

import click
from rich.console import Console

from proxid.lab.commands.common import (
    FILE,
    OUTPUT,
    describe,
    facts_table,
    filing_options,
    load,
    mechanism_options,
    print_json,
)
from proxid.lab.utility.counted.counts import counted_utility, is_counted
from proxid.lab.utility.registry import METRICS, evaluate


@click.command("evaluate", epilog="Example: proxid evaluate log.tsv out.tsv --k 10 --level 2 --truth truth.tsv --json")
@click.argument("original", type=FILE)
@click.argument("released", type=FILE)
@click.option("--metric", "metrics", multiple=True, type=click.Choice(["all", *METRICS]), help="Repeatable [all].")
@mechanism_options
@filing_options
@click.option("--figure", type=OUTPUT, help="Draw output and delay over time: FILE.png and FILE.svg.")
@click.option("--json", "as_json", is_flag=True, help="Print an object.")
def command(original: Path, released: Path, metrics: tuple[str, ...], **options: Any) -> int:
    """Measure how useful RELEASED, made from ORIGINAL, still is.

    Share released, delay, what did not come out, distance between people's profiles before and after (EMD over the
    category tree in two normalisations, Jensen-Shannon divergence of topics), memory. Delays need --truth. Of a release
    of items and counts (zealous, partition, clicks, ka): top-j coverage, L1, KL, count differences, index caching.
    """
    if is_counted(released):
        return _counted(original, released, options["as_json"])
    release = load(original, released, options)
    names = () if not metrics or "all" in metrics else metrics
    report = {**describe(release), "metrics": evaluate(release, names)}
    if options["figure"]:
        from proxid.lab.studies.release_figures import draw_release

        draw_release(release, options["figure"])
    if options["as_json"]:
        print_json(report)
        return 0
    console = Console()
    console.print(facts_table("Release", {name: report[name] for name in report if name != "metrics"}))
    for name, found in report["metrics"].items():
        console.print(facts_table(name, found))
    return 0


def _counted(original: Path, released: Path, as_json: bool) -> int:
    """A release of items and counts has measures of its own."""
    found = counted_utility(original, released)
    if as_json:
        print_json(found)
    else:
        Console().print(facts_table("Counts", found))
    return 0
