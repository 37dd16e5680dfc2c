"""`proxid bench evidence`: how fast an audit is, what evidence costs the request path, how large it is.

The audit reads the evidence of a simulated day from disk, in a process of its own and with as many further ones as
`proxid audit` has there, all nine checks but the pipeline's (which is the classifier's speed). Next to its events a
second stands the rate of bare Ed25519 verifies by processor time, made between the events: `audit_events_per_verify`
is the ratio. The same in one process alone (`audit_events_per_verify_alone`), by its processor time, is told of half of
the day, with the share of it that is spent in signature checks, by a clock around libsodium's verify, and how many they
are. Memory, of all processes, is measured at half of the day too, so that it can be told for a million events: what is
larger than that is measured, what is smaller goes on as from half to all of it (SQLite's cache, 2 MB, is full long
before). With `grow=1` also at a tenth and a quarter. The request path is measured with the evidence writer and without
(plain events left in the store), on two trials in turns.

Options: events (100000), people (300), workers (further processes that check signatures; -1, as `proxid audit`), grow
(0), requests (a round, 1500), rounds (3), path (1; 0 leaves the request path out).
"""

import asyncio
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Final

import uvloop

from bench import Figure
from bench.evidence.audit import Measured, measure, moment_of
from bench.evidence.day import Day
from bench.gateway import CONCURRENCY, _processor_seconds
from device_sim.commands.common import open_households
from device_sim.load import drive, prepare
from proxid.cli.demo.trial import DemoOptions, DemoTrial
from proxid.errors import InputError

COST_REACH: Final = 0.15
PER_VERIFY_REACH, SIGNATURES_REACH, MEMORY_REACH = 0.17, 2.3, 150.0
_SHARES: Final = (0.1, 0.25, 0.5, 1.0)
_MILLION: Final = 1_000_000
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


def run(options: Mapping[str, str]) -> dict[str, Figure]:
    """Measure; raises InputError for an option that is no number."""
    try:
        numbers = {
            "events": 100_000, "people": 300, "workers": -1, "grow": 0, "requests": 1500, "rounds": 3, "path": 1,
        }  # fmt: skip
        numbers |= {key: int(value) for key, value in options.items() if key in numbers}
    except ValueError:
        raise InputError("an option of this benchmark is a number") from None
    with tempfile.TemporaryDirectory(prefix="proxid-bench-") as folder:
        figures = _audit(Path(folder), numbers)
    if numbers["path"]:
        figures |= _path(numbers["requests"], numbers["rounds"])
    return figures


def _audit(folder: Path, numbers: Mapping[str, int]) -> dict[str, Figure]:
    day = Day(folder, people=numbers["people"])
    moments = []
    for share in _SHARES if numbers["grow"] else _SHARES[2:]:
        day.run(int(share * numbers["events"]))
        moments.append(moment_of(day))
    if not day.requests:
        raise InputError("events: too few for so many people")
    size = sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())
    workers = numbers["workers"] if numbers["workers"] >= 0 else None
    found = [measure(folder, numbers["people"], moment, workers) for moment in moments]
    alone = measure(folder, numbers["people"], moments[-2], 0)
    peaks = [(moment.events, cost.peak) for moment, cost in zip(moments, found, strict=True)]
    return (
        _speed(day.events, found[-1])
        | _alone(moments[-2].events, alone)
        | {
            "evidence_bytes_per_request": _figure(size / day.requests, "bytes on both services' disks"),
            **{
                f"audit_memory_mb_at_{events}": _figure(peak, "MB at most", f"before, {found[-1].before:,.0f} MB")
                for events, peak in peaks
            },
            "audit_memory_mb_at_1m_events": _at_a_million(
                [(m.events, c.peak) for m, c in zip(moments, found, strict=True)]
            ),
        }
    )


def _at_a_million(peaks: Sequence[tuple[int, float]]) -> Figure:
    """Of (events, MB at most), rising."""
    (half, before), (events, peak) = peaks[-2:]
    if events >= _MILLION:
        return _figure(peak, "MB at most", "measured", MEMORY_REACH)
    told = peak + max(peak - before, 0.0) * (_MILLION - events) / (events - half)
    return _figure(told, "MB at most", f"as from {half:,} to {events:,} events", MEMORY_REACH)


def _speed(events: int, cost: Measured) -> dict[str, Figure]:
    bare = 1 / cost.bare
    baseline = f"bare Ed25519 verify, {bare:,.0f}/s"
    return {
        "audit_events_per_s": _figure(events / cost.seconds, "1/s", baseline),
        "audit_events_per_verify": _figure(
            events / cost.seconds / bare, "events audited a bare verify", baseline, PER_VERIFY_REACH
        ),
        "ed25519_verify_per_s": _figure(bare, "1/s"),
        "events_audited": _figure(float(events), "events"),
    }


def _alone(events: int, cost: Measured) -> dict[str, Figure]:
    """One process by its processor time, which says more than the clock on a machine that does other things too."""
    baseline = f"bare Ed25519 verify, {1 / cost.bare:,.0f}/s"
    return {
        "audit_events_per_processor_s_alone": _figure(events / cost.processor, "1/s", baseline),
        "audit_events_per_verify_alone": _figure(
            events / cost.processor * cost.bare, "events audited a bare verify", baseline
        ),
        "audit_share_in_signatures": _figure(cost.in_signatures / cost.seconds, "share of time"),
        "audit_signatures_per_event": _figure(cost.signatures / events, "checked", reach=SIGNATURES_REACH),
    }


def _path(requests: int, rounds: int) -> dict[str, Figure]:
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
                with _python_path(plain if name == "without" else None):
                    trial.start()
            rates, busy = uvloop.run(_measure(trials, requests, rounds))
        finally:
            for trial in trials.values():
                trial.stop()
    ratios = [w / p for w, p in zip(rates["with"], rates["without"], strict=True)]
    baseline = f"plain events, {median(rates['without']):,.0f}/s"
    return {
        "request_path_cost": _figure(1 - median(ratios), "share of throughput", baseline, COST_REACH),
        "throughput_with_evidence_per_s": _figure(median(rates["with"]), "1/s", baseline),
        # On a machine that does other things too, processor time says more than throughput.
        "request_path_processor_cost": _figure(
            1 - busy["without"] / busy["with"], "share of both services' processor time",
            f"plain events, {1e6 * busy['without'] / (rounds * requests):,.0f} µs a request",
        ),
    }  # fmt: skip


@contextmanager
def _python_path(folder: Path | None) -> Iterator[None]:
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


async def _measure(
    trials: Mapping[str, DemoTrial], requests: int, rounds: int
) -> tuple[dict[str, list[float]], dict[str, float]]:
    rates: dict[str, list[float]] = {name: [] for name in trials}
    busy = dict.fromkeys(trials, 0.0)
    for turn in range(rounds + 1):
        for name, trial in trials.items():
            async with open_households(trial.devices()) as speakers:
                if turn == 0:
                    for user, household in speakers.items():
                        await household.consent(user, "everything")
                count = requests if turn else requests // 4  # warm up
                prepared = await prepare(speakers, count)
                before = _busy(trial)
                done = await drive(trial.devices()[0], prepared, CONCURRENCY)
                if turn:
                    await asyncio.sleep(1.0)  # what the writer still has to do counts too
                    rates[name].append(done.per_second)
                    busy[name] += _busy(trial) - before
    return rates, busy


def _figure(value: float, unit: str, baseline: str | None = None, reach: float | None = None) -> Figure:
    return {"value": round(value, 4), "unit": unit, "baseline": baseline, "reach": reach}
