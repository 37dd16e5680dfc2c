"""What a person said while the main service was away, and never says again: it is told when that is back (7, 11)."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from gateway.objections import HELD, Objections
from gateway.owed import Owed
from gateway.store.owed import OwedSteps
from gateway.store.steps import PREFIX
from main_service.store.library import PREFIX as SERVICE
from main_service.store.library import library
from main_service.store.subjects import SubjectStore
from main_service.store.told import Told
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.gateway import GatewayClient
from proxid.clients.household.household import Household
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
    async with running(tmp_path, morning=True) as trial:
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
    async with running(tmp_path, morning=True) as trial:
        await trial.consent()
        await away(trial)
        await trial.halt("gateway")
        await trial.serve("main-service")
        await trial.serve("gateway")
        await served(trial)
        await object_once(trial, Right.RESUME)
        await trial.device.consent(WITHDRAWS, "everything")
        await trial.consent("searches", [OBJECTS])
        await trial.ask("node0 question")
        await trial.settle()
        published = {r.user for groups in (await trial.receive()).values() for g in groups for r in g.records}
        report = await trial.audit()
    clean(report)
    assert {OBJECTS, WITHDRAWS} <= published


async def test_whoever_tells_the_main_service_has_that_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is asked while an objection is told may be told by another of the gateway's: by that one, once."""
    honest, claimed = (Objections.tell, OwedSteps.claim), asyncio.Event()
    polls, others = 0, list[asyncio.Task[None]]()

    async def tell(self: Objections, user_tag: str) -> None:
        await honest[0](self, user_tag)
        if not others and await self._store.owed_objection(user_tag) is not None:
            assert await honest[1](self._store, f"object|{user_tag}", HELD)
            others.append(asyncio.create_task(slow(self, user_tag)))

    async def slow(self: Objections, user_tag: str) -> None:
        await claimed.wait()
        await honest[0](self, user_tag)

    async def claim(self: OwedSteps, name: str, seconds: int) -> bool:
        nonlocal polls
        polls += bool(others)
        if polls > 60:  # three seconds of asking
            claimed.set()
        return await honest[1](self, name, seconds)

    async def nothing(_: Owed) -> None:
        """Worker 0 is played by the above."""

    async with running(tmp_path, morning=True) as trial:
        await trial.consent()
        await trial.ask("node0 question")
        await trial.settle()
        monkeypatch.setattr(Owed, "step", nothing)
        await trial.halt("main-service")
        with pytest.raises(UpstreamError):
            await object_once(trial)
        await trial.halt("gateway")
        await trial.serve("main-service")
        await trial.serve("gateway")
        await served(trial)
        monkeypatch.setattr(Objections, "tell", tell)
        monkeypatch.setattr(OwedSteps, "claim", claim)
        await object_once(trial, Right.RESUME)
        claimed.set()
        await asyncio.gather(*others)
        report = await trial.audit()
    clean(report)
    assert polls > 60 and report.counts["main-service.RESTRICTED"] == 2


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


async def loses_a_key(trial: Trial, user: str) -> None:
    """Another epoch key of somebody's is linked, which the main service hears nothing of, and nobody asks for again."""
    (key,) = trial.device._users[user]._folder.glob("epoch-*.key")
    key.unlink()
    await trial.device.close()
    config = load(DeviceConfig, trial.folder / "devices/household-1/device.toml")
    trial.device = Household(config, GatewayClient.open(config), trial.clocks["device"].wall)
    with pytest.raises((ProxidError, TimeoutError)):
        async with asyncio.timeout(1):
            await trial.device.session(user)


async def kept(trial: Trial, prox_id: str) -> set[str]:
    """What the main service's store names by somebody's PROX_ID."""
    main = connect(trial.url("main-service"))
    try:
        return {name.decode() async for name in main.scan_iter(match=f"{SERVICE}:*:{prox_id}")}
    finally:
        await main.aclose()


def waiting(names: set[str]) -> set[str]:
    return {name for name in names if ":mine:" in name or (":split:" in name and ":by:" in name)}


async def resumed_late(trial: Trial, prox_id: str) -> None:
    """That somebody resumed comes to the main service after all else."""
    main = connect(trial.url("main-service"))
    await SubjectStore(library(main)).unrestrict(Told(prox_id, False, 60, bytes(16)))
    await main.aclose()


SPLIT = {"form": "split", "bucket": 21600}


@pytest.mark.parametrize(("anonymiser", "right"), [
    pytest.param({"form": "pairs"}, None, id="pairs"),
    pytest.param({"form": "pairs"}, Right.OBJECT, id="pairs-objects", marks=pytest.mark.slow),
    pytest.param(SPLIT, "withdraws before", id="split-withdraws", marks=pytest.mark.slow),
    pytest.param(SPLIT, Right.OBJECT, id="split-objects", marks=pytest.mark.slow),
    pytest.param(SPLIT, Right.ERASE, id="split-erases", marks=pytest.mark.slow),
])  # fmt: skip
async def test_of_a_lost_key_nothing_waits_though_nobody_asks_again(
    tmp_path: Path, anonymiser: dict[str, Any], right: Right | str | None
) -> None:
    async with running(tmp_path, anonymiser=anonymiser) as trial:
        await trial.consent()
        lost = (await trial.device.session(OBJECTS)).prox_id
        await trial.ask("waits here", [OBJECTS])
        await trial.settle()
        assert waiting(await kept(trial, lost))
        await trial.halt("main-service")
        if right == "withdraws before":
            with pytest.raises(UpstreamError):
                await consent_once(trial, "nothing", OBJECTS)
        await loses_a_key(trial, OBJECTS)
        if right is Right.OBJECT:
            with pytest.raises(UpstreamError):
                await object_once(trial)
        elif right is Right.ERASE:
            config = load(DeviceConfig, trial.folder / "devices/household-1/device.toml")
            client = RightsClient(config, trial.device, trial.clocks["device"].wall)
            await client.accept(OBJECTS)
            await client.close()
        await trial.halt("gateway")
        await trial.serve("main-service")
        await trial.serve("gateway")
        if right is Right.ERASE:
            await object_once(trial, Right.ERASE)
        await told(trial)
        names = await kept(trial, lost)
        assert not waiting(names)
        if right is not Right.ERASE:
            await resumed_late(trial, lost)
            assert f"{SERVICE}:ob:{lost}" in await kept(trial, lost)
        await trial.ask("node9 question", [STAYS])
        report = await trial.audit()
    clean(report)
    assert report.counts["main-service.WITHDRAWN"] >= 1
    if right is Right.ERASE:
        assert not names and report.counts["main-service.ERASED"] == 2
