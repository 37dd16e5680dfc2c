"""`proxid bench load -o part=soak`: half of what a house can do, for long: what grows, and whether it goes on growing.

The trial of the demo with its third parties, nobody held. What 32 questions under way bring is the capacity; then half
of that is asked for `seconds` (60), and everything is read forty times meanwhile:

    NAME_memory_kb_per_1000     resident memory that a process gains in 1,000 requests, by least squares over all;
    NAME_descriptors_per_1000   files and connections that it has open; the second half's beside the first half's
    NAME_store_kb_per_1000      memory of a service's store: answers stay for five minutes, what waits until it leaves
    NAME_evidence_kb_per_1000   a log's files
    memory_growth               memory of a process at the end over that at half, of the process where that is most
    descriptors_growth          the same of what is open
    store_growth                memory that a request takes in the second half, over the first half's, of the store of
                                which that is more
    evidence_growth             the same of the logs' files

Where the first half takes nothing that noise would not explain (SURE standard errors of its slope), or gives back,
there is no such ratio: 1 stands there if the second half takes no more than noise either, else how many times the
noise it takes.
"""

import asyncio
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from statistics import mean
from typing import Final

from bench import Figure
from bench.load.asking import Devices, answered_within
from bench.load.house import processes
from bench.load.remains import evidence_size, open_store
from proxid.cli.demo.trial import PARTIES, SERVICES, DemoOptions, DemoTrial
from proxid.errors import InputError

PATIENCE: Final = 20.0
WARM_UP: Final = 10.0
SAMPLES: Final = 40
SURE: Final = 3.0
"""Standard errors above which a slope is one."""
MOST: Final = 1000.0
"""The largest ratio that is told: of something that grows to something that did not at all."""
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_WATCHED: Final = (*SERVICES, PARTIES[0])
MEMORY, DESCRIPTORS, STORE, EVIDENCE = "memory_kb", "descriptors", "store_kb", "evidence_kb"


@dataclass(frozen=True, slots=True)
class Sample:
    """How much there is of each thing after so many answers."""

    answered: int
    values: Mapping[str, float]


def run(seconds: int) -> dict[str, Figure]:
    """Measure."""
    import uvloop

    with tempfile.TemporaryDirectory(prefix="proxid-bench-") as folder:
        trial = DemoTrial(Path(folder), DemoOptions(people=80, k=3, form="pairs"))
        trial.provision()
        try:
            trial.start()
            rate, samples, answered = uvloop.run(_soaked(trial, seconds))
        finally:
            trial.stop()
    return {
        "rate_per_s": _figure(rate, "1/s", "half of the capacity"),
        "answered_ratio": _figure(answered, "ratio", f"{samples[-1].answered:,} answers"),
        **figures(samples),
    }


async def _soaked(trial: DemoTrial, seconds: int) -> tuple[float, list[Sample], float]:
    async with Devices(trial, PATIENCE) as devices:
        await devices.consent()
        await devices.closed(32, WARM_UP)
        rate = await devices.closed(32, WARM_UP) / 2
        devices.begin()
        asking = asyncio.create_task(devices.open(rate, seconds))
        samples = []
        for _ in range(SAMPLES):
            await asyncio.sleep(seconds / SAMPLES)
            answered = sum(one.took <= PATIENCE for one in devices.asked)
            samples.append(Sample(answered, await look(trial)))
        await asking
        await devices.end()
        return rate, samples, answered_within(devices.asked, PATIENCE)


async def look(trial: DemoTrial) -> dict[str, float]:
    """What there is now, by name and kind."""
    found: dict[str, float] = {}
    for name in _WATCHED:
        pids = processes(trial.children[name].pid)
        found[f"{name}_{MEMORY}"] = sum(_resident(pid) for pid in pids) / 1024
        found[f"{name}_{DESCRIPTORS}"] = sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in pids)
    for role in SERVICES:
        store = open_store(trial, role)
        found[f"{role}_{STORE}"] = (await store.info("memory"))["used_memory"] / 1024
        await store.aclose()
        found[f"{role}_{EVIDENCE}"] = evidence_size(trial.folder / role) / 1024
    return found


def _resident(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE


def figures(samples: Sequence[Sample]) -> dict[str, Figure]:
    """Of samples in their order; raises InputError if there are too few, or nothing was answered between them."""
    half = len(samples) // 2
    halves = (samples[:half], samples[half:])
    if half < 2 or any(part[0].answered == part[-1].answered for part in halves):
        raise InputError("too little was answered to tell what grows")
    found: dict[str, Figure] = {}
    for name in samples[0].values:
        first, second = (1000 * slope(part, name) for part in halves)
        said = f"first half {first:,.2f}, second {second:,.2f}"
        unit = "1" if name.endswith(DESCRIPTORS) else "kB"
        found[f"{name}_per_1000".replace("-", "_")] = _figure(1000 * slope(samples, name), unit, said)
    return found | {
        "memory_growth": _most(samples, MEMORY, level),
        "descriptors_growth": _most(samples, DESCRIPTORS, level),
        "store_growth": _most(samples, STORE, pace),
        "evidence_growth": _most(samples, EVIDENCE, pace),
    }


def _most(samples: Sequence[Sample], kind: str, ratio: Callable[[Sequence[Sample], str], float]) -> Figure:
    found = {name: ratio(samples, name) for name in samples[0].values if name.endswith(kind)}
    most = max(found, key=lambda name: found[name])
    return _figure(found[most], "ratio", most.removesuffix(f"_{kind}"))


def level(samples: Sequence[Sample], name: str) -> float:
    """What there is at the end, over what there was at half: of a tenth of the samples each."""
    half, few = len(samples) // 2, max(1, len(samples) // 10)
    return mean(s.values[name] for s in samples[-few:]) / mean(s.values[name] for s in samples[half : half + few])


def pace(samples: Sequence[Sample], name: str) -> float:
    """What a request takes in the second half, over what it takes in the first, or over noise if that is nothing."""
    half = len(samples) // 2
    parts = (samples[:half], samples[half:])
    (first, second), noises = (slope(part, name) for part in parts), [SURE * error(part, name) for part in parts]
    if first > noises[0]:
        return second / first
    return second / max(*noises, second / MOST) if second > max(noises) else 1.0


def slope(samples: Sequence[Sample], name: str) -> float:
    """How much more there is after one more answer, by least squares."""
    x, y = [s.answered for s in samples], [s.values[name] for s in samples]
    middle, height = mean(x), mean(y)
    spread = sum((at - middle) ** 2 for at in x)
    return sum((at - middle) * (value - height) for at, value in zip(x, y, strict=True)) / spread


def error(samples: Sequence[Sample], name: str) -> float:
    """The standard error of `slope`."""
    x, y, steep = [s.answered for s in samples], [s.values[name] for s in samples], slope(samples, name)
    middle, height = mean(x), mean(y)
    beside = sum((value - height - steep * (at - middle)) ** 2 for at, value in zip(x, y, strict=True))
    return sqrt(beside / max(1, len(x) - 2) / sum((at - middle) ** 2 for at in x))


def _figure(value: float, unit: str, baseline: str | None = None) -> Figure:
    return {"value": round(value, 4), "unit": unit, "baseline": baseline}
