"""What a person said while the main service was away, and never says again: it is told when that is back (7, 11)."""

import asyncio
from pathlib import Path

import pytest

from gateway.store.steps import PREFIX
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.rights import RightsClient
from proxid.errors import ProxidError, UpstreamError
from proxid.protocol.rights import Right
from proxid.runtime.config import load
from proxid.runtime.store import connect
from tests.integration.gateway.test_keys_of_people import revoke, taken
from tests.support.split_house import clean, house, served
from tests.support.trial import PARTIES, PEOPLE, Trial, running

OBJECTS, WITHDRAWS, STAYS = PEOPLE[1], PEOPLE[2], PEOPLE[3]


async def object_once(trial: Trial, right: Right = Right.OBJECT, user: str = OBJECTS) -> None:
    """One call, not tried again; returns when it is carried out."""
    config = load(DeviceConfig, trial.folder / "devices/household-1/device.toml")
    client = RightsClient(config.model_copy(update={"attempts": 1}), trial.device, trial.clocks["device"].wall)
    try:
        await client.exercise(right, user)
    finally:
        await client.close()


async def consent_once(trial: Trial, bundle: str, user: str = WITHDRAWS) -> None:
    trial.device._gateway._limit = 1
    try:
        await trial.device.consent(user, bundle)
    finally:
        trial.device._gateway._limit = 12


async def told(trial: Trial) -> None:
    """The main service is owed nothing any more."""
    gateway = connect(trial.url("gateway"))
    try:
        async with asyncio.timeout(30):
            while await gateway.zcard(f"{PREFIX}:owed"):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
    finally:
        await gateway.aclose()


async def away(trial: Trial) -> None:
    """The main service is away for ten minutes; meanwhile one objects and one withdraws."""
    await trial.halt("main-service")
    with pytest.raises(UpstreamError):
        await object_once(trial)
    with pytest.raises(UpstreamError):
        await consent_once(trial, "nothing")
    for clock in trial.clocks.values():
        clock.passed += 600


async def another_epoch(trial: Trial) -> None:
    trial.leap(7200.0)
    async with asyncio.timeout(60):
        while True:
            try:
                await trial.consent("everything", [STAYS])
                await trial.ask("node9 question", [STAYS])
                return
            except ProxidError:
                await asyncio.sleep(0.2)


async def test_who_never_says_it_again_accuses_nobody(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        await trial.consent()
        await trial.ask("node0 question")
        await trial.settle()
        await away(trial)
        await trial.serve("main-service")
        await told(trial)
        for _ in range(2):
            await another_epoch(trial)
        await trial.receive()
        report = await trial.audit()
    clean(report)
    assert report.counts["rights.object"] == report.counts["rights.withdrawal"] == 1
    assert report.counts["dropped.objected"] + report.counts["dropped.withdrawn"] >= len(PARTIES)


async def test_a_withdrawal_is_told_though_the_key_is_revoked_meanwhile(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        await trial.consent()
        await trial.halt("main-service")
        with pytest.raises(UpstreamError):
            await consent_once(trial, "nothing")
        revoke(trial, WITHDRAWS)
        gateway = connect(trial.url("gateway"))
        async with asyncio.timeout(30):
            while not [name async for name in gateway.scan_iter(f"{PREFIX}:eo*")]:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        await gateway.aclose()
        await trial.halt("gateway")  # nor does another process know that key any more
        await trial.serve("main-service")
        await trial.serve("gateway")
        await told(trial)
        await trial.ask("node0 question", [STAYS])
        await taken(trial)
        report = await trial.audit()
    clean(report)
    assert report.counts["gateway.REVOKED"] == report.counts["rights.withdrawal"] == 1
    assert report.counts["main-service.CONSENT"] == len(PEOPLE) + 1


async def test_what_is_said_next_follows_what_was_said_before(tmp_path: Path) -> None:
    """Who withdrew while the main service was away consents and objects as ever afterwards, also by another message."""
    async with running(tmp_path) as trial:
        await trial.consent()
        await away(trial)
        await trial.halt("gateway")
        await trial.serve("main-service")
        await trial.serve("gateway")
        await served(trial)  # type: ignore[arg-type]
        await object_once(trial, Right.RESUME)
        await trial.device.consent(WITHDRAWS, "everything")
        await trial.consent("searches", [OBJECTS])
        await trial.ask("node0 question")
        await trial.settle()
        published = {r.user for groups in (await trial.receive()).values() for g in groups for r in g.records}
        report = await trial.audit()
    clean(report)
    assert {OBJECTS, WITHDRAWS} <= published


async def test_contents_are_formed_without_whoever_went_meanwhile(tmp_path: Path) -> None:
    async with house(tmp_path) as trial:
        await trial.evening()
        await away(trial)
        await trial.serve("main-service")
        await told(trial)
        await trial.close()
        got = await trial.receive()
        for _ in range(2):
            await another_epoch(trial)
        await trial.settle()
        report = await trial.audit()
    clean(report)
    assert all(any(one.contents is not None for one in groups) for groups in got.values())
