"""`proxid bench gateway`: the full request path, next to a bare two-hop gRPC echo in the same run.

The trial of the demo is started: gateway and main service as processes of their own, mutual TLS on both hops, a store
each with `appendfsync always`, evidence and classifier on. Requests are sealed and signed before the clock starts and
answers are verified after it stops, so that what is measured is the services; the echo's client does nothing either.
Third parties, who open and check what they get on machines of their own, are not started: groups are released, verified
and put into their feeds, and stay there.
Rounds of path and echo take turns, with the same sizes and 32 requests under way; figures are medians over the rounds.
What runs beside the path must keep up: `left_unclassified` requests and `left_events` events are what a round left.

With `-o part=where` it prints where the processor time of a request goes instead, stage by stage (`where.py`).

Options: requests (a round, 3000), rounds (3), workers (1), people (40), echo_seconds (4), concurrency (32).
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final

import uvloop

from bench import Figure, parse_options
from bench.crypto import crypto_figures
from bench.gateway.where import Sampled
from device_sim.commands.common import open_households
from device_sim.load import Prepared, Round, drive, prepare
from gateway.config import GatewayConfig
from gateway.server import MAX_STREAMS
from gateway.store.steps import PREFIX
from main_service.config import MainServiceConfig
from main_service.store.counts import CountStore
from main_service.store.library import library
from proxid.cli.demo.trial import DemoOptions, DemoTrial
from proxid.errors import InputError
from proxid.runtime.config import load
from proxid.runtime.evidence_log.stream import events_waiting
from proxid.runtime.folder import socket_path
from proxid.runtime.store import connect

CONCURRENCY: Final = 32
REACH: Final = 0.40
_ECHO: Final = Path(__file__).resolve().parent.parent / "yardsticks/two_hop_echo.py"


@dataclass(frozen=True, slots=True)
class Options:
    """See the module."""

    requests: int = 3000
    rounds: int = 3
    workers: int = 1
    people: int = 40
    echo_seconds: float = 4.0
    concurrency: int = CONCURRENCY

    @classmethod
    def parse(cls, options: Mapping[str, str]) -> "Options":
        """Options from the command line; raises InputError."""
        chosen = parse_options(cls, options)
        if chosen.concurrency > MAX_STREAMS:
            raise InputError(f"concurrency is at most {MAX_STREAMS}: the gateway takes no more calls of one connection")
        return chosen


def run(options: Mapping[str, str]) -> dict[str, Figure]:
    """Measure; raises InputError if the echo's file is not there (it comes with the repository)."""
    chosen, part = Options.parse(options), options.get("part", "rate")
    if part not in ("rate", "where"):
        raise InputError("part is `rate` or `where`")
    if not _ECHO.exists():
        raise InputError("bench/yardsticks/two_hop_echo.py is needed: run from a checkout of the repository")
    with tempfile.TemporaryDirectory(prefix="proxid-bench-") as folder:
        os.environ["PROXID_GATEWAY__WORKERS"] = os.environ["PROXID_MAIN_SERVICE__WORKERS"] = str(chosen.workers)
        trial = DemoTrial(Path(folder), DemoOptions(people=chosen.people, k=10, form="pairs"))
        trial.provision()
        sampled = Sampled(Path(folder)) if part == "where" else nullcontext()
        with sampled:
            try:
                trial.start_services()
                measured = uvloop.run(_measure(trial, chosen, echo=part == "rate"))
            finally:
                trial.stop()
        if isinstance(sampled, Sampled):
            return sampled.figures(measured.busy, measured.windows)
    return _figures(measured, chosen)


@dataclass(frozen=True, slots=True)
class _Measured:
    """Rounds and their echoes, processor time a request by part (µs), the most that a round left undone.

    Attributes:
        windows: when each round began and ended, Unix seconds.
    """

    rounds: list[Round]
    echoes: list[dict[str, Any]]
    busy: dict[str, float]
    left: dict[str, int]
    windows: list[tuple[float, float]]


async def _measure(trial: DemoTrial, options: Options, echo: bool = True) -> _Measured:
    done = _Measured([], [], {}, {}, [])

    answered = 0.0

    async def look() -> None:
        nonlocal answered
        answered = time.process_time()  # the client verifies what it got after the clock has stopped
        for name, count in (await _left(trial)).items():
            done.left[name] = max(done.left.get(name, 0), count)

    async with open_households(trial.devices()) as speakers:
        for user, household in speakers.items():
            await household.consent(user, "everything")
        config = trial.devices()[0]
        await drive(config, await prepare(speakers, 1 + options.requests // 4), options.concurrency)  # warm up
        for _ in range(options.rounds):
            prepared = await prepare(speakers, options.requests)
            before, begun = _processor_seconds(trial), time.time()
            done.rounds.append(await drive(config, prepared, options.concurrency, look))
            after = _processor_seconds(trial) | {"client": answered}
            done.windows.append((begun, time.time()))
            for name in after:
                spent = 1e6 * (after[name] - before.get(name, 0.0)) / options.requests
                done.busy[name] = done.busy.get(name, 0.0) + spent / options.rounds
            if echo:
                done.echoes.append(await asyncio.to_thread(_echo, prepared, done.rounds[-1], options))
    return done


async def _left(trial: DemoTrial) -> dict[str, int]:
    """What the services have not done yet of what they do beside the path."""
    gateway, main_service = [
        connect(f"unix://{socket_path(load(kind, trial.folder / f'{role}/{role}.toml').data_dir / 'store')}")
        for role, kind in (("gateway", GatewayConfig), ("main-service", MainServiceConfig))
    ]
    try:
        counts = CountStore(library(main_service), main_service)
        events = await counts.events_waiting() + await events_waiting(gateway, PREFIX)
        return {"left_unclassified": await counts.unclassified(), "left_events": events}
    finally:
        await gateway.aclose()
        await main_service.aclose()


def _echo(prepared: Sequence[Prepared], done: Round, options: Options) -> dict[str, Any]:
    command = [sys.executable, str(_ECHO), "--request", str(prepared[0].size), "--response", str(done.answer_size),
               "--concurrency", str(options.concurrency), "--seconds", str(options.echo_seconds)]  # fmt: skip
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return found


def _processor_seconds(trial: DemoTrial) -> dict[str, float]:
    """Processor time by part, read from /proc: the services with their workers, their stores, this client."""
    spent = {"client": time.process_time()}
    tick = os.sysconf("SC_CLK_TCK")
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes().decode("utf-8", "replace")
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if str(trial.folder) not in line:
            continue
        for name in ("gateway", "main-service"):
            if f"{trial.folder}/{name}/" in line:
                part = f"{name} store" if "server" in line.split("\0")[0] else name
                spent[part] = spent.get(part, 0.0) + (int(fields[11]) + int(fields[12])) / tick
    return spent


def _figures(measured: _Measured, options: Options) -> dict[str, Figure]:
    rounds, echoes = measured.rounds, measured.echoes
    echo = f"two-hop echo, {median(e['requests_per_s'] for e in echoes):,.0f}/s"

    def ratio(ours: str, theirs: str) -> float:
        return float(median(getattr(r, ours) / e[theirs] for r, e in zip(rounds, echoes, strict=True)))

    figures: dict[str, Figure] = {
        "throughput_ratio_to_echo": _figure(ratio("per_second", "requests_per_s"), "ratio", echo, REACH),
        "throughput_per_s": _figure(median(r.per_second for r in rounds), "1/s", echo),
        "p50_ms": _figure(median(r.p50_ms for r in rounds), "ms"),
        "p99_ms": _figure(median(r.p99_ms for r in rounds), "ms"),
        "p50_ratio_to_echo": _figure(ratio("p50_ms", "p50_ms"), "ratio", echo),
        "p99_ratio_to_echo": _figure(ratio("p99_ms", "p99_ms"), "ratio", echo),
        "refused": _figure(float(sum(r.failed for r in rounds)), "requests"),
        "workers": _figure(float(options.workers), "processes a service"),
    }
    for name, count in measured.left.items():
        figures[name] = _figure(float(count), "requests" if name == "left_unclassified" else "events")
    for part, spent in sorted(measured.busy.items()):
        figures[f"cpu_us_{part.replace(' ', '_').replace('-', '_')}"] = _figure(spent, "µs processor time a request")
    crypto = crypto_figures()
    for name in ("sign_us", "sanitize_us", "verify_us", "ed25519_verify_us"):
        figures[name] = crypto[name]
    return figures


def _figure(value: float, unit: str, baseline: str | None = None, reach: float | None = None) -> Figure:
    return {"value": round(value, 4), "unit": unit, "baseline": baseline, "reach": reach}
