"""`proxid bench load -o part=growth`: what ten times as many people cost, at 1,000, 10,000 … `people` (100000).

Stores are filled by the product's own steps, with people who never ask; then those who do are measured:

    erase_s_at_N        from the request of an erasure to its receipt, the median of three people
    access_s_at_N       a person asks both services what they hold, the median of three
    restart_s_at_N      from the start of a gateway to serving
    epoch_end_s_at_N    an epoch in which so many records wait (form `pairs`) ends, at services that were started again
                        with clocks a day ahead: from the first record that moves up until all of it is in the log
    audit_s_at_N        of a simulated day with so many events (`proxid bench evidence`)
    NAME_exponent       the steepest of its steps: 1 if ten times as many take ten times as long
"""

import asyncio
import math
import tempfile
import time
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Final

import uvloop
from redis import Redis
from redis.exceptions import RedisError

from bench import Figure
from bench.evidence.audit import measure, moment_of
from bench.evidence.day import Day
from bench.evidence.path import python_path
from bench.load.remains import open_store, restart_seconds, store_socket
from bench.rights import fill_service
from device_sim.commands.common import open_households
from main_service.config import MainServiceConfig
from main_service.store.library import PREFIX as SERVICE
from proxid.cli.demo.trial import SERVICES, DemoOptions, DemoTrial
from proxid.clients.household.gateway import GatewayClient
from proxid.clients.household.rights import RightsClient
from proxid.errors import ProxidError
from proxid.protocol.rights import Right
from proxid.runtime.config import load
from proxid.runtime.evidence_log.stream import events_waiting

REACH: Final = 1.1
_FIRST: Final = 1000
_EACH: Final = 3
_POLL: Final = 0.05
_PACE: Final = 0.005
_DAY: Final = 86_400
_MOVED: Final = "import time\nright = time.time\ntime.time = lambda: right() + {}\n"
"""What a service whose clock is ahead is: Python runs a `sitecustomize` before all else."""
_NOBODYS_DAY: Final = 300
"""People of a simulated day."""

Costs = dict[str, dict[int, float]]
"""Seconds by what was measured and by size."""


def run(people: int) -> dict[str, Figure]:
    """Measure."""
    sizes = [_FIRST * 10**n for n in range(max(2, round(math.log10(people / _FIRST)) + 1))]
    costs: Costs = {}
    with tempfile.TemporaryDirectory(prefix="proxid-bench-") as folder:
        for name, part in (("rights", _rights), ("ends", _ends)):
            trial = DemoTrial(Path(folder) / name, DemoOptions(people=_EACH * len(sizes) + 10, k=10, form="pairs"))
            trial.folder.mkdir()
            trial.provision()
            try:
                trial.start_services()
                costs |= uvloop.run(part(trial, sizes))
            finally:
                trial.stop()
        costs["audit"] = _audits(Path(folder) / "day", sizes)
    return figures(costs)


def figures(costs: Mapping[str, Mapping[int, float]]) -> dict[str, Figure]:
    """Of seconds by size."""
    found: dict[str, Figure] = {}
    for name, seconds in costs.items():
        for size, took in seconds.items():
            found[f"{name}_s_at_{size}"] = {"value": round(took, 3), "unit": "s"}
        steepest = {"value": round(exponent(seconds), 3), "unit": "exponent", "reach": REACH}
        found[f"{name}_exponent"] = Figure(**steepest)  # type: ignore[typeddict-item]
    return found


def exponent(seconds: Mapping[int, float]) -> float:
    """The steepest step between two sizes that follow each other."""
    rising = sorted(seconds.items())
    return max(
        math.log(after / before) / math.log(large / small) for (small, before), (large, after) in pairwise(rising)
    )


async def _rights(trial: DemoTrial, sizes: Sequence[int]) -> Costs:
    costs: Costs = {name: {} for name in ("erase", "access", "restart")}
    config = load(MainServiceConfig, trial.folder / "main-service/main-service.toml")
    service = open_store(trial, "main-service")
    async with open_households(trial.devices()) as speakers:
        for user, household in speakers.items():
            await household.consent(user, "everything")
            await household.ask(user, "what time is it")
        clients = {
            user: RightsClient(device, speakers[user])
            for device in trial.devices()
            for user in speakers
            if user in speakers[user].users and speakers[user]._config.data_dir == device.data_dir
        }
        users = sorted(clients)
        for number, size in enumerate(sizes):
            costs["restart"][size] = await restart_seconds(trial, size)
            await fill_service(config, service, size, int(time.time() // config.epoch_seconds))
            await _quiet(service)
            own = users[number * _EACH : (number + 1) * _EACH]
            costs["access"][size] = median([await _took(clients[user], Right.ACCESS, user) for user in own])
            costs["erase"][size] = median([await _took(clients[user], Right.ERASE, user) for user in own])
        for client in clients.values():
            await client.close()
    await service.aclose()
    return costs


async def _took(client: RightsClient, right: Right, user: str) -> float:
    begun = time.perf_counter()
    await (client.access(user) if right is Right.ACCESS else client.exercise(right, user))
    return time.perf_counter() - begun


async def _quiet(service: object) -> None:
    """Until what filling left for the evidence is written."""
    while await events_waiting(service, SERVICE):  # type: ignore[arg-type]  # noqa: ASYNC110
        await asyncio.sleep(_POLL)


async def _ends(trial: DemoTrial, sizes: Sequence[int]) -> Costs:
    found: dict[int, float] = {}
    config = load(MainServiceConfig, trial.folder / "main-service/main-service.toml")
    for day, size in enumerate(sizes):
        service = open_store(trial, "main-service")
        await _begun(trial)
        epoch = int(time.time() // _DAY) + day
        await fill_service(config, service, size, epoch)
        await _quiet(service)
        await service.aclose()
        for name in reversed(SERVICES):
            await asyncio.to_thread(trial.children[name].stop)
        moved = trial.folder / f"ahead-{day + 1}"
        moved.mkdir()
        (moved / "sitecustomize.py").write_text(_MOVED.format((day + 1) * _DAY), encoding="utf-8")
        closing = asyncio.create_task(asyncio.to_thread(_closing, store_socket(trial, "main-service"), epoch))
        await asyncio.sleep(0)
        with python_path(moved):
            trial.start_services()
        await _begun(trial)
        found[size] = await closing
    return {"epoch_end": found}


def _closing(socket: str, epoch: int) -> float:
    """Seconds from an epoch's first record that moves, or its being closed, until it is over and all of that logged."""
    client, begun = Redis(unix_socket_path=socket), 0.0
    waiting: list[bytes | str | None] = []
    while True:
        try:
            state = client.hmget(f"{SERVICE}:pool:{epoch}:state", "moves", "closed")
            is_over = not client.sismember(f"{SERVICE}:epochs", str(epoch)) and not client.xlen(f"{SERVICE}:events")
        except RedisError:  # its service is starting
            state, is_over = waiting, False
        now = time.perf_counter()
        waiting = waiting or state
        if state != waiting and not begun:
            begun = now
        if is_over:
            client.close()
            return max(now - (begun or now), _PACE)
        time.sleep(_PACE)


async def _begun(trial: DemoTrial) -> float:
    """When the current epoch had begun at both services."""
    client = GatewayClient.open(trial.devices()[0])
    try:
        while True:
            try:
                await client.parameters()
            except ProxidError:
                await asyncio.sleep(_POLL)
            else:
                return time.perf_counter()
    finally:
        await client.close()


def _audits(folder: Path, sizes: Sequence[int]) -> dict[int, float]:
    folder.mkdir()
    day, moments = Day(folder, people=_NOBODYS_DAY), []
    for size in sizes:
        day.run(size)
        moments.append(moment_of(day))
    return {size: measure(folder, moment, 0).seconds for size, moment in zip(sizes, moments, strict=True)}
