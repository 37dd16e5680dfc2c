"""A trial in form `split`: people who ask at three nodes, and an epoch that ends."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from auditor.findings import Report, Verdict
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.rights import RightsClient
from proxid.errors import EpochError, RefusedError
from proxid.protocol.record import kind_and_number
from proxid.protocol.rights import Right
from proxid.runtime.config import load
from proxid.runtime.store import connect
from tests.support.trial import PEOPLE, Trial, running

NODES = ("news", "travel", "health")


class House(Trial):
    """People who ask at three nodes, and an epoch that ends."""

    async def start(self, stack: AsyncExitStack) -> None:
        device = self.folder / "devices/household-1/device.toml"
        seconds = self.config("gateway").epoch_seconds
        device.write_text(device.read_text().replace("epoch_seconds = 86400", f"epoch_seconds = {seconds}"))
        await super().start(stack)

    async def evening(self, people: tuple[str, ...] = PEOPLE) -> None:
        await self.consent()
        for node in NODES:
            await self.ask(f"{node} of today", people)
        await self.ask("news again", people[:3])
        await self.ask("travel alone", people[:2])
        await self.settle()

    async def close(self) -> None:
        """The epoch ends; everything that it shows is in the feeds."""
        self.leap(310)
        await self.over()

    async def over(self) -> None:
        """What the epoch before shows is in the feeds."""
        epochs, now = self.config("gateway").epoch_seconds, self.clocks["gateway"].wall()
        main = connect(self.url("main-service"))
        try:
            async with asyncio.timeout(30):
                while int(await main.get("{ms}:closed") or 0) < now // epochs - 1:  # noqa: ASYNC110
                    await asyncio.sleep(0.1)
        finally:
            await main.aclose()
        await self.settle()

    async def exercise(self, right: Right, user: str) -> None:
        """Returns when it is carried out."""
        config = load(DeviceConfig, self.folder / "devices/household-1/device.toml")
        client = RightsClient(config, self.device, self.clocks["device"].wall)
        await client.exercise(right, user)
        await client.close()


@asynccontextmanager
async def house(folder: Path, epoch_seconds: int = 86_400, **anonymiser: Any) -> AsyncIterator[House]:
    """One tick, the close, unless told otherwise: when a test runs in the day changes nothing."""
    options = {"form": "split", "level": 2, "min_text_users": 2, "bucket": "1 d"} | anonymiser
    async with running(folder, House, anonymiser=options, epoch_seconds=epoch_seconds) as trial:
        assert isinstance(trial, House)
        yield trial


def begun() -> dict[str, Any]:
    """Options of a house whose epoch has just begun, and has four ticks."""
    now = int(time.time())
    epoch = min(range(3600, 7200, 4), key=lambda seconds: now % seconds)
    return {"bucket": f"{epoch // 4} s", "epoch_seconds": epoch}


async def releases(trial: House) -> int:
    """How many there were."""
    main = connect(trial.url("main-service"))
    try:
        return int(await main.get("{ms}:outbox:n") or 0)
    finally:
        await main.aclose()


async def released(trial: House) -> None:
    """The first tick has come."""
    async with asyncio.timeout(60):
        while not await releases(trial):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    await trial.settle()


async def served(trial: Trial) -> None:
    """The services have compared their clocks again."""
    async with asyncio.timeout(60):
        while True:
            try:
                await trial.device._fetch_route()
            except (EpochError, RefusedError):
                await asyncio.sleep(0.05)
            else:
                return


def entries(got: list[Any]) -> int:
    return sum(len(one.records) for one in got if kind_and_number(one.id.group)[0] == "entries")


def contents(got: list[Any]) -> list[Any]:
    return [one.contents for one in got if one.contents is not None]


def clean(report: Report) -> None:
    assert report.verdict is Verdict.CLEAN, (report.violations, report.missing)
