"""What no audit of logs can see of people's keys: it is a row of the report, or told once somebody shows it.

A revocation that nobody brings to the gateway, or that it hides; a key that was replaced before a store was lost.
"""

import asyncio
from pathlib import Path

import pytest

from auditor.checks.c9_receipts import read_receipts
from auditor.findings import Report, Verdict
from gateway.store.links import LinkSteps, Revoked
from proxid.clients.household import enrolment
from proxid.errors import RefusedError
from proxid.runtime.provision.revocations import bring_revocations, write_revocations
from tests.integration.auditor.test_successors import lost
from tests.integration.gateway.test_keys_of_people import at_home, authority_of, revoke, taken
from tests.support.trial import PEOPLE, Trial, running

USER = PEOPLE[1]
UNKNOWN = "keys that the enrolment authority revoked are in use by the gateway's log"


def unchecked(report: Report) -> str:
    assert report.violations == []
    return "; ".join(reason.text for reason in report.reasons)


@pytest.mark.parametrize("hidden", [False, True], ids=["nobody brings it", "the gateway hides it"])
async def test_a_revocation_that_no_log_says_is_a_row_and_told_once_the_authority_shows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hidden: bool
) -> None:
    async with running(tmp_path) as trial:
        looked = asyncio.Event()

        async def hide(*_: object) -> Revoked:
            looked.set()
            return Revoked.BEFORE

        config, file = trial.config("gateway"), tmp_path / "revoked.json"
        revoked = enrolment.revoke(authority_of(trial), [USER], int(trial.clocks["gateway"].wall()))
        write_revocations(file, revoked)
        with monkeypatch.context() as patch:
            if hidden:
                patch.setattr(LinkSteps, "revoke", hide)
                bring_revocations(config.data_dir, revoked, config.trust.enrolment_authority)
                await asyncio.wait_for(looked.wait(), 20)
            await trial.busy(1)
            report = await trial.audit()
            assert report.verdict is Verdict.CLEAN and report.believed["keys"] == len(PEOPLE)
            assert f"1 {UNKNOWN}" in unchecked(await trial.audit(receipts=list(read_receipts(file))))
        await trial.halt("gateway")
        await trial.serve("gateway")
        bring_revocations(config.data_dir, revoked, config.trust.enrolment_authority)
        await taken(trial)
        report = await trial.audit(receipts=list(read_receipts(file)))
        assert report.verdict is Verdict.CLEAN, (report.violations, report.reasons)
        assert report.counts["receipts.compared.revocation"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("revoked", [False, True], ids=["replaced alone", "and revoked"])
async def test_a_key_that_was_replaced_before_a_store_was_lost_comes_back_and_is_told(
    tmp_path: Path, revoked: bool
) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        if revoked:
            revoke(trial, USER)
            await taken(trial)
        await replaced(trial)
        await trial.audit(state=True)
        await lost(trial)
        if revoked:  # what was brought lies in the gateway's folder
            with pytest.raises(RefusedError) as refused:
                await trial.device.ask(USER, "node words")
            assert str(refused.value.remote) == "not_registered"
            assert "revoked or replaced" not in unchecked(await trial.audit(state=True))
            return
        assert (await trial.device.ask(USER, "node words")).text
        found = unchecked(await trial.audit()), unchecked(await trial.audit(state=True))
        assert all("store was lost" in text for text in found)
        # Nobody can read the older log any more but an audit that has read it.
        assert "a key was enrolled that was revoked or replaced; what was damaged or lost" in found[1]


async def replaced(trial: Trial) -> None:
    anew = at_home(trial, "anew", USER)
    await anew.session(USER)
    await anew.close()
