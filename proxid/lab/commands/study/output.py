"""What every study leaves in its folder: figures, the numbers as JSON, a manifest."""

import hashlib
import json
import platform
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console

from proxid import __version__
from proxid.lab.commands.common import FILE, said_columns_of
from proxid.lab.logs.whole import whole_file

BYTES_A_RECORD: Final = 60
"""Of a log of queries, about."""


def counted_study_options(*own: Callable[..., Any]) -> Callable[..., Any]:
    """What a study of counted releases takes: a log or a synthetic one, its own options, a folder, --json."""
    options = [
        click.argument("log", type=FILE, required=False, callback=said_columns_of),
        click.option("--rows", type=click.IntRange(1), default=300_000, show_default=True, help="Synthetic records."),
        click.option("--users", type=click.IntRange(2), default=12_000, show_default=True, help="Synthetic people."),
        click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of the synthetic log."),
        *own,
        click.option("--out", type=click.Path(path_type=Path), default="study", show_default=True, help="Folder."),
        click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON."),
    ]

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def log_of(log: Path | None, rows: int, seed: int) -> dict[str, Any]:
    """Which log was studied, for the manifest."""
    return {"log": "synthetic", "rows": rows, "seed": seed} if log is None else {"log": "file"}


def rows_of(log: Path | None, rows: int) -> int:
    """Records of a log, from its size, or of the synthetic one."""
    return rows if log is None else log.stat().st_size // BYTES_A_RECORD


def say_duration(seconds: float, jobs: int = 1) -> None:
    """Say on stderr how long a study takes where nothing else runs.

    Args:
        seconds: of one core. jobs: processes that share them.
    """
    minutes = seconds / jobs / 60
    said = f"{minutes:.0f} min" if minutes >= 1.5 else f"{60 * minutes:.0f} s"
    Console(stderr=True).print(f"about {said} where nothing else runs", style="dim")


def print_remarks(console: Console, remarks: Sequence[str]) -> None:
    """Where figures differ from the paper's, and why, as far as it is known."""
    for remark in remarks:
        console.print(f"* {remark}", style="dim", highlight=False)


def write_study(
    folder: Path, name: str, found: Mapping[str, Any], parameters: Mapping[str, Any], figures: Sequence[Path]
) -> list[Path]:
    """Write `name.json` and `name.manifest.json` beside the figures; returns every file of the study."""
    folder.mkdir(parents=True, exist_ok=True)
    numbers = folder / f"{name}.json"
    _write(numbers, found)
    files = [numbers, *figures]
    manifest = {
        "study": name, "version": __version__, "python": platform.python_version(), "parameters": dict(parameters),
        "files": {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files},
    }  # fmt: skip
    target = folder / f"{name}.manifest.json"
    _write(target, manifest)
    return [*files, target]


def _write(path: Path, value: Mapping[str, Any]) -> None:
    with whole_file(path) as file:
        file.write((json.dumps(value, indent=1, sort_keys=True) + "\n").encode())
