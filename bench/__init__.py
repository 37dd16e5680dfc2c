"""`proxid bench NAME`: what a part costs, next to a named baseline measured in the same run.

A benchmark is a module or package `bench.NAME` (a dash in NAME is an underscore) with `run(options) -> dict[str,
Figure]`; it is imported only when it is asked for. They come with a checkout alone. Figures
are never checked here: the exit status is 0 when they were measured.
"""

import dataclasses
import importlib
import json
import math
import os
import pkgutil
import platform
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NotRequired, TypedDict, TypeVar

import click
from rich.console import Console
from rich.table import Table

from proxid.errors import InputError

ALL = "all"
_YARDSTICKS = "yardsticks"


class Figure(TypedDict):
    """One figure: its value and unit, the figure it is compared with, the value to reach and in which direction."""

    value: float
    unit: str
    baseline: NotRequired[str | float | None]
    reach: NotRequired[float | None]


T = TypeVar("T")
Run = Callable[[Mapping[str, str]], Mapping[str, Figure]]


def parse_options(kind: type[T], options: Mapping[str, str]) -> T:
    """A benchmark's options from the command line; those of other benchmarks are passed over.

    Args:
        kind: a dataclass whose fields have defaults, each an int, a float or a text.

    Raises:
        InputError: a value is no such number, not finite, or not above 0.
    """
    given = [field for field in dataclasses.fields(kind) if field.name in options]  # type: ignore[arg-type]
    found = {field.name: _value(field.name, options[field.name], type(field.default)) for field in given}
    return kind(**found)


def _value(name: str, text: str, kind: type) -> int | float | str:
    if kind is str:
        return text
    try:
        value = int(text) if kind is int else float(text)
    except ValueError:
        raise InputError(f"{name} is a {'whole ' if kind is int else ''}number") from None
    if not 0 < value < math.inf:
        raise InputError(f"{name} is a number above 0")
    return value


def names() -> list[str]:
    """The benchmarks there are, found by the names of their modules."""
    there = pkgutil.iter_modules([str(Path(__file__).parent)])
    return sorted(module.name.replace("_", "-") for module in there if module.name != _YARDSTICKS)


def find(name: str) -> Run:
    """The `run` of one benchmark; raises InputError for a name that there is none of."""
    if name not in names():
        raise InputError(f"no such benchmark; there are: {', '.join(names())}")
    run: Run = importlib.import_module(f"bench.{name.replace('-', '_')}").run
    return run


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()


@click.command("bench", epilog="Example: proxid bench crypto --json")
@click.argument("name")
@click.option("-o", "--option", "pairs", multiple=True, metavar="KEY=VALUE", help="An option of the benchmark.")
@click.option("--json", "as_json", is_flag=True, help="Print one object.")
def command(name: str, pairs: tuple[str, ...], as_json: bool) -> int:
    """Measure NAME (or `all`) and print its figures."""
    options = _options(pairs)
    for chosen in names() if name == ALL else [name]:
        figures = find(chosen)(options)
        if as_json:
            click.echo(json.dumps({"bench": chosen, "machine": machine(), "figures": dict(figures)}))
        else:
            _print(chosen, figures)
    return 0


def _options(pairs: tuple[str, ...]) -> dict[str, str]:
    split = [pair.partition("=") for pair in pairs]
    if not all(separator for _, separator, _ in split):
        raise InputError("an option of a benchmark is KEY=VALUE")
    return {key: value for key, _, value in split}


def _print(name: str, figures: Mapping[str, Figure]) -> None:
    table = Table(title=f"proxid bench {name}", caption=machine()["processor"])
    for column, justify in (("figure", "left"), ("value", "right"), ("unit", "left"), ("reach", "right")):
        table.add_column(column, justify=justify)  # type: ignore[arg-type]
    table.add_column("baseline")
    for key, figure in figures.items():
        reach, baseline = figure.get("reach"), figure.get("baseline")
        table.add_row(key, f"{figure['value']:,.4g}", figure["unit"], _shown(reach), _shown(baseline))
    Console().print(table)


def _shown(value: str | float | None) -> str:
    return "" if value is None else f"{value:,.4g}" if isinstance(value, float) else str(value)
