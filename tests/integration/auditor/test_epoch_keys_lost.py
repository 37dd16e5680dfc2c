"""The keys of an epoch are lost in its middle: those of the services with both stores, a person's with their folder."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from auditor.checks.c9_receipts import read_receipts
from auditor.findings import Report, Verdict
from gateway.upstream import MainServiceClient
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.gateway import GatewayClient
from proxid.clients.household.household import Household
from proxid.clients.household.rights import RightsClient
from proxid.errors import Code, ProxidError, RefusedError
from proxid.protocol.rights import Right
from proxid.runtime.config import load
from proxid.runtime.store import connect
from tests.integration.auditor.test_successors import mend
from tests.integration.gateway.test_keys_of_people import at_home, revoke, taken
from tests.support.trial import PEOPLE, Trial, running

USER = PEOPLE[1]


@pytest.mark.slow
async def test_an_epoch_that_both_services_forgot_begins_again_and_accuses_nobody(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        for role in ("main-service", "gateway"):
            await trial.halt(role)
            store = connect(trial.url(role))
            await store.flushall()
            await store.aclose()
            assert await mend(trial, role) == 0
        for role in ("main-service", "gateway"):
            await trial.serve(role)
        await trial.ask("node7 question")
        await trial.settle()
        receipts = list(read_receipts(tmp_path / "devices/household-1/data"))
        assert sum(receipt.kind == "epoch" for receipt in receipts) == 2
        for _ in range(2):
            report = await trial.audit(receipts=receipts)
            assert report.violations == []
            assert report.verdict is Verdict.UNCHECKED
            assert any("store was lost" in reason.text for reason in report.reasons)
            trial.leap(1)
            await trial.busy(1)


def opened(trial: Trial) -> Household:
    """The trial's household, opened again."""
    config = load(DeviceConfig, trial.folder / "devices/household-1/device.toml")
    return Household(config, GatewayClient.open(config), trial.clocks["device"].wall)


def forgetful(trial: Trial) -> Household:
    """A household, in the place of the trial's, that has lost the epoch key of one of its people."""
    (key,) = trial.device._users[USER]._folder.glob("epoch-*.key")
    key.unlink()
    return opened(trial)


async def lost(trial: Trial) -> None:
    """The trial goes on with a household that has lost an epoch key."""
    anew = forgetful(trial)
    await trial.device.close()
    trial.device = anew


async def audits(trial: Trial, stored: bool = False) -> Report:
    """From nothing, perhaps with what is known stored after each event, and one to go on from: both are clean."""
    receipts = list(read_receipts(trial.folder / "devices/household-1/data"))
    found = [await trial.audit(receipts=receipts, **how) for how in ({"stored": stored}, {"state": True})]
    for report in found:
        assert report.verdict is Verdict.CLEAN, (report.violations, report.missing)
    return found[0]


async def refused(trial: Trial) -> str:
    with pytest.raises(RefusedError) as error:
        await trial.device.ask(USER, "node0 question")
    assert error.value.remote is not None
    return str(error.value.remote.value)


SPLIT = pytest.param({"form": "split", "bucket": 21600}, marks=pytest.mark.slow, id="split")


@pytest.mark.parametrize("anonymiser", [pytest.param({"form": "pairs"}, id="pairs"), SPLIT])
async def test_who_lost_an_epoch_key_goes_on_in_the_epoch_under_another(
    tmp_path: Path, anonymiser: dict[str, Any]
) -> None:
    async with running(tmp_path, anonymiser=anonymiser) as trial:
        await trial.busy(1)
        before = await trial.device.session(USER)
        await trial.ask("waits here", [USER])
        await trial.settle()
        await lost(trial)
        # Until the main service has given up what waits under the lost key, nobody has another.
        await trial.halt("main-service")
        with pytest.raises((ProxidError, TimeoutError)):
            async with asyncio.timeout(1):
                await trial.device.session(USER)
        await trial.serve("main-service")
        after = await trial.device.session(USER)
        assert after.prox_id != before.prox_id and before.seasoned and not after.seasoned
        assert (await trial.device.standing(USER)).bundle == "nothing"
        await trial.consent("everything", [USER])
        await trial.ask("node1 question")
        await trial.settle()
        await trial.device.consent(USER, "nothing")
        await trial.receive()
        report = await audits(trial, stored=anonymiser["form"] == "split")
        assert report.counts["main-service.WITHDRAWN"] >= 1 and report.counts["gateway.LINKED"] == len(PEOPLE) + 1
        assert report.scope.people == len(PEOPLE)
        assert report.believed["lost"] == 1
        # Once an epoch.
        await lost(trial)
        assert await refused(trial) == "not_registered"
        trial.leap(1)
        assert (await trial.device.session(USER)).seasoned
        assert (await trial.audit(state=True)).verdict is Verdict.CLEAN


@pytest.mark.slow
async def test_nothing_is_taken_under_another_key_before_what_waits_under_the_lost_one_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def forgotten(*_: object, **__: object) -> None:
        """The gateway does not tell the main service."""

    async with running(tmp_path) as trial:
        await trial.busy(1)
        await lost(trial)
        with monkeypatch.context() as patch:
            patch.setattr(MainServiceClient, "restrict", forgotten)
            with pytest.raises(RefusedError) as error:
                await trial.device.ask(USER, "node1 question")
            assert error.value.remote is Code.UPSTREAM_REFUSED
        await trial.device.close()
        trial.device = opened(trial)
        assert (await trial.device.ask(USER, "node1 question")).text
        await audits(trial)


@pytest.mark.slow
async def test_who_lost_an_epoch_key_is_erased_whole(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        await lost(trial)
        await trial.busy(1)
        await trial.device.ask(USER, "waits here")
        config = load(DeviceConfig, trial.folder / "devices/household-1/device.toml")
        client = RightsClient(config, trial.device, trial.clocks["device"].wall)
        await client.exercise(Right.OBJECT, USER)
        await client.exercise(Right.RESUME, USER)
        await client.exercise(Right.ERASE, USER)
        await client.close()
        report = await audits(trial)
        assert report.counts["main-service.ERASED"] == 2


@pytest.mark.slow
async def test_a_new_key_of_a_person_counts_in_the_epoch_in_which_the_one_before_was_revoked(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        revoke(trial, USER)
        await taken(trial)
        anew = at_home(trial, "anew", USER)
        assert (await anew.ask(USER, "node0 question")).text
        await anew.close()
        assert await refused(trial) == "not_registered"
        await audits(trial)
