"""What requests and refusals leave: evidence, memory of the gateway's store; and how long a start with it takes."""

import asyncio
import math
import time
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Final

from redis.asyncio import Redis

from bench.load.asking import Devices
from bench.rights import fill_gateway
from gateway.store.steps import PREFIX
from main_service.store.library import PREFIX as SERVICE
from proxid.cli.demo.trial import PARTIES, SERVICES, DemoTrial
from proxid.clients.household.household import Household
from proxid.runtime.evidence_log.stream import events_waiting
from proxid.runtime.folder import socket_path
from proxid.runtime.store import connect

PEOPLE: Final = 24
RATE: Final = 10
LIMIT: Final = 5
"""Requests of a person in a minute while refusals are measured."""
PATIENCE: Final = 20.0
_AFTER: Final = 10.0
_POLL: Final = 0.2
_ENDING: Final = ("n", "a", "r", "i")
"""Keys of the gateway's store that end by themselves, and the index of them: see its `common.lua`."""
_SETTLE: Final = 120.0
_STARTS: Final = 5


def store_socket(trial: DemoTrial, role: str) -> str:
    """Where a service's store listens."""
    return str(socket_path(trial.folder / role / "data/store"))


def open_store(trial: DemoTrial, role: str = "gateway") -> Redis:
    """A client of it."""
    return connect(f"unix://{store_socket(trial, role)}")


async def _written(trial: DemoTrial) -> int:
    """Bytes of both logs, once everything that was recorded is in them."""
    for role, prefix in (("gateway", PREFIX), ("main-service", SERVICE)):
        store = open_store(trial, role)
        while await events_waiting(store, prefix):  # noqa: ASYNC110 - of another process
            await asyncio.sleep(_POLL)
        await store.aclose()
    return sum(evidence_size(trial.folder / role) for role in SERVICES)


def evidence_size(folder: Path) -> int:
    size = 0
    for file in (folder / "data").rglob("*"):
        if "evidence" in file.parts and file.is_file():
            with suppress(FileNotFoundError):  # a file that is written anew has a name of its own for a moment
                size += file.stat().st_size
    return size


async def evidence_of_refusals(trial: DemoTrial, seconds: int) -> tuple[int, int]:
    """Bytes of evidence, and refusals: people over their limit ask on, ten times a second each, in one minute."""
    async with Devices(trial, PATIENCE) as devices:
        crowd = devices.people[:PEOPLE]
        await asyncio.gather(*(devices.ask(*one) for one in crowd))  # links
        minute = time.time() // 60 + 1
        await asyncio.sleep(60 * minute - time.time() + 0.1)
        await asyncio.gather(*(devices.ask(*one) for _ in range(LIMIT + 1) for one in crowd))
        before = await _written(trial)
        devices.begin()
        end = time.monotonic() + min(seconds, 60 * minute + 58 - time.time())

        async def ask(user: str, household: Household) -> None:
            while time.monotonic() < end:
                begun = time.monotonic()
                await devices.ask(user, household)
                await asyncio.sleep(max(0.0, 1 / RATE - (time.monotonic() - begun)))

        await asyncio.gather(*(ask(*one) for one in crowd))
        # What is counted by the minute is written when the minute is over.
        await asyncio.sleep(max(0.0, 60 * (minute + 1) + _AFTER - time.time()))
    return await _written(trial) - before, sum(math.isinf(one.took) for one in devices.asked)


async def store_of_requests(trial: DemoTrial, requests: int) -> float:
    """Bytes of memory a request, when parties have everything and what ends by itself has ended."""
    store = open_store(trial)
    async with Devices(trial, PATIENCE) as devices:
        await devices.closed(16, 5)
        before = await _memory(store)
        devices.begin()
        people = iter([devices.people[n % len(devices.people)] for n in range(requests)])

        async def one() -> None:
            for person in people:
                await devices.ask(*person)

        await asyncio.gather(*(one() for _ in range(16)))
        answered = sum(a.took < math.inf for a in devices.asked)
        after = await _memory(store)
    await store.aclose()
    return max(0.0, after - before) / max(answered, 1)


async def _memory(store: Redis) -> float:
    """Of the store, once feeds are acknowledged, less what time takes away."""
    deadline = time.monotonic() + _SETTLE
    while time.monotonic() < deadline and (  # noqa: ASYNC110 - of another process
        await _backlog(store) or await events_waiting(store, PREFIX)
    ):
        await asyncio.sleep(_POLL)
    ending = 0
    async for key in store.scan_iter(match=f"{PREFIX}:*", count=1000):
        if key[len(PREFIX) :].split(b":")[1].decode() in _ENDING:
            ending += await store.memory_usage(key) or 0
    return float((await store.info("memory"))["used_memory"]) - ending


async def _backlog(store: Redis) -> int:
    return sum([await store.zcard(f"{PREFIX}:o:{party}") for party in PARTIES])


async def restart_seconds(trial: DemoTrial, people: int) -> float:
    """From a gateway's start to serving, with so many linked in its store: the median of five starts."""
    store = open_store(trial)
    await fill_gateway(store, people)
    await store.aclose()
    took = []
    for _ in range(_STARTS):
        await asyncio.to_thread(trial.children["gateway"].stop)
        begun = time.monotonic()
        await asyncio.to_thread(trial.start_again, "gateway")
        took.append(time.monotonic() - begun)
    return median(took)
