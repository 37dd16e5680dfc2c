"""What has expired accuses nobody in an audit from the beginning: rights that were carried out, and consent at MS.

Segments end and expire when a test says so: the job that would do it by the hour waits.
"""

import asyncio
import time
from pathlib import Path

import pytest

from auditor.checks.c9_receipts import read_receipts
from proxid.protocol.rights import Right
from proxid.runtime.evidence_log.retention import DAY, PayloadRetention
from tests.integration.gateway.test_rights import rights
from tests.support.trial import PEOPLE, Trial, running


class Retention:
    """The services' jobs, by role."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._jobs: dict[str, PayloadRetention] = {}
        jobs = self._jobs

        async def run(job: PayloadRetention) -> None:
            jobs["gateway" if "gateway" in job._log.folder.parts else "main-service"] = job
            await asyncio.Event().wait()

        monkeypatch.setattr(PayloadRetention, "run", run)

    async def look(self, role: str, days: float) -> int:
        """The job looks, so much later than it is."""
        job = self._jobs[role]
        job._clock = lambda: time.time() + days * DAY
        return await job.step()

    async def end_segment(self, trial: Trial, role: str) -> None:
        """The segment ends: what comes from now on lies in another one."""
        await trial.audit()  # its heads are fresh: everything is written
        before = len(segments(trial, role))
        async with asyncio.timeout(60):
            while len(segments(trial, role)) == before:
                await self.look(role, 2)  # which waits, as on a busy machine, until its clock is confirmed
                await trial.ask("node9 question", PEOPLE[:1])
                await trial.settle()
                await trial.audit()
        await self.look(role, 0)

    async def expire(self, trial: Trial, role: str) -> None:
        """Every segment but the last expires."""
        old = segments(trial, role)[:-1]
        async with asyncio.timeout(60):
            while not await self.look(role, 400):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            await self.look(role, 0)
            while any((segment / "parts").exists() for segment in old):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        assert (segments(trial, role)[-1] / "parts").exists()


def segments(trial: Trial, role: str) -> list[Path]:
    return sorted((trial.folder / role / "data/evidence/segments").iterdir())


@pytest.fixture
def retention(monkeypatch: pytest.MonkeyPatch) -> Retention:
    """Here nothing is too young to expire."""
    monkeypatch.setenv("PROXID_AUDITOR__FLOORS__PAYLOADS", "0")
    return Retention(monkeypatch)


@pytest.mark.parametrize("roles", [["gateway"], ["gateway", "main-service"]], ids=["shorter", "equal"])
async def test_rights_whose_events_have_expired_are_known_by_their_headers(
    tmp_path: Path, retention: Retention, roles: list[str]
) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        client = rights(trial)
        for right in (Right.OBJECT, Right.RESUME, Right.ERASE):
            await client.exercise(right, PEOPLE[7])
        await client.access(PEOPLE[6])
        await client.close()
        before = await trial.audit(state=True)
        for role in roles:
            await retention.end_segment(trial, role)
        for role in roles:
            await retention.expire(trial, role)
        await trial.ask("node3 question", PEOPLE[:4])
        await trial.settle()
        presented = list(read_receipts(tmp_path / "devices/household-1/data"))
        assert sum(receipt.kind == "rights" for receipt in presented) >= 3
        for state in (True, False):
            report = await trial.audit(state=state, receipts=presented)
            assert report.violations == []
            early = {reason.log for reason in report.missing if "expired before the time" in reason.text}
            assert early == set(roles)  # whether a clock was wrong or somebody hides something
            for name in ("erase", "object", "resume", "access"):
                assert report.counts[f"rights.{name}"] == before.counts[f"rights.{name}"] == 1
            assert report.counts["events.unproven_erasures"] == (0 if state else 1)
        assert report.counts["receipts.compared.rights"] >= 3 and report.checked[8] > 0


async def test_who_waits_under_a_consent_that_has_expired_is_counted(tmp_path: Path, retention: Retention) -> None:
    async with running(tmp_path) as trial:
        await trial.consent()
        await retention.end_segment(trial, "main-service")
        await trial.ask("node1 question")
        await trial.settle()
        await retention.expire(trial, "main-service")
        for state in (False, True):
            report = await trial.audit(state=state)
            assert report.violations == [] and report.checked[6] > 0 and report.missing
            assert report.counts["consents.unknown"] >= len(PEOPLE)
        unknown = report.counts["consents.unknown"]
        # A choice that can be read is held against what waits again.
        await trial.consent("searches")
        await trial.ask("node2 question")
        await trial.settle()
        for state in (False, True):
            report = await trial.audit(state=state)
            assert report.violations == [] and report.counts["consents.unknown"] == unknown
