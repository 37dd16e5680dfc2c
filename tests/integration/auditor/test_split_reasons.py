"""Entries of form `split` that were dropped: each reason is found again in the logs, or it is a violation."""

from pathlib import Path

import pytest

from auditor.findings import COMPLETENESS, Verdict
from gateway.store.library import GatewayStore
from gateway.store.links import Person
from proxid.protocol.rights import Right
from tests.support.split_house import house
from tests.support.trial import PEOPLE


@pytest.mark.slow
async def test_an_entry_is_dropped_of_somebody_who_consents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The gateway passes over one person, as if they had not consented."""
    honest = GatewayStore.people

    async def people(self: GatewayStore, prox_ids: list[str]) -> list[Person]:
        found = await honest(self, prox_ids)
        return [Person("", "", 0) if one.user_id == PEOPLE[1] else one for one in found]

    monkeypatch.setattr(GatewayStore, "people", people)
    async with house(tmp_path) as trial:
        await trial.evening()
        await trial.close()
        await trial.receive()
        for state in (False, True, True):
            report = await trial.audit(state=state)
            found = {(v.rule, v.text) for v in report.violations}
            assert (
                COMPLETENESS,
                "DROPPED: an entry was dropped as no_consent, and nothing in the logs says so",
            ) in found


async def test_entries_of_whoever_went_are_dropped_for_that(tmp_path: Path) -> None:
    async with house(tmp_path) as trial:
        await trial.evening()
        await trial.close()
        await trial.consent("nothing", PEOPLE[:1])
        await trial.exercise(Right.OBJECT, PEOPLE[1])
        first = await trial.audit(state=True)
        await trial.receive()
        await trial.exercise(Right.ERASE, PEOPLE[2])
        reports = [first, *[await trial.audit(state=state) for state in (True, False)]]
    for report in reports:
        assert report.verdict is Verdict.CLEAN, (report.violations, report.missing)
