"""Wrong clocks destroy nothing, convict nobody and are over when they are right again (DESIGN 4.3)."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from auditor.report import Report, Verdict
from gateway import timekeeping
from proxid.errors import Code, RefusedError
from proxid.store import connect
from tests.support.house import PEOPLE, House, running

DAY = 86_400.0
GATEWAY, MAIN = "gateway", "main-service"


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clocks are compared often, so that tests are short."""
    monkeypatch.setattr(timekeeping, "PAUSE", 0.1)
    monkeypatch.setattr("proxid.store.clock.PAUSE", 0.05)


async def until(true: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(30):
        while not await true():  # noqa: ASYNC110 - nothing signals it
            await asyncio.sleep(0.05)


async def refusal(house: House) -> Code | None:
    """What a caller is told; None if the question is answered."""
    try:
        await house.device.ask(PEOPLE[0], "node1 question")
    except RefusedError as error:
        return error.remote
    return None


def serves(house: House) -> Callable[[], Awaitable[bool]]:
    async def asked() -> bool:
        return await refusal(house) is None

    return asked


def doubts(house: House) -> Callable[[], Awaitable[bool]]:
    async def asked() -> bool:
        return await refusal(house) in CLOCKS

    return asked


async def opened(house: House) -> list[tuple[bytes, bytes]]:
    """Epochs that the main service's store says were opened and closed."""
    client = connect(house.url(MAIN))
    found = [(await client.get("{ms}:closed") or b"-", b",".join(sorted(await client.smembers("{ms}:epochs"))))]
    await client.aclose()
    return found


def judged(report: Report) -> Report:
    """An honest history is never a violation."""
    assert report.violations == []
    assert report.verdict in {Verdict.CLEAN, Verdict.UNCHECKED}
    return report


CLOCKS = {Code.CLOCK_DOUBTED, Code.UPSTREAM_CLOCK_DOUBTED}


@pytest.mark.parametrize("role", [MAIN, GATEWAY])
@pytest.mark.parametrize("step", [DAY, -DAY], ids=["ahead", "behind"])
async def test_a_day_wrong_for_six_seconds(tmp_path: Path, role: str, step: float) -> None:
    async with running(tmp_path) as house:
        await house.busy(1)
        before = await opened(house)
        house.clocks[role].set = step
        assert await refusal(house) in CLOCKS  # at once
        for clock in house.clocks.values():
            clock.passed += 6.0
        assert await refusal(house) in CLOCKS
        house.clocks[role].set = 0.0
        await until(serves(house))
        assert await opened(house) == before
        await house.busy(1)
        judged(await house.audit())


@pytest.mark.parametrize("step", [DAY, -DAY], ids=["ahead", "behind"])
async def test_main_service_restarted_with_a_wrong_clock_while_the_gateway_is_away(tmp_path: Path, step: float) -> None:
    async with running(tmp_path) as house:
        await house.busy(1)
        before = await opened(house)
        for role in (GATEWAY, MAIN):
            await house.halt(role)
        house.clocks[MAIN].set = step
        await house.serve(MAIN)
        await asyncio.sleep(1.5)  # a tick of whoever closes epochs
        assert await opened(house) == before
        await house.serve(GATEWAY)
        await until(doubts(house))
        house.clocks[MAIN].set = 0.0
        await until(serves(house))
        assert await opened(house) == before
        judged(await house.audit())
