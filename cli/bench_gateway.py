"""`proxid bench gateway`: the full request path, next to a bare two-hop gRPC echo in the same run.

The house of the demo is started: gateway and main service as processes of their own, mutual TLS on both hops, a store
each with `appendfsync always`, evidence and classifier on. Requests are sealed and signed before the clock starts and
answers are verified after it stops, so that what is measured is the services; the echo's client does nothing either.
Third parties, who open and check what they get on machines of their own, are not started: groups are released, verified
and put into their feeds, and stay there.
Rounds of path and echo take turns, with the same sizes and 32 requests under way; figures are medians over the rounds.

Options: requests (a round, 3000), rounds (3), workers (1), people (40), echo_seconds (4).
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final

import uvloop

from cli.bench import Figure
from cli.bench_crypto import crypto_figures
from cli.demo_house import DemoHouse, DemoOptions
from cli.device_common import open_households
from device_sim.load import Prepared, Round, drive, prepare
from proxid.errors import InputError

CONCURRENCY: Final = 32
REACH: Final = 0.30
_ECHO: Final = Path(__file__).resolve().parent.parent / "tests/bench/two_hop_echo.py"


@dataclass(frozen=True, slots=True)
class Options:
    """See the module."""

    requests: int = 3000
    rounds: int = 3
    workers: int = 1
    people: int = 40
    echo_seconds: float = 4.0

    @classmethod
    def parse(cls, options: Mapping[str, str]) -> "Options":
        """Options from the command line; raises InputError."""
        known = {"requests": int, "rounds": int, "workers": int, "people": int, "echo_seconds": float}
        try:
            return cls(**{key: known[key](value) for key, value in options.items() if key in known})
        except ValueError:
            raise InputError("an option of this benchmark is a number") from None


def run(options: Mapping[str, str]) -> dict[str, Figure]:
    """Measure; raises InputError if the echo's file is not there (it comes with the repository)."""
    chosen = Options.parse(options)
    if not _ECHO.exists():
        raise InputError("tests/bench/two_hop_echo.py is needed: run from a checkout of the repository")
    with tempfile.TemporaryDirectory(prefix="proxid-bench-") as folder:
        os.environ["PROXID_GATEWAY__WORKERS"] = os.environ["PROXID_MAIN_SERVICE__WORKERS"] = str(chosen.workers)
        house = DemoHouse(Path(folder), DemoOptions(people=chosen.people, k=10))
        house.provision()
        try:
            house.start_services()
            rounds, echoes, busy = uvloop.run(_measure(house, chosen))
        finally:
            house.stop()
    return _figures(rounds, echoes, busy, chosen)


async def _measure(house: DemoHouse, options: Options) -> tuple[list[Round], list[dict[str, Any]], dict[str, float]]:
    rounds, echoes, busy = [], [], dict[str, float]()
    async with open_households(house.devices()) as speakers:
        for user, household in speakers.items():
            await household.consent(user, "everything")
        config = house.devices()[0]
        await drive(config, await prepare(speakers, options.requests // 4), CONCURRENCY)  # warm up
        for _ in range(options.rounds):
            prepared = await prepare(speakers, options.requests)
            before = _processor_seconds(house)
            rounds.append(await drive(config, prepared, CONCURRENCY))
            after = _processor_seconds(house)
            for name in after:
                spent = 1e6 * (after[name] - before.get(name, 0.0)) / options.requests
                busy[name] = busy.get(name, 0.0) + spent / options.rounds
            echoes.append(await asyncio.to_thread(_echo, prepared, rounds[-1], options))
    return rounds, echoes, busy


def _echo(prepared: Sequence[Prepared], done: Round, options: Options) -> dict[str, Any]:
    command = [sys.executable, str(_ECHO), "--request", str(prepared[0].size), "--response", str(done.answer_size),
               "--concurrency", str(CONCURRENCY), "--seconds", str(options.echo_seconds)]  # fmt: skip
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return found


def _processor_seconds(house: DemoHouse) -> dict[str, float]:
    """Processor time by part, read from /proc: the services with their workers, their stores, this client."""
    spent = {"client": time.process_time()}
    tick = os.sysconf("SC_CLK_TCK")
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes().decode("utf-8", "replace")
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if str(house.folder) not in line:
            continue
        for name in ("gateway", "main-service"):
            if f"{house.folder}/{name}/" in line:
                part = f"{name} store" if "server" in line.split("\0")[0] else name
                spent[part] = spent.get(part, 0.0) + (int(fields[11]) + int(fields[12])) / tick
    return spent


def _figures(
    rounds: Sequence[Round], echoes: Sequence[dict[str, Any]], busy: Mapping[str, float], options: Options
) -> dict[str, Figure]:
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
    for part, spent in sorted(busy.items()):
        figures[f"cpu_us_{part.replace(' ', '_').replace('-', '_')}"] = _figure(spent, "µs processor time a request")
    crypto = crypto_figures()
    for name in ("sign_us", "sanitize_us", "verify_us", "ed25519_verify_us"):
        figures[name] = crypto[name]
    return figures


def _figure(value: float, unit: str, baseline: str | None = None, reach: float | None = None) -> Figure:
    return {"value": round(value, 4), "unit": unit, "baseline": baseline, "reach": reach}
