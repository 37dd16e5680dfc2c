"""Wrong clocks destroy nothing, convict nobody and are over when they are right again (DESIGN 4.3)."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse
from grpc_health.v1.health_pb2_grpc import HealthStub

from auditor.report import Report, Verdict
from gateway import timekeeping
from proxid.config import DeviceConfig, load
from proxid.errors import Code, RefusedError
from proxid.rpc.channel import TlsFiles, open_channel
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


def says(house: House, status: int) -> Callable[[], Awaitable[bool]]:
    """Whether the gateway's health is this one, to whoever balances load by it."""
    config = load(DeviceConfig, house.folder / "devices/household-1/device.toml")
    files = TlsFiles(config.tls.key, config.tls.certificate, config.tls.ca)

    async def asked() -> bool:
        async with open_channel(config.gateway, files, config.gateway_name) as channel:
            found = await HealthStub(channel).Check(HealthCheckRequest(), timeout=20)
        return bool(found.status == status)

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
        await until(says(house, HealthCheckResponse.NOT_SERVING))
        for clock in house.clocks.values():
            clock.passed += 6.0
        assert await refusal(house) in CLOCKS
        house.clocks[role].set = 0.0
        await until(serves(house))
        await until(says(house, HealthCheckResponse.SERVING))
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


async def until_closed(house: House, before: object) -> None:
    async def closed() -> bool:
        return await opened(house) != before

    await until(closed)


@pytest.mark.parametrize("away", [GATEWAY, MAIN])
async def test_away_for_26_hours(tmp_path: Path, away: str) -> None:
    async with running(tmp_path) as house:
        await house.busy(1)
        before = await opened(house)
        await house.halt(away)
        house.leap(7200.0)
        if away == GATEWAY:
            await until_closed(house, before)  # alone, after an hour of steady time
        await house.serve(away)
        await until(serves(house))
        await until_closed(house, before)
        await house.busy(1)
        report = judged(await house.audit())
        assert report.verdict is Verdict.CLEAN
        assert report.counts["epochs.believed"] == (1 if away == GATEWAY else 0)


async def test_next_day_begins_although_a_wrong_clock_ended_this_one(tmp_path: Path) -> None:
    """Restarted a day ahead while the gateway is away, alone for an hour: what is closed stays closed, for that day."""
    async with running(tmp_path) as house:
        await house.busy(1)
        before = await opened(house)
        for role in (GATEWAY, MAIN):
            await house.halt(role)
        house.clocks[MAIN].set = DAY
        await house.serve(MAIN)
        for clock in house.clocks.values():
            clock.passed += 3600.0
        await until_closed(house, before)
        house.clocks[MAIN].set = 0.0
        await house.halt(MAIN)
        for role in (MAIN, GATEWAY):
            await house.serve(role)
        assert await refusal(house) is Code.EPOCH_KEY_STALE
        house.leap(60.0)
        await until(serves(house))
        await house.busy(1)
        report = judged(await house.audit())
        assert report.counts["epochs.believed"] == 1
