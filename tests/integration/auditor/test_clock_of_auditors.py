"""An auditor whose clock is wrong, or is off from services' clocks by as much as they may be, accuses nobody."""

import asyncio
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from auditor.checks.c9_receipts import Presented, read_receipts, verify_receipts
from auditor.findings import Report, Verdict
from proxid.evidence.events import EventType
from proxid.protocol.rights import Right
from tests.integration.auditor.test_damaged_logs import flip, place
from tests.integration.auditor.test_honest_edges import AS_OPERATED, quiet_evening
from tests.integration.gateway.test_rights import rights
from tests.support.days import DAY
from tests.support.lies_unsaid import HOUR
from tests.support.trial import PEOPLE, Trial, running


def meanwhile(trial: Trial) -> Iterator[Presented]:
    """What is held at the end of an audit, while whose logs were read people went on."""
    loop = asyncio.get_running_loop()
    before = verify_receipts([trial.folder / "devices", trial.folder / "parties"])

    def present() -> Iterator[Presented]:
        asyncio.run_coroutine_threadsafe(_go_on(trial), loop).result(60)
        yield from read_receipts(trial.folder / "devices", before)
        yield from read_receipts(trial.folder / "parties", before)

    return present()


async def _go_on(trial: Trial) -> None:
    await trial.busy(1)
    client = rights(trial)
    await client.exercise(Right.OBJECT, PEOPLE[0])
    await client.close()


async def cosigned(trial: Trial) -> None:
    """As a witness that runs on its own does every half a minute, by its own clock, which is right."""
    assert time.time() == pytest.approx(trial.clocks["device"].wall(), abs=1.0)
    config = str(trial.folder / "witness/witness.toml")
    arguments = [sys.executable, "-m", "proxid.cli.main", "witness", "--config", config, "--once"]
    process = await asyncio.create_subprocess_exec(*arguments)
    assert await process.wait() == 0


@pytest.mark.parametrize("later", [-230.0, -100.0, 100.0, 230.0])
async def test_what_is_presented_while_an_audit_reads_accuses_nobody_by_clocks_that_differ_as_they_may(
    tmp_path: Path, later: float
) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        report = await trial.audit(receipts=meanwhile(trial), later=later, **AS_OPERATED)
        assert report.verdict is Verdict.CLEAN
        assert report.counts["receipts.recent"]


@pytest.mark.parametrize("later", [-DAY, DAY])
async def test_what_is_presented_to_an_auditor_whose_clock_is_wrong_accuses_nobody(
    tmp_path: Path, later: float
) -> None:
    """One that is ahead sees no recent cosignature, one that is behind one of tomorrow, and receipts."""
    async with running(tmp_path) as trial:
        await trial.busy(1)
        await asyncio.sleep(1.0)  # until all of it is in the heads
        await cosigned(trial)
        report = await trial.audit(receipts=meanwhile(trial), later=later, witness=True, **AS_OPERATED)
        assert (report.violations, report.verdict) == ([], Verdict.UNCHECKED)


@pytest.mark.parametrize("later", [400.0, DAY])
async def test_what_is_presented_to_an_auditor_without_a_witness_whose_clock_is_ahead_accuses_nobody(
    tmp_path: Path, later: float
) -> None:
    """No other clock tells: it was not there yet when the audit began, and is looked at by the next one."""
    async with running(tmp_path) as trial:
        await trial.busy(1)
        report = await trial.audit(receipts=meanwhile(trial), later=later, **AS_OPERATED)
        assert (report.violations, report.verdict) == ([], Verdict.CLEAN)
        assert report.counts["receipts.recent"] and report.counts["promises.late"]


@pytest.mark.parametrize("later", [-HOUR, -400 * DAY])
async def test_an_epoch_that_is_over_is_so_for_an_auditor_whose_clock_is_behind(tmp_path: Path, later: float) -> None:
    async with running(tmp_path) as trial:
        await quiet_evening(trial, 850.0)
        found: list[Report] = [await trial.audit(later=by, state=True, **AS_OPERATED) for by in (later, 0.0)]
    assert found[-1].counts["withheld.epoch_end"] == 1
    assert [report.verdict for report in found] == [Verdict.CLEAN, Verdict.CLEAN]


@pytest.mark.parametrize("wrong", [(-400 * DAY, 0.0), (0.0, 400 * DAY)])
async def test_a_week_in_which_damage_may_be_admitted_is_one_by_more_clocks_than_the_auditors(
    tmp_path: Path, wrong: tuple[float, float]
) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        _, path, at = place(trial, "gateway", EventType.FORWARDED, "leaves")
        await cosigned(trial)
        flip(path, at + 2)
        for later in wrong:
            report = await trial.audit(state=True, later=later, witness=True)
            assert (report.violations, report.verdict) == ([], Verdict.UNCHECKED)
