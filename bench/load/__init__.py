"""`proxid bench load`: what a house answers when more is asked than it can do, and what stays of what it answered.

The trial of the demo is started, without third parties at first. Gateway and main service are held to a share of the
processor: every 20 ms they stand still (SIGSTOP) when they have had it, so that the devices, which this one process
plays, never are the bottleneck. What they then answer, 64 questions under way, is the capacity; everything else is
relative to it.

    capacity_per_s                    before all else and after it, the mean: a machine's speed may change meanwhile
    refusals_per_answer_at_capacity   while that is measured, the client's own with them: with many, as of a house that
                                      answers a few dozen a second, it can do more, and ratios to it are too good
    goodput_ratio_at_3x               devices ask three times the capacity, with the library's retries, for `seconds`;
                                      answers within 4 s of the question, in each second from the fifth on, over the
                                      capacity
    goodput_ratio_worst_second        of these seconds the worst
    refusal_ms_p99                    from a request's sending to `overloaded`, in these seconds
    recovery_s                        from then on half the capacity is asked: the last moment at which more than one
                                      question in twenty of a second was not answered in time
    honest_p99_ratio_beside_abuse     answers to a fifth of the capacity while 4 clients of one household send the
                                      largest messages without a pause, and while processes that burn as much of the
                                      processor do nothing else
    evidence_bytes_per_refusal        both logs' files, while 24 people over their limit ask ten times a second, for
                                      `refusal_seconds` of one minute
    gateway_store_bytes_per_request   memory of the gateway's store that a request leaves when parties have acknowledged
                                      all, and what ends by itself (nonces, answers, rates) has ended
    restart_s_at_100k_people          from the start of a gateway to serving, with `people` linked in its store; the
                                      median of five

Options: seconds (60), share (0.3), abuse_seconds (40), refusal_seconds (40), requests (1000, for the store),
people (100000), part (`overload`: all of this; `soak`, `growth`, `idle`: the modules of these names say what), streams
(500, of `idle`).
"""

import asyncio
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import uvloop

from bench import Figure, parse_options
from bench.load import growth, idle, soak
from bench.load.asking import Devices, Refusals, answered_within, per_second, quantile, settled
from bench.load.beside import beside_abuse
from bench.load.house import Held
from bench.load.remains import LIMIT, evidence_of_refusals, restart_seconds, store_of_requests
from proxid.cli.demo.trial import DemoOptions, DemoTrial
from proxid.errors import InputError

WARM_SECONDS = 20
"""Until what is done for a request after its answer is done as fast as requests come: its release waits longest."""
CAPACITY_SECONDS = 20
RECOVERY_SECONDS = 20
_ENOUGH = 64
"""Questions under way, of which some always wait for a service."""
BEGIN = 5
"""Seconds of overload after which seconds count."""
PATIENCE = 4.0
"""Seconds that a question may take."""


@dataclass(frozen=True, slots=True)
class Options:
    """See the module."""

    seconds: int = 60
    share: float = 0.3
    abuse_seconds: int = 40  # a hundredth of the answers is three
    refusal_seconds: int = 40
    requests: int = 1000
    people: int = 100_000
    part: str = "overload"
    streams: int = 500

    @classmethod
    def parse(cls, options: Mapping[str, str]) -> "Options":
        """Options from the command line; raises InputError."""
        chosen = parse_options(cls, options)
        if chosen.seconds <= BEGIN or chosen.share > 1:
            raise InputError(f"seconds is above {BEGIN}, share at most 1")
        if chosen.part not in _PARTS:
            raise InputError(f"part is one of {', '.join(_PARTS)}")
        return chosen


def run(options: Mapping[str, str]) -> dict[str, Figure]:
    """Measure."""
    chosen = Options.parse(options)
    return _PARTS[chosen.part](chosen)


def _overload(chosen: Options) -> dict[str, Figure]:
    with tempfile.TemporaryDirectory(prefix="proxid-bench-") as folder:
        trial = DemoTrial(Path(folder), DemoOptions(people=80, household=2, k=3, form="pairs"))
        trial.provision()
        try:
            trial.start_services()
            figures = uvloop.run(_loaded(trial, chosen))
            trial.children["gateway"].stop()
            os.environ["PROXID_GATEWAY__RATE_PER_MINUTE"] = str(LIMIT)
            try:
                trial.start_again("gateway")
                figures |= uvloop.run(_refused(trial, chosen))
            finally:
                del os.environ["PROXID_GATEWAY__RATE_PER_MINUTE"]
            trial.children["gateway"].stop()
            trial.start_again("gateway")
            trial.start_parties()
            figures |= uvloop.run(_left(trial, chosen))
        finally:
            trial.stop()
    return figures


_PARTS: Mapping[str, Callable[[Options], dict[str, Figure]]] = {
    "overload": _overload,
    "soak": lambda options: soak.run(options.seconds),
    "growth": lambda options: growth.run(options.people),
    "idle": lambda options: idle.run(options.seconds, options.streams),
}


async def _loaded(trial: DemoTrial, options: Options) -> dict[str, Figure]:
    async with Devices(trial, PATIENCE) as devices:
        await devices.consent()
        with Held(trial, options.share):
            figures = await threefold(devices, options)
            await asyncio.sleep(PATIENCE)
            capacity = figures["capacity_per_s"]["value"]
            ratio = await beside_abuse(trial, devices, capacity / 5, options.abuse_seconds)
    return figures | {
        "honest_p99_ratio_beside_abuse": _figure(ratio, "ratio", "as much of the processor burned", 2.0),
    }


async def threefold(devices: Devices, options: Options) -> dict[str, Figure]:
    """What a house is asked that is held: as much as it can do, three times as much, then half of it."""
    await devices.closed(_ENOUGH, WARM_SECONDS)
    first, before = await _capacity(devices)
    devices.begin()
    counted = time.monotonic() + BEGIN
    await devices.open(3 * first, options.seconds)
    refusals = Refusals(list(devices.refusals.told), list(devices.refusals.late), devices.refusals.own)
    changed = time.monotonic()
    await devices.open(0.5 * first, RECOVERY_SECONDS)
    await devices.end()
    ended, lag = list(devices.asked), devices.lag
    last, afterwards = await _capacity(devices)
    capacity = (first + last) / 2
    held = f"{first:,.0f}/s before and {last:,.0f}/s after with {options.share:.0%} of a processor each"
    asked = [one for one in ended if one.begun < changed]
    after = [one for one in ended if one.begun >= changed]
    seconds = per_second(asked, PATIENCE, BEGIN, options.seconds)
    refused = [one.took for one in refusals.told + refusals.late if one.begun >= counted]
    return {
        "capacity_per_s": _figure(capacity, "1/s", held),
        "refusals_per_answer_at_capacity": _figure((before + afterwards) / max(first + last, 1.0), "ratio"),
        "goodput_ratio_at_3x": _figure(sum(seconds) / len(seconds) / capacity, "ratio", held, 0.8),
        "goodput_ratio_worst_second": _figure(min(seconds) / capacity, "ratio", held),
        "answered_ratio_after": _figure(answered_within(after, PATIENCE), "ratio"),
        "refusals": _figure(len(refusals.told), "calls"),
        "refusals_late": _figure(len(refusals.late), "calls"),
        "refusals_by_the_client": _figure(refusals.own, "calls"),
        "refusal_ms_p99": _figure(1e3 * quantile(refused, 0.99), "ms", None, 200.0),
        "recovery_s": _figure(settled(after, changed, PATIENCE), "s", None, 5.0),
        "client_lag_ms": _figure(1e3 * lag, "ms"),
    }


async def _capacity(devices: Devices) -> tuple[float, float]:
    """Answers and refusals a second, so many questions under way that a house has always something to do."""
    before = devices.refusals.count
    answered = await devices.closed(_ENOUGH, CAPACITY_SECONDS)
    return answered, (devices.refusals.count - before) / CAPACITY_SECONDS


async def _refused(trial: DemoTrial, options: Options) -> dict[str, Figure]:
    size, refused = await evidence_of_refusals(trial, options.refusal_seconds)
    return {
        "evidence_bytes_per_refusal": _figure(size / max(refused, 1), "bytes", f"{refused} refusals", 64.0),
    }


async def _left(trial: DemoTrial, options: Options) -> dict[str, Figure]:
    left = await store_of_requests(trial, options.requests)
    seconds = await restart_seconds(trial, options.people)
    return {
        "gateway_store_bytes_per_request": _figure(left, "bytes", f"{options.requests} requests", 1500.0),
        "restart_s_at_100k_people": _figure(seconds, "s", f"{options.people} people", 5.0),
    }


def _figure(value: float, unit: str, baseline: str | None = None, reach: float | None = None) -> Figure:
    return {"value": round(value, 4), "unit": unit, "baseline": baseline, "reach": reach}
