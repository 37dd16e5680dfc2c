"""Wrong clocks destroy nothing, convict nobody and are over when they are right again (DESIGN 4.3)."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse
from grpc_health.v1.health_pb2_grpc import HealthStub

from auditor.findings import Report, Verdict
from gateway import timekeeping
from proxid.clients.household.config import DeviceConfig
from proxid.errors import Code, RefusedError
from proxid.runtime.config import load
from proxid.runtime.store import connect
from proxid.runtime.transport.channel import TlsFiles, open_channel
from tests.integration.gateway.test_retention import pass_time
from tests.support.trial import PEOPLE, Trial, running

DAY = 86_400.0
GATEWAY, MAIN = "gateway", "main-service"


def slow(*values: object) -> ParameterSet:
    return pytest.param(*values, marks=pytest.mark.slow)


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clocks are compared often, so that tests are short."""
    monkeypatch.setattr(timekeeping, "PAUSE", 0.1)
    monkeypatch.setattr("proxid.runtime.store.clock.PAUSE", 0.05)


async def until(true: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(30):
        while not await true():  # noqa: ASYNC110 - nothing signals it
            await asyncio.sleep(0.05)


async def refusal(trial: Trial) -> Code | None:
    """What a caller is told; None if the question is answered."""
    try:
        await trial.device.ask(PEOPLE[0], "node1 question")
    except RefusedError as error:
        return error.remote
    return None


def serves(trial: Trial) -> Callable[[], Awaitable[bool]]:
    async def asked() -> bool:
        return await refusal(trial) is None

    return asked


def doubts(trial: Trial) -> Callable[[], Awaitable[bool]]:
    async def asked() -> bool:
        return await refusal(trial) in CLOCKS

    return asked


def says(trial: Trial, status: int) -> Callable[[], Awaitable[bool]]:
    """Whether the gateway's health is this one, to whoever balances load by it."""
    config = load(DeviceConfig, trial.folder / "devices/household-1/device.toml")
    files = TlsFiles(config.tls.key, config.tls.certificate, config.tls.ca)

    async def asked() -> bool:
        async with open_channel(config.gateway, files, config.gateway_name) as channel:
            found = await HealthStub(channel).Check(HealthCheckRequest(), timeout=20)
        return bool(found.status == status)

    return asked


async def opened(trial: Trial) -> list[tuple[bytes, bytes]]:
    """Epochs that the main service's store says were opened and closed."""
    client = connect(trial.url(MAIN))
    found = [(await client.get("{ms}:closed") or b"-", b",".join(sorted(await client.smembers("{ms}:epochs"))))]
    await client.aclose()
    return found


def judged(report: Report) -> Report:
    """An honest history is never a violation."""
    assert report.violations == []
    assert report.verdict in {Verdict.CLEAN, Verdict.UNCHECKED}
    return report


CLOCKS = {Code.CLOCK_DOUBTED, Code.UPSTREAM_CLOCK_DOUBTED}


@pytest.mark.parametrize(
    ("role", "step"),
    [(MAIN, DAY), slow(MAIN, -DAY), slow(GATEWAY, DAY), (GATEWAY, -DAY)],
    ids=["main service ahead", "main service behind", "gateway ahead", "gateway behind"],
)
async def test_a_day_wrong_for_six_seconds(tmp_path: Path, role: str, step: float) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        before = await opened(trial)
        trial.clocks[role].set = step
        assert await refusal(trial) in CLOCKS  # at once
        await until(says(trial, HealthCheckResponse.NOT_SERVING))
        for clock in trial.clocks.values():
            clock.passed += 6.0
        assert await refusal(trial) in CLOCKS
        trial.clocks[role].set = 0.0
        await until(serves(trial))
        await until(says(trial, HealthCheckResponse.SERVING))
        assert await opened(trial) == before
        await trial.busy(1)
        report = judged(await trial.audit())
        assert report.counts["main-service.REFUSED"] == 0  # nothing was looked at


@pytest.mark.parametrize("step", [DAY, slow(-DAY)], ids=["ahead", "behind"])
async def test_main_service_restarted_with_a_wrong_clock_while_the_gateway_is_away(tmp_path: Path, step: float) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        before = await opened(trial)
        for role in (GATEWAY, MAIN):
            await trial.halt(role)
        trial.clocks[MAIN].set = step
        await trial.serve(MAIN)
        await asyncio.sleep(1.5)  # a tick of whoever closes epochs
        assert await opened(trial) == before
        await trial.serve(GATEWAY)
        await until(doubts(trial))
        trial.clocks[MAIN].set = 0.0
        await until(serves(trial))
        assert await opened(trial) == before
        judged(await trial.audit())


async def until_closed(trial: Trial, before: list[tuple[bytes, bytes]]) -> None:
    """Until another epoch was closed than the last one before."""

    async def closed() -> bool:
        return (await opened(trial))[0][0] != before[0][0]

    await until(closed)


@pytest.mark.parametrize("away", [GATEWAY, slow(MAIN)])
async def test_away_for_26_hours(tmp_path: Path, away: str) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        before = await opened(trial)
        await trial.halt(away)
        trial.leap(7200.0)
        if away == GATEWAY:
            await until_closed(trial, before)  # alone, after an hour of steady time
        await trial.serve(away)
        await until(serves(trial))
        await until_closed(trial, before)
        await trial.busy(1)
        report = judged(await trial.audit())
        assert report.verdict is Verdict.CLEAN
        assert report.counts["epochs.believed"] == (1 if away == GATEWAY else 0)


async def test_next_day_begins_although_a_wrong_clock_ended_this_one(tmp_path: Path) -> None:
    """Restarted a day ahead while the gateway is away, alone for an hour: what is closed stays closed, for that day."""
    async with running(tmp_path, morning=True) as trial:
        await trial.busy(1)
        before = await opened(trial)
        for role in (GATEWAY, MAIN):
            await trial.halt(role)
        trial.clocks[MAIN].set = DAY
        await trial.serve(MAIN)
        for clock in trial.clocks.values():
            clock.passed += 3600.0
        await until_closed(trial, before)
        trial.clocks[MAIN].set = 0.0
        await trial.halt(MAIN)
        for role in (MAIN, GATEWAY):
            await trial.serve(role)
        assert await refusal(trial) is Code.EPOCH_KEY_STALE
        trial.leap(60.0)
        await until(serves(trial))
        await trial.busy(1)
        report = judged(await trial.audit())
        assert report.counts["epochs.believed"] == 1


async def test_stores_clock_that_is_a_day_ahead_takes_nothing_away(tmp_path: Path) -> None:
    """A machine's clock is its store's too, which forgets by it what has a time to live."""
    async with running(tmp_path) as trial:
        await trial.busy(1)
        for role in (MAIN, GATEWAY):
            client = connect(trial.url(role))
            await pass_time(client, int(DAY))
            await client.aclose()
        await trial.ask("node2 question")
        await trial.settle()
        await trial.device.consent(PEOPLE[0], "nothing")
        report = judged(await trial.audit())
        assert report.verdict is Verdict.CLEAN
        assert report.counts["released"] == 16
        assert report.counts["withheld.no_consent"] == 0
