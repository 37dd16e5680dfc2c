"""Links that expire (DESIGN 10.2, 10.4): what they took with them accuses nobody, also where an audit knows it."""

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest

from auditor.findings import Verdict
from proxid.errors import ProxidError
from proxid.protocol.rights import Right
from tests.integration.gateway.test_owed import object_once
from tests.support.aging import age
from tests.support.days import DAY
from tests.support.lies import GATEWAY, MAIN
from tests.support.lies_epochs import patiently
from tests.support.split_house import clean, served
from tests.support.trial import PEOPLE, Trial, running

FORMS = {
    "pairs": {"form": "pairs"},
    "split": {"form": "split", "level": 2, "min_text_users": 2, "bucket": "1 d"},
}
KEPT = {"links": "31 d"}


async def evening(trial: Trial, people: tuple[str, ...] = PEOPLE) -> None:
    await patiently(lambda: trial.consent(people=people))
    for node in ("news", "travel", "health"):
        await trial.ask(f"{node} of today", people)
    await trial.settle()


async def another_day(trial: Trial, people: tuple[str, ...]) -> None:
    trial.leap(3600.0)
    await served(trial)
    await evening(trial, people)


@pytest.mark.parametrize("form", ["pairs", pytest.param("split", marks=pytest.mark.slow)])
async def test_what_a_party_fetches_after_a_month_is_dropped_and_accuses_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    """Whoever had asked it is not known any more, and one of them is erased since; an audit has read it before."""
    monkeypatch.setattr("gateway.expiry._PAUSE", 0.2)
    monkeypatch.setattr("proxid.runtime.evidence_log.promising._FRESH", 0.0)  # days pass at once
    async with running(tmp_path, morning=True, anonymiser=FORMS[form], retention=KEPT) as trial:
        await evening(trial)
        await another_day(trial, PEOPLE)
        await trial.receive("acme")
        clean(await trial.audit(state=True))
        await age(trial, 40 * DAY)
        await served(trial)
        await evening(trial)
        await object_once(trial, Right.ERASE, PEOPLE[4])
        left = tuple(person for person in PEOPLE if person != PEOPLE[4])
        for _ in range(3):
            await another_day(trial, left)
            await trial.receive()
        reports = [await trial.audit(state=state) for state in (True, False)]
    for report in reports:
        assert report.violations == []
    assert reports[0].counts["gateway.DROPPED"] and reports[0].counts["gateway.EXPIRED"]


async def test_a_gateway_that_was_away_when_links_expired_says_so_once_it_is_back(tmp_path: Path) -> None:
    """Its store counts on meanwhile, and it looks ten minutes later: an audit in between finds keys gone."""
    async with running(tmp_path, morning=True, retention=KEPT) as trial:
        await trial.busy(1)
        clean(await trial.audit(state=True))
        await trial.halt(GATEWAY)
        await age(trial, 32 * DAY)
        await trial.serve(GATEWAY)
        await served(trial)
        await patiently(trial.consent)
        for state in (True, False):
            report = await trial.audit(state=state)
            assert (report.violations, report.counts["gateway.EXPIRED"]) == ([], 0)
        assert report.verdict is Verdict.UNCHECKED


@pytest.mark.parametrize("asked", ["before", pytest.param("after", marks=pytest.mark.slow)])
async def test_who_objects_or_is_erased_while_the_main_service_is_away_for_a_month_accuses_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    """It is carried out once that is back, before an epoch begins; whose all was has expired, and an audit knows it.

    Args:
        asked: before or after links expire.
    """
    monkeypatch.setattr("proxid.runtime.evidence_log.promising._FRESH", 0.0)  # days pass at once
    async with running(tmp_path, morning=True, retention=KEPT) as trial:
        await trial.busy(1)
        clean(await trial.audit(state=True))
        await trial.halt(MAIN)
        if asked == "after":
            await age(trial, 33 * DAY)
        for right, person in ((Right.OBJECT, PEOPLE[6]), (Right.ERASE, PEOPLE[7])):
            with suppress(ProxidError, TimeoutError):
                async with asyncio.timeout(1):
                    await object_once(trial, right, person)
        if asked == "before":
            await age(trial, 33 * DAY)
        await trial.serve(MAIN)
        await served(trial)
        for right, person in ((Right.OBJECT, PEOPLE[6]), (Right.ERASE, PEOPLE[7])):
            await object_once(trial, right, person)
        await patiently(lambda: trial.consent(people=PEOPLE[:5]))
        reports = [await trial.audit(state=state) for state in (True, False)]
        await trial.halt(GATEWAY)
        monkeypatch.setattr("gateway.expiry._PAUSE", 0.2)  # a day passes at once, in which it looks often
        await trial.serve(GATEWAY)
        await another_day(trial, PEOPLE[:5])
        reports += [await trial.audit(state=state) for state in (True, False)]
    for report in reports:
        assert (report.violations, report.counts["gateway.ERASED"]) == ([], 1)
    assert [report.verdict for report in reports[2:]] == [Verdict.CLEAN] * 2, [one.reasons for one in reports[2:]]
