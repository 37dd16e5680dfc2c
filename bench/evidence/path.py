"""What evidence costs the request path: two trials in turns, one of them without an evidence writer."""

import asyncio
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Final

import uvloop

from bench import Figure
from bench.gateway import CONCURRENCY, _processor_seconds
from device_sim.commands.common import open_households
from device_sim.load import drive, prepare
from proxid.cli.demo.trial import SLOT_SECONDS, DemoOptions, DemoTrial

COST_REACH: Final = 0.15
_SLOT: Final = SLOT_SECONDS[-1]
_SHOWN: Final = 4.0
"""Seconds after a slot has closed in which its records are made, checked, sent and acknowledged."""
_REST: Final = 10.0
"""Seconds in which it is measured what a trial costs that is asked nothing."""
_PLAIN: Final = """
import asyncio
from proxid.runtime.evidence_log.writer import EvidenceWriter
async def run(self):
    while True:
        await asyncio.sleep(3600)
EvidenceWriter.run = run
from proxid.runtime.evidence_log.promising import Promises
async def behind(self):
    return 0.0  # it would refuse what is new after half the merge delay
Promises._behind = behind
"""
"""What a service without an evidence writer is: events stay in its store as they are."""


def figure(value: float, unit: str, baseline: str | None = None, reach: float | None = None) -> Figure:
    """One of this benchmark's."""
    return {"value": round(value, 4), "unit": unit, "baseline": baseline, "reach": reach}


def path(requests: int, rounds: int) -> dict[str, Figure]:
    """Measure; so many rounds of so many requests each."""
    with tempfile.TemporaryDirectory(prefix="proxid-bench-") as folder:
        plain = Path(folder) / "plain"
        plain.mkdir()
        (plain / "sitecustomize.py").write_text(_PLAIN, encoding="utf-8")
        chosen = DemoOptions(people=40, k=10, form="pairs")
        trials = {name: DemoTrial(Path(folder) / name, chosen) for name in ("with", "without")}
        try:
            for name, trial in trials.items():
                trial.folder.mkdir()
                trial.provision()
                with python_path(plain if name == "without" else None):
                    trial.start()
            rates, busy = uvloop.run(_measure(trials, requests, rounds))
        finally:
            for trial in trials.values():
                trial.stop()
    ratios = [w / p for w, p in zip(rates["with"], rates["without"], strict=True)]
    baseline = f"plain events, {median(rates['without']):,.0f}/s"
    return {
        "request_path_cost": figure(1 - median(ratios), "share of throughput", baseline, COST_REACH),
        "throughput_with_evidence_per_s": figure(median(rates["with"]), "1/s", baseline),
        # On a machine that does other things too, processor time says more than throughput.
        "request_path_processor_cost": figure(
            1 - busy["without"] / busy["with"], "share of both services' processor time",
            f"plain events, {1e6 * busy['without'] / (rounds * requests):,.0f} µs a request",
        ),
    }  # fmt: skip


@contextmanager
def python_path(folder: Path | None) -> Iterator[None]:
    """Processes started within find this folder's modules first."""
    before = os.environ.get("PYTHONPATH")
    if folder is not None:
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(folder), before)))
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("PYTHONPATH", None)
        else:
            os.environ["PYTHONPATH"] = before


def _busy(trial: DemoTrial) -> float:
    """Processor seconds of both services and their stores so far."""
    return sum(spent for part, spent in _processor_seconds(trial).items() if part != "client")


async def _quiet() -> None:
    """Until what was asked is with the parties: what waits for its slot comes when that closes."""
    await asyncio.sleep(_SLOT - time.time() % _SLOT + _SHOWN)


async def _measure(
    trials: Mapping[str, DemoTrial], requests: int, rounds: int
) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Of each trial the requests a second of its rounds, and processor seconds in all, less what it takes at rest."""
    rates: dict[str, list[float]] = {name: [] for name in trials}
    busy, seconds = dict.fromkeys(trials, 0.0), dict.fromkeys(trials, 0.0)
    for turn in range(rounds + 1):
        # A machine that gets slower or faster meanwhile does so for both: each goes first in every other round.
        for name, trial in list(trials.items())[:: 1 if turn % 2 else -1]:
            async with open_households(trial.devices()) as speakers:
                if turn == 0:
                    for user, household in speakers.items():
                        await household.consent(user, "everything")
                count = requests if turn else requests // 4  # warm up
                prepared = await prepare(speakers, count)
                before, begun = _busy(trial), time.monotonic()
                done = await drive(trial.devices()[0], prepared, CONCURRENCY)
                await _quiet()  # what comes later is this round's, and would be in the way of the other trial's
                if turn:
                    rates[name].append(done.per_second)
                    busy[name] += _busy(trial) - before
                    seconds[name] += time.monotonic() - begun
    resting = {name: _busy(trial) for name, trial in trials.items()}
    await asyncio.sleep(_REST)
    for name, trial in trials.items():
        busy[name] -= (_busy(trial) - resting[name]) * seconds[name] / _REST
    return rates, busy
