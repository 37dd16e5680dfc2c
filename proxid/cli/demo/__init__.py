"""`proxid demo`: the main job, end to end, on real people's utterances (DESIGN 15, 16).

Everything runs as in earnest, on one machine: a gateway and a main service, each a process with its own store; three
third parties and a witness, each a process; the households of this process; an auditor at the end, who demands the
witness's cosignatures and what devices and parties hold.
"""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import uvloop
from rich.console import Console

from proxid.cli.demo.page import page
from proxid.cli.demo.result import show
from proxid.cli.demo.run import run_demo
from proxid.cli.demo.trial import REPORT, DemoOptions, DemoTrial
from proxid.errors import InputError, OutputError
from proxid.runtime.process.ended import run_async


@click.command("demo", epilog="Example: proxid demo --people 120 --seconds 30")
@click.option(
    "--people", default=100, show_default=True, type=click.IntRange(10), help="People to enrol (200 are shipped)."
)
@click.option("--seconds", default=90, show_default=True, type=click.IntRange(1), help="Ask for so long at most.")
@click.option("--rate", default=60.0, show_default=True, type=click.FloatRange(1), help="Requests a second at most.")
@click.option("--k", default=3, show_default=True, type=click.IntRange(2), help="Anonymity parameter.")
@click.option(
    "--form",
    default="split",
    show_default=True,
    type=click.Choice(["split", "pairs"]),
    help="split: who asked apart from what was asked; pairs: groups.",
)
@click.option("--seed", default=7, show_default=True, type=int, help="Of who repeats what, and when.")
@click.option(
    "--file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Utterances of your own, JSONL or TSV, replayed as they are.",
)
@click.option(
    "--changes",
    default=0.0,
    show_default=True,
    type=click.FloatRange(0, 1),
    help="Share of people who change their consent in the middle.",
)
@click.option("--dir", "directory", type=click.Path(file_okay=False, path_type=Path), help="Keep everything here.")
@click.option(
    "--html", "pages", type=click.Path(dir_okay=False, path_type=Path),
    help="Write what each party knew as a page, and beside it the audit's report (also into --dir).",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the result as an object.")
def command(
    people: int, seconds: int, rate: float, k: int, form: str, seed: int, file: Path | None, changes: float,
    directory: Path | None, pages: Path | None, as_json: bool,
) -> int:  # fmt: skip
    """Run every part on this machine and watch the main job.

    Enrols people of the shipped utterances, replays what they said, shows how their records are released and
    delivered, lets the auditor check everything, and prints the first rows of a third party's feed: who asked about
    what, and beside it what was asked; and what each party knew of one request. An epoch lasts about a minute here,
    not a day, and the whole takes two or three. Exit status 1 if the audit finds a violation.
    """
    options = DemoOptions(people, seconds, rate, k, seed, file, changes, form)
    with _folder(directory) as folder:
        result = run_async(run_demo(DemoTrial(folder, options), Console(stderr=True)), uvloop.run)
        _write(folder / "demo.html", page(result, REPORT))
        if pages is not None:
            report = pages.with_name(f"{pages.stem}-audit{pages.suffix}")
            _write(report, (folder / REPORT).read_text("utf-8"))
            _write(pages, page(result, report.name))
    if as_json:
        click.echo(json.dumps(result.as_dict()))
    else:
        show(result, Console())
        if written := pages or (directory and directory / "demo.html"):
            click.echo(f"the same as a page: {written}")
        click.echo(result.last_line())
    return 0 if result.clean else 1


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError:
        raise OutputError(f"{path}: cannot be written") from None


@contextmanager
def _folder(directory: Path | None) -> Iterator[Path]:
    """The folder that was asked for, or a temporary one that is deleted at the end."""
    if directory is None:
        with tempfile.TemporaryDirectory(prefix="proxid-demo-") as temporary:
            yield Path(temporary)
        return
    if directory.exists() and any(directory.iterdir()):
        raise InputError("--dir: the folder is not empty")
    directory.mkdir(parents=True, exist_ok=True)
    yield directory
