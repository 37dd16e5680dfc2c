"""Keys of people: enrolments end, a later key takes the place of an earlier one, and no right is exercised twice."""

import asyncio
import dataclasses
from pathlib import Path

import pytest

from auditor.findings import Verdict
from proxid.clients.household import enrolment
from proxid.clients.household.config import DeviceConfig, EnrolmentAuthorityConfig
from proxid.clients.household.gateway import GatewayClient
from proxid.clients.household.household import Household
from proxid.clients.household.rights import RightsClient
from proxid.clients.household.state import HouseholdState
from proxid.crypto.identity import Enrolment
from proxid.errors import RefusedError
from proxid.protocol.rights import Right, RightsReceipt
from proxid.runtime.config import load
from proxid.runtime.provision.keyfile import load_signing_key
from proxid.runtime.provision.revocations import bring_revocations
from proxid.runtime.store import connect
from tests.integration.gateway.test_rights import rights
from tests.support.trial import PEOPLE, Trial, running


def authority_of(trial: Trial) -> EnrolmentAuthorityConfig:
    return load(EnrolmentAuthorityConfig, trial.folder / "ea/ea.toml")


def revoke(trial: Trial, user: str) -> None:
    """The authority's word that a user's key is over lies with the gateway."""
    revoked = enrolment.revoke(authority_of(trial), [user], int(trial.clocks["gateway"].wall()))
    config = trial.config("gateway")
    bring_revocations(config.data_dir, revoked, config.trust.enrolment_authority)


async def taken(trial: Trial) -> None:
    """Wait until the gateway has put a revocation into effect."""
    async with asyncio.timeout(20):
        store = connect(trial.url("gateway"))
        while not await store.exists("{gw}:rv"):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        await store.aclose()


def at_home(trial: Trial, household: str, user: str) -> Household:
    """A household of its own, where a user makes a new key and has it enrolled in the place of the older one."""
    config = load(DeviceConfig, trial.folder / "devices/household-1/device.toml")
    config = config.model_copy(update={"data_dir": trial.folder / household})
    state = HouseholdState(config.data_dir)
    asked = enrolment.make_request(state, [user])
    issued = enrolment.issue(authority_of(trial), asked, 1, alike=True)
    assert config.trust.enrolment_authority is not None
    enrolment.accept(state, issued, config.trust.enrolment_authority)
    return Household(config, GatewayClient.open(config), trial.clocks["device"].wall)


async def test_by_a_revoked_key_nothing_is_linked_asked_chosen_or_exercised(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        revoke(trial, PEOPLE[1])
        await taken(trial)
        client = rights(trial)
        for act in (
            trial.device.ask(PEOPLE[1], "node words"),
            trial.device.consent(PEOPLE[1], "nothing"),
            client.exercise(Right.ACCESS, PEOPLE[1]),
            client.exercise(Right.ERASE, PEOPLE[1]),
        ):
            with pytest.raises(RefusedError) as refused:
                await act
            assert refused.value.remote.value == "not_registered"
        await client.close()
        await trial.ask("node words", PEOPLE[2:3])
        trial.leap(1)
        with pytest.raises(RefusedError):
            await trial.device.session(PEOPLE[1])
        anew = at_home(trial, "anew", PEOPLE[1])
        assert (await anew.ask(PEOPLE[1], "node words")).text
        # Who is erased is named in no file either, nor in one that is brought later.
        folder = trial.config("gateway").data_dir / "revoked"
        assert list(folder.iterdir())
        eraser = RightsClient(anew._config, anew, trial.clocks["device"].wall)
        await eraser.exercise(Right.ERASE, PEOPLE[1])
        async with asyncio.timeout(30):
            while list(folder.iterdir()):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            revoke(trial, PEOPLE[1])
            while list(folder.iterdir()):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        await eraser.close()
        await anew.close()
        report = await trial.audit()
    assert report.verdict is Verdict.CLEAN, (report.violations, report.missing)
    assert report.counts["gateway.REVOKED"] == 1 and report.counts["gateway.ENROLLED"] == 9


async def test_a_key_that_the_authority_did_not_replace_is_not_taken(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        trial.leap(1)
        anew = at_home(trial, "anew", PEOPLE[1])
        user = anew._users[PEOPLE[1]]
        key = load_signing_key(authority_of(trial).signing_key)
        named, user.enrolment = user.enrolment, Enrolment.issue(PEOPLE[1], user.key.public, 1, key)
        with pytest.raises(RefusedError) as refused:
            await anew.session(PEOPLE[1])
        assert refused.value.remote.value == "not_registered"
        user.enrolment = named
        assert (await anew.session(PEOPLE[1])).prox_id
        await anew.close()
        report = await trial.audit()
    assert report.verdict is Verdict.CLEAN, (report.violations, report.missing)


def enrol(trial: Trial, user: str, until: int = 0) -> Enrolment:
    """The authority's word for a user that lives with the household."""
    config = load(DeviceConfig, trial.folder / "devices/household-1/device.toml")
    authority = load(EnrolmentAuthorityConfig, trial.folder / "ea/ea.toml")
    state = HouseholdState(config.data_dir)
    (issued,) = enrolment.issue(authority, enrolment.make_request(state, [user]), 1, until=until)
    assert config.trust.enrolment_authority is not None
    state.add_enrolment(issued, config.trust.enrolment_authority)
    return issued


async def test_a_right_that_is_sent_again_takes_nothing_back(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        client = rights(trial)
        user = client._user(PEOPLE[1])
        objected, *_ = await client._ask(Right.OBJECT, user)
        await client.exercise(Right.RESUME, PEOPLE[1])
        receipt, *_ = await client._gateway.right(user.enrolment, objected.encode())
        assert RightsReceipt.decode(receipt).request == objected.digest
        accessed, _, share, _ = await client._ask(Right.ACCESS, user)
        assert (await client._gateway.right(user.enrolment, accessed.encode()))[1] == share
        await client.close()
        await trial.consent("everything", PEOPLE[1:2])  # which nobody who objects can do
        report = await trial.audit()
    assert report.verdict is Verdict.CLEAN, (report.violations, report.missing)
    assert report.counts["gateway.OBJECTED"] == 2 and report.counts["gateway.ACCESSED"] == 1


async def test_who_is_enrolled_until_a_time_is_linked_before_it_alone(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        now = int(trial.clocks["gateway"].wall())
        enrol(trial, "guest", until=now + 2 * 86_400)
        enrol(trial, "gone", until=now - 1)
        fresh = trial.device.open(load(DeviceConfig, tmp_path / "devices/household-1/device.toml"))
        with pytest.raises(RefusedError) as refused:
            await fresh.session("gone")
        assert refused.value.remote.value == "credential_invalid"
        assert (await fresh.session("guest")).prox_id
        await fresh.close()
        await trial.busy(1)
        report = await trial.audit()
    assert report.verdict is Verdict.CLEAN, (report.violations, report.missing)


@pytest.mark.parametrize("replaces", [0, 1, 16])
@pytest.mark.parametrize("until", [0, 10**10])
def test_an_enrolment_is_read_with_and_without_an_end(tmp_path: Path, until: int, replaces: int) -> None:
    from tests.support import scene

    earlier = tuple(bytes([i]) * 32 for i in range(replaces))
    issued = Enrolment.issue(scene.USER_ID, scene.USER.public, scene.NOW, scene.AUTHORITY, until, earlier)
    again = Enrolment.decode(issued.encode())
    again.verify(scene.AUTHORITY.public)
    assert again == issued and again.until == until and again.replaces == earlier
    with pytest.raises(Exception, match="signature"):
        dataclasses.replace(again, until=until + 1).verify(scene.AUTHORITY.public)
