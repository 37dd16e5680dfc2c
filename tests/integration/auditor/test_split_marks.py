"""Who goes while contents of form `split` are still to come, and what that costs whom (DESIGN 8.11)."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from gateway.store.library import GatewayStore
from gateway.upstream import MainServiceClient
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.rights import RightsClient
from proxid.clients.subscriber.config import PartyConfig
from proxid.clients.subscriber.subscriber import open_subscriber
from proxid.errors import ProxidError, UpstreamError
from proxid.protocol.rights import Right
from proxid.runtime.config import load
from proxid.runtime.store import connect
from tests.support.lies import Liar
from tests.support.split_house import House, begun, clean, contents, house, released, served
from tests.support.trial import PARTIES, PEOPLE


async def first_tick(trial: House, options: dict[str, Any]) -> None:
    """Everybody's entries of the first tick are delivered; the epoch goes on."""
    await trial.evening()
    for clock in trial.clocks.values():
        clock.passed += options["epoch_seconds"] // 4
    await released(trial)
    await served(trial)
    await trial.receive()


async def late(trial: House, seconds: float) -> int:
    """How many contents wait no longer than this many seconds from now."""
    gateway = connect(trial.url("gateway"))
    try:
        return await GatewayStore(gateway).drop_late(PARTIES, trial.clocks["gateway"].wall() + seconds)
    finally:
        await gateway.aclose()


@pytest.mark.parametrize("right", [Right.ERASE, Right.OBJECT])
@pytest.mark.parametrize("stored", [pytest.param(False, marks=pytest.mark.slow), True])
async def test_who_goes_within_an_epoch_costs_nobody_its_contents(tmp_path: Path, right: Right, stored: bool) -> None:
    """The main service forms them without the person; who is not connected just then gets them, too."""
    options = begun()
    async with house(tmp_path, **options) as trial:
        await first_tick(trial, options)
        await trial.exercise(right, PEOPLE[0])
        await trial.close()
        assert await late(trial, 120) == 0
        got = await trial.receive()
        shown = [contents(got[party]) for party in PARTIES]
        assert [len(one) for one in shown] == [1, 1]
        assert sum(row.records for row in shown[0][0].rows) + shown[0][0].withheld == 3 * len(PEOPLE) + 5 - 5
        report = await trial.audit(stored=stored)
        assert not report.violations, report.violations
        if right is Right.OBJECT:
            clean(report)


async def test_an_audit_that_goes_on_after_an_erasure(tmp_path: Path) -> None:
    options = begun()
    async with house(tmp_path, **options) as trial:
        await first_tick(trial, options)
        clean(await trial.audit(state=True))
        await trial.exercise(Right.ERASE, PEOPLE[0])
        assert not (await trial.audit(state=True)).violations
        await trial.close()
        got = await trial.receive()
        assert [len(contents(got[party])) for party in PARTIES] == [1, 1]
        assert not (await trial.audit(state=True)).violations


async def test_an_erasure_that_the_main_service_confirms_after_the_epoch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it formed may hold the person, and goes to nobody; that somebody else was erased in time changes nothing."""
    honest, unheard = MainServiceClient.erase, set[str]()
    deaf = True

    async def erase(self: MainServiceClient, prox_id: str, tag: bytes) -> None:
        if deaf and (not unheard or prox_id in unheard):
            unheard.add(prox_id)
            raise UpstreamError("not now")
        await honest(self, prox_id, tag)

    monkeypatch.setattr(MainServiceClient, "erase", erase)
    options = begun()
    async with house(tmp_path, **options) as trial:
        await first_tick(trial, options)
        await accepted(trial, PEOPLE[0])
        async with asyncio.timeout(30):
            while not unheard:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        await trial.exercise(Right.ERASE, PEOPLE[1])
        await trial.close()
        got = await trial.receive()
        assert [contents(got[party]) for party in PARTIES] == [[], []]
        deaf = False
        await trial.exercise(Right.ERASE, PEOPLE[0])
        report = await trial.audit()
        assert not report.violations, report.violations


async def accepted(trial: House, user: str) -> None:
    config = load(DeviceConfig, trial.folder / "devices/household-1/device.toml")
    client = RightsClient(config, trial.device, trial.clocks["device"].wall)
    await client.accept(user)
    await client.close()


async def test_contents_sent_after_an_erasure_that_came_after_them_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gateway that does not drop them, though who was erased has entries that were delivered."""
    async with house(tmp_path) as trial:
        liar = Liar(trial, monkeypatch)
        await trial.evening()
        await trial.close()
        gateway = connect(trial.url("gateway"))
        (held,) = [
            cursor
            for cursor in await gateway.zrange("{gw}:f:acme", 0, -1)
            if await gateway.hget(f"{{gw}}:g:acme:{cursor.decode()}", "t") == b"contents"
        ]
        await gateway.zrem("{gw}:f:acme", held)
        await trial.receive()
        clean(await trial.audit(state=True))  # it can read whose the entries are
        liar.options["state"] = True
        async for key in gateway.scan_iter(match="{gw}:ie:*"):
            await gateway.delete(key)  # it forgets who has entries
        await trial.exercise(Right.ERASE, PEOPLE[0])
        await gateway.zadd("{gw}:f:acme", {held: int(held)})
        await gateway.aclose()
        async with open_subscriber(load(PartyConfig, tmp_path / "parties/acme/party.toml")) as subscriber:
            subscriber._after = 0
            assert contents([group async for group in subscriber.groups(False)])
        assert 6 in await liar.caught()


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.slow
async def test_a_withdrawal_that_the_main_service_never_acknowledges(tmp_path: Path, again: bool) -> None:
    """It takes back what waits of the epoch before, and the person has not repeated it, or chosen otherwise."""
    options = begun()
    async with house(tmp_path, **options) as trial:
        await first_tick(trial, options)
        await trial.close()
        await served(trial)
        await trial.halt("main-service")
        for bundle in ("nothing", "everything") if again else ("nothing",):
            with pytest.raises(ProxidError):
                await trial.device.consent(PEOPLE[0], bundle)
        await trial.serve("main-service")
        for _ in range(4):
            trial.leap(310)
            await trial.over()
            await served(trial)
        report = await trial.audit()
        clean(report)
        assert report.counts["dropped"] == len(PARTIES)


@pytest.mark.parametrize("days", [pytest.param(1, marks=pytest.mark.slow), 3])
async def test_contents_that_come_days_later(tmp_path: Path, days: int) -> None:
    """The main service was away: nothing goes once it is not known any more who went."""
    async with house(tmp_path) as trial:
        await trial.evening()
        await trial.halt("main-service")
        for clock in trial.clocks.values():
            clock.passed += (1 + days) * 86_400
        await trial.serve("main-service")
        await served(trial)
        await trial.settle()
        got = await trial.receive()
        assert [len(contents(got[party])) for party in PARTIES] == [days < 2] * len(PARTIES)
        assert not (await trial.audit()).violations
