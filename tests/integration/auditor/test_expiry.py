"""What has expired accuses nobody in an audit from the beginning: rights that were carried out, and consent at MS.

Segments end and expire when a test says so: the job that would do it by the hour waits.
"""

import asyncio
import time
from pathlib import Path

import pytest

from auditor.receipts import read_receipts
from proxid.protocol.rights import Right
from proxid.store.evidence.retention import DAY, PayloadRetention
from tests.integration.test_evidence_rights import rights
from tests.support.house import PEOPLE, House, running


class Retention:
    """The services' jobs, by role."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._jobs: dict[str, PayloadRetention] = {}
        jobs = self._jobs

        async def run(job: PayloadRetention) -> None:
            jobs["gateway" if "gateway" in job._log.folder.parts else "main-service"] = job
            await asyncio.Event().wait()

        monkeypatch.setattr(PayloadRetention, "run", run)

    async def _look(self, role: str, days: float) -> int:
        """The job looks, so much later than it is."""
        job = self._jobs[role]
        job._clock = lambda: time.time() + days * DAY
        return await job.step()

    async def end_segment(self, house: House, role: str) -> None:
        """The segment ends: what comes from now on lies in another one."""
        before = len(segments(house, role))
        await self._look(role, 2)
        async with asyncio.timeout(30):
            while len(segments(house, role)) == before:
                await house.ask("node9 question", PEOPLE[:1])
                await house.settle()
                await house.audit()  # its heads are fresh: everything is written
        await self._look(role, 0)

    async def expire(self, house: House, role: str) -> None:
        """Every segment but the last expires."""
        old = segments(house, role)[:-1]
        assert await self._look(role, 400)
        await self._look(role, 0)
        async with asyncio.timeout(20):
            while any((segment / "parts").exists() for segment in old):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        assert (segments(house, role)[-1] / "parts").exists()


def segments(house: House, role: str) -> list[Path]:
    return sorted((house.folder / role / "data/evidence/segments").iterdir())


@pytest.fixture
def retention(monkeypatch: pytest.MonkeyPatch) -> Retention:
    return Retention(monkeypatch)


@pytest.mark.parametrize("roles", [["gateway"], ["gateway", "main-service"]], ids=["shorter", "equal"])
async def test_rights_whose_events_have_expired_are_known_by_their_headers(
    tmp_path: Path, retention: Retention, roles: list[str]
) -> None:
    async with running(tmp_path) as house:
        await house.busy(1)
        client = rights(house)
        for right in (Right.OBJECT, Right.RESUME, Right.ERASE):
            await client.exercise(right, PEOPLE[7])
        await client.access(PEOPLE[6])
        await client.close()
        before = await house.audit(state=True)
        for role in roles:
            await retention.end_segment(house, role)
        for role in roles:
            await retention.expire(house, role)
        await house.ask("node3 question", PEOPLE[:4])
        await house.settle()
        presented = list(read_receipts(tmp_path / "devices/household-1/data"))
        assert sum(receipt.kind == "rights" for receipt in presented) >= 3
        for state in (True, False):
            report = await house.audit(state=state, receipts=presented)
            assert report.violations == []
            for name in ("erase", "object", "resume", "access"):
                assert report.counts[f"rights.{name}"] == before.counts[f"rights.{name}"] == 1
            assert report.counts["events.unproven_erasures"] == (0 if state else 1)
        assert report.counts["receipts.compared.rights"] >= 3 and report.checked[8] > 0


async def test_who_waits_under_a_consent_that_has_expired_is_counted(tmp_path: Path, retention: Retention) -> None:
    async with running(tmp_path) as house:
        await house.consent()
        await retention.end_segment(house, "main-service")
        await house.ask("node1 question")
        await house.settle()
        await retention.expire(house, "main-service")
        for state in (False, True):
            report = await house.audit(state=state)
            assert report.violations == [] and report.checked[6] > 0
            assert report.counts["consents.unknown"] >= len(PEOPLE)
        unknown = report.counts["consents.unknown"]
        # A choice that can be read is held against what waits again.
        await house.consent("searches")
        await house.ask("node2 question")
        await house.settle()
        for state in (False, True):
            report = await house.audit(state=state)
            assert report.violations == [] and report.counts["consents.unknown"] == unknown
