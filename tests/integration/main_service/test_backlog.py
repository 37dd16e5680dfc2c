"""What was answered and not filed yet: nothing new is taken while it waits too long, and no tick goes by before it."""

import asyncio
from pathlib import Path

import pytest

from main_service.jobs.classification import Classification
from main_service.jobs.timekeeping import Timekeeper
from proxid.errors import Code, RefusedError
from proxid.protocol.request import HELD
from proxid.runtime.store import connect
from tests.support.days import CLOCKS
from tests.support.lies_epochs import patiently
from tests.support.split_house import clean, house
from tests.support.trial import PEOPLE, Trial, running

HOUR = 3600.0


async def nothing(self: Classification) -> int:
    return 0


def pass_by(trial: Trial, seconds: float) -> None:
    for clock in trial.clocks.values():
        clock.passed += seconds


async def refused(trial: Trial) -> str | None:
    """Why a question is not taken, once the services have compared their clocks; None if it is answered."""
    async with asyncio.timeout(30):
        while True:
            try:
                await trial.ask("node1 question", PEOPLE[3:4])
            except RefusedError as error:
                if error.remote not in CLOCKS:
                    return error.remote
                await asyncio.sleep(0.1)
            else:
                return None


async def test_nothing_new_is_taken_while_something_waits_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path) as trial:
        await trial.consent()
        with monkeypatch.context() as patch:
            patch.setattr(Classification, "batch", nothing)
            await trial.ask("node1 question", PEOPLE[:2])
            pass_by(trial, HELD - 60)
            await patiently(lambda: trial.ask("node1 question", PEOPLE[2:3]))
            pass_by(trial, 61.0)
            assert await refused(trial) == Code.OVERLOADED
        await trial.settle()
        await trial.ask("node1 question")
        await trial.settle()
        clean(await trial.audit())


async def test_a_service_that_was_killed_takes_nothing_new_before_it_has_filed_what_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path) as trial:
        await trial.consent()
        with monkeypatch.context() as patch:
            patch.setattr(Classification, "batch", nothing)
            await trial.ask("node1 question")
            await trial.halt("main-service")
            pass_by(trial, HOUR)
            await trial.serve("main-service")
            assert await refused(trial) == Code.OVERLOADED
        await trial.ask("node2 question")
        await trial.settle()
        clean(await trial.audit())


async def test_a_tick_waits_until_what_was_asked_before_it_is_filed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest, ticks = Timekeeper.tick, list[int]()

    async def counted(self: Timekeeper) -> None:
        await honest(self)
        ticks.append(len(ticks))

    async with house(tmp_path, bucket="1 h") as trial:
        trial.leap(HOUR - 60)
        await patiently(trial.consent)
        main = connect(trial.url("main-service"))

        async def ticked() -> list[bytes]:
            return [await main.hget(name, "tick") async for name in main.scan_iter("{ms}:split:*:state")]

        with monkeypatch.context() as patch:
            patch.setattr(Classification, "batch", nothing)
            await trial.ask("news of today")
            patch.setattr(Timekeeper, "tick", counted)
            pass_by(trial, 120.0)
            await patiently(lambda: trial.ask("travel alone"))  # the clocks were compared
            before = len(ticks)
            async with asyncio.timeout(30):
                while len(ticks) < before + 2:  # noqa: ASYNC110 - nothing signals it
                    await asyncio.sleep(0.05)
            assert await ticked() == []
        async with asyncio.timeout(30):
            while await ticked() != [b"1"]:  # noqa: ASYNC110 - nothing signals it
                await asyncio.sleep(0.05)
        await main.aclose()
        await trial.settle()
        clean(await trial.audit())
