"""Keys of people: enrolments end, a later key takes the place of an earlier one, and no right is exercised twice."""

import dataclasses
from pathlib import Path

import pytest

from auditor.findings import Verdict
from proxid.clients.household import enrolment
from proxid.clients.household.config import DeviceConfig, EnrolmentAuthorityConfig
from proxid.clients.household.state import HouseholdState
from proxid.crypto.identity import Enrolment
from proxid.errors import RefusedError
from proxid.protocol.rights import Right, RightsReceipt
from proxid.runtime.config import load
from tests.integration.gateway.test_rights import rights
from tests.support.trial import PEOPLE, Trial, running


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


@pytest.mark.parametrize("until", [0, 10**10])
def test_an_enrolment_is_read_with_and_without_an_end(tmp_path: Path, until: int) -> None:
    from tests.support import scene

    issued = Enrolment.issue(scene.USER_ID, scene.USER.public, scene.NOW, scene.AUTHORITY, until)
    again = Enrolment.decode(issued.encode())
    again.verify(scene.AUTHORITY.public)
    assert again == issued and again.until == until
    with pytest.raises(Exception, match="signature"):
        dataclasses.replace(again, until=until + 1).verify(scene.AUTHORITY.public)
