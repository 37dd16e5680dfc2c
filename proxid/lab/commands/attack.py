"""`proxid attack`: who asked what, guessed from a release (DESIGN 14)."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from rich import box
from rich.console import Console
from rich.table import Table

from proxid.errors import InputError
from proxid.lab.attacks.frequent import frequent_attacks
from proxid.lab.attacks.registry import ATTACKS, Options, run_attacks
from proxid.lab.commands.common import (
    FILE,
    OUTPUT,
    describe,
    facts_table,
    filing_options,
    load,
    mechanism_options,
    percent,
    print_json,
    progress_bar,
)
from proxid.lab.load import manifest_of
from proxid.lab.utility.counted.counts import is_counted

ALARM = 0.001
"""Chance of a false alarm of `--check` on mode mix, over all its tests."""
TOLERANCE = 0.01
"""What a claim allows to who learns people's profiles from the release (docs/anonymity.md)."""
TOLERANCE_KNOWING = 0.06
"""The same to who also knows ten records of everybody beforehand."""


@click.command(
    "attack",
    epilog="Example: proxid attack log.tsv released.tsv --attack rl3 --k 10 --level 2 --truth truth.tsv --json",
)
@click.argument("original", type=FILE)
@click.argument("released", type=FILE)
@click.option("--attack", "attacks", multiple=True, type=click.Choice(["all", *ATTACKS]), help="Repeatable [all].")
@mechanism_options
@filing_options
@click.option("--width", type=click.IntRange(1), help="Records to each side that the neighbour attack looks at [k].")
@click.option("--members", default=0, show_default=True, type=click.IntRange(0), help="Colluding members.")
@click.option("--known", default=0, show_default=True, type=click.IntRange(0), help="Records a person known before.")
@click.option("--person", help="Also say how much of this person's was found.")
@click.option("--groups", type=FILE, help="Who could have asked, for homogeneity of what is frequent: user TAB group.")
@click.option("--by-time", is_flag=True, help="Sort the release by its time field first.")
@click.option("--seed", default=0, show_default=True, help="Seed of the attackers' own choices.")
@click.option("--figure", type=OUTPUT, help="Draw the rates: FILE.png and FILE.svg.")
@click.option("--check", is_flag=True, help="Exit 1 when an attack exceeds what the mechanism claims.")
@click.option("--json", "as_json", is_flag=True, help="Print an object.")
def command(original: Path, released: Path, attacks: tuple[str, ...], **options: Any) -> int:
    """Attack RELEASED, made from ORIGINAL, and count right guesses.

    Pair linkage: the guessed user issued this text at some time. Same record: the guessed user issued this very record;
    exact with --truth, else over the records whose text leaves one possible owner. Both over all input, where held
    records count as not linked, and over the records attacked.
    """
    names = tuple(ATTACKS) if not attacks or "all" in attacks else attacks
    frequent = frequent_attacks(original, released, names, options["groups"])
    if is_counted(released):
        return _of_counts(frequent, released, as_json=options["as_json"])
    release = load(original, released, options)
    chosen = Options(
        width=options["width"],
        colluders=options["members"],
        by_time=options["by_time"],
        seed=options["seed"],
        cells=len(names),
        known=options["known"],
    )
    with progress_bar("attacking") as progress:
        found = run_attacks(
            release, [name for name in names if name not in frequent], replace(chosen, progress=progress)
        )
    found |= frequent
    report = {**describe(release), "bound": release.mechanism.bound, "attacks": found}
    if options["figure"]:
        from proxid.lab.studies.release_figures import draw_attacks

        draw_attacks(release.mechanism.bound, report["attacks"], options["figure"])
    if options["as_json"]:
        print_json(report)
    else:
        _print(report)
    return 1 if options["check"] and _exceeds(report["attacks"]) else 0


def _of_counts(frequent: dict[str, Any], released: Path, *, as_json: bool) -> int:
    """A release of items and counts has no records with an owner. Raises InputError where nothing applies."""
    if not frequent:
        raise InputError("the release holds items and their counts, no records of people: see proxid evaluate")
    if as_json:
        print_json({"mechanism": manifest_of(released)["mechanism"], "attacks": frequent})
    for name, found in () if as_json else frequent.items():
        Console().print(facts_table(name, found))
    return 0


def _exceeds(attacks: dict[str, Any]) -> bool:
    """Whether any attack broke the claim: a posterior over its bound, or more right guesses than chance allows."""
    return any(_over(found, ALARM / len(attacks)) for found in attacks.values())


def _over(found: dict[str, Any], level: float) -> bool:
    if "claim" in found:
        return _over_claim(found)
    if not found.get("covered_by_theorem", True):
        return bool(found.get("leaks", 0))
    test = found.get("groups", {}).get("test") or {}
    posterior = found.get("posterior", {})
    low = found.get("same_record", {}).get("of_attacked", {}).get("ci95", [0.0])[0]
    return (
        posterior.get("over_bound", 0) > 0
        or posterior.get("group_faults", 0) > 0
        or (bool(test) and test["p_value"] < level and test["rate"] > test["expected"])
        or (not test and "groups" not in found and "bound" in found and low > found["bound"])
    )


def _over_claim(found: dict[str, Any]) -> bool:
    """Whether an attack that no theorem bounds finds more owners than the release claims, for certain."""
    allowed = found["claim"] + (TOLERANCE_KNOWING if found["known_items"] else TOLERANCE)
    return bool(found["scored"] and found["right"]["ci95"][0] > allowed)


def _print(report: dict[str, Any]) -> None:
    console = Console()
    console.print(facts_table("Release", {name: report[name] for name in report if name != "attacks"}))
    linkage = {name: found for name, found in report["attacks"].items() if "pair_linkage" in found}
    if linkage:
        console.print(_linkage_table(linkage))
    for name, found in report["attacks"].items():
        extra = found if name not in linkage else found.get("posterior")
        if extra:
            console.print(facts_table(name, extra))
    of_person = {name: found["person"] for name, found in report["attacks"].items() if "person" in found}
    if of_person:
        console.print(facts_table("Of the person: records, released and attacked, found", of_person))


def _linkage_table(attacks: dict[str, Any]) -> Table:
    title = "Right guesses, per cent of the attacked (± half of the 95 % interval) and of all input; coincident pairs"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1))
    for column in ("attack", "guessed", "record", "±", "input", "pair", "input", "coinc."):
        table.add_column(column, justify="left" if column == "attack" else "right", no_wrap=True)
    for name, found in attacks.items():
        same, pair = found["same_record"], found["pair_linkage"]
        low, high = same["of_attacked"]["ci95"]
        half = (high - low) / 2 if same["of_attacked"]["records"] else None
        shares = [same["of_attacked"]["value"], half, same["of_input"] and same["of_input"]["value"]]
        shares += [pair["of_attacked"]["value"], pair["of_input"]["value"], pair["coincidences"]]
        table.add_row(name, str(found["guessed"]), *map(percent, shares))
    return table
