"""What services run beside their calls, held until a history has a step of it done (`tests.support.still_house`)."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any

import grpc

from proxid.errors import ProxidError
from tests.support.lies import GATEWAY, MAIN

MOMENT, PATIENCE = 0.002, 3.0
"""Seconds between two looks, and until something is left for another time."""


class Held:
    """Takes the place of what runs a service: it serves, and holds the jobs.

    Args:
        jobs: gets them by role and by the names of their types, while the service runs.
    """

    def __init__(self, jobs: dict[str, dict[str, Any]], role: str) -> None:
        self.jobs, self.role = jobs, role

    async def run(
        self, server: grpc.aio.Server, services: Sequence[str], address: str,
        background: Sequence[Coroutine[Any, Any, None]], ready: Callable[[str], None], *_: Any,
    ) -> None:  # fmt: skip
        owners = [job.cr_frame.f_locals.get("self") for job in background]  # type: ignore[attr-defined]
        for job in background:
            job.close()
        own = self.jobs[self.role] = {type(owner).__name__: owner for owner in owners}
        await server.start()
        ready(address)
        try:
            await asyncio.Event().wait()
        finally:
            del self.jobs[self.role]
            await server.stop(None)
            own["EvidenceWriter"].log.close()


async def _close(_: Any, job: Any) -> None:
    await job.tick()
    await job.close_epochs()


async def _follow(house: Any, job: Any) -> None:
    """Until everything that was released is in the feeds."""
    main = house.stored[MAIN]
    if MAIN not in house.jobs or not await main.xlen("{ms}:outbox"):
        return
    task = asyncio.ensure_future(job.follow())
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                while await main.xlen("{ms}:outbox"):  # noqa: ASYNC110 - nothing signals it
                    await asyncio.sleep(MOMENT)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _show_heads(house: Any, job: Any) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            while MAIN in house.jobs and not await job.show(PATIENCE):  # noqa: ASYNC110 - nothing signals it
                await asyncio.sleep(MOMENT)


async def _erase(house: Any, job: Any) -> None:
    """Carry on with erasures, beside the jobs that they wait for."""
    if house.erasing is not None and house.erasing.done():
        with suppress(ProxidError, asyncio.CancelledError):
            house.erasing.result()
        house.erasing = None
    if house.erasing is None and await house.stored[GATEWAY].scard("{gw}:jobs"):
        house.erasing = asyncio.ensure_future(job.step())


async def _step(_: Any, job: Any) -> None:
    await job.step()


STEPS: dict[str, tuple[str, str, Callable[[Any, Any], Coroutine[Any, Any, Any]]]] = {
    "classify": (MAIN, "Classification", lambda _, job: job.batch()),
    "release": (MAIN, "Release", lambda _, job: job.release_all()),
    "close": (MAIN, "Timekeeper", _close),
    "clock main-service": (MAIN, "ClockKeeper", _step),
    "write main-service": (MAIN, "EvidenceWriter", lambda _, job: job.settle()),
    "follow": (GATEWAY, "Releases", _follow),
    "heads": (GATEWAY, "PeerHeads", _show_heads),
    "time": (GATEWAY, "Timekeeper", _step),
    "clock gateway": (GATEWAY, "ClockKeeper", _step),
    "owed": (GATEWAY, "Owed", _step),
    "erase": (GATEWAY, "Erasures", _erase),
    "depart": (GATEWAY, "Departures", _step),
    "expire": (GATEWAY, "LinkExpiry", _step),
    "write gateway": (GATEWAY, "EvidenceWriter", lambda _, job: job.settle()),
}
"""What a history may have a service do, beside answering: whose job, of which type, and its step."""
LOGS = ("write gateway", "write main-service")
TURNS = ("close", "classify", "release", "follow", *LOGS, "erase")
"""The order in which all have a turn."""
