"""`proxid device replay`: a file of utterances through the households' devices (DESIGN 15)."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click
import uvloop
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from device_sim.commands.common import CONFIGS, JSON, load_households, open_households
from device_sim.corpus import Event, read_events, shipped_events
from device_sim.replay import Pace, Replay, Summary
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.household import Household
from proxid.errors import EpochError, InputError, RefusedError, UpstreamError
from proxid.runtime.process.ended import run_async

_MAX_RANGES: Final = 100


@click.command("replay", epilog="Example: proxid device replay massive_en.tsv --config trial/devices --rate 50")
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@CONFIGS
@click.option(
    "--rate", type=click.FloatRange(0, min_open=True), help="Requests a second (default: as fast as answers come)."
)
@click.option("--speed", type=click.FloatRange(0, min_open=True), help="Follow the file's times, so many times faster.")
@click.option("--concurrency", default=16, show_default=True, type=click.IntRange(1, 1024), help="Requests at once.")
@click.option("--limit", type=click.IntRange(1), help="At most so many events.")
@click.option("--bundle", help="Everybody first chooses this bundle.")
@JSON
def replay(
    file: Path | None, paths: tuple[Path, ...], rate: float | None, speed: float | None, concurrency: int,
    limit: int | None, bundle: str | None, as_json: bool,
) -> int:  # fmt: skip
    """Replay FILE (JSONL or TSV; the shipped people without one); speakers are recognised by the user in it.

    Prints what was answered, refused (by code) and retried. People of the file who are enrolled in no household are
    left out; their lines are printed. Exit status 1 if anything failed or was left out.
    """
    events = list(read_events(file, lambda said: click.echo(said, err=True))) if file is not None else shipped_events()
    configs = load_households(paths)
    summary, unsent = run_async(_replay(events[:limit], configs, Pace(concurrency, rate, speed), bundle), uvloop.run)
    done = {
        **summary.as_dict(), "unknown_people": len({event.user for event in unsent}), "unsent": len(unsent),
        "unsent_lines": ranges([event.line for event in unsent]),
    }  # fmt: skip
    if as_json:
        click.echo(json.dumps(done))
    else:
        _print(done)
    return 1 if summary.failed or summary.refused or unsent else 0


async def _replay(
    events: Sequence[Event], configs: Sequence[DeviceConfig], pace: Pace, bundle: str | None
) -> tuple[Summary, list[Event]]:
    async with open_households(configs) as speakers:
        known = [event for event in events if event.user in speakers]
        unsent = [event for event in events if event.user not in speakers]
        with _progress() as progress:
            task = progress.add_task("replay", total=len(known))
            run = Replay(speakers, pace, lambda _: progress.advance(task))
            if bundle is not None:
                users = list(dict.fromkeys(event.user for event in known))
                await consent_all(speakers, users, bundle, pace.concurrency, run.summary)
            return await run.run(known), unsent


async def consent_all(
    speakers: Mapping[str, Household], users: Sequence[str], bundle: str, concurrency: int, summary: Summary
) -> None:
    """Let everybody choose a bundle; whoever is refused is counted, like whoever's question is."""
    limit = asyncio.Semaphore(concurrency)

    async def one(user: str) -> None:
        async with limit:
            try:
                await speakers[user].consent(user, bundle)
                summary.consents += 1
            except RefusedError as error:
                summary.refused[error.remote.value] += 1
            except (InputError, UpstreamError, EpochError) as error:
                summary.failed[error.code.value] += 1

    await asyncio.gather(*(one(user) for user in users))


def ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers as ranges, `2-5, 9`; after a hundred ranges only that there are more."""
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    said = [f"{first}-{last}" if last > first else str(first) for first, last in found[:_MAX_RANGES]]
    return ", ".join(said + ["…"] * (len(found) > _MAX_RANGES))


def _progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)


def _print(done: Mapping[str, Any]) -> None:
    table = Table(show_header=False, box=None)
    for key, value in done.items():
        table.add_row(key, json.dumps(value) if isinstance(value, dict) else str(value))
    Console().print(table)
