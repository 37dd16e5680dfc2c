"""What happens while an audit or an export reads accuses nobody: between any two of its steps people link, consent, ask
and wait, somebody who asked before is erased, and before the next step one of the newcomers is too.
"""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tests.support.trial
from auditor.audit import Audit, AuditOptions
from auditor.findings import Report
from auditor.reading.export import FolderKeys, FolderLog, export
from auditor.setup import logs_of, trust_of
from proxid.protocol.rights import Right
from tests.integration.gateway.test_rights import rights
from tests.support.trial import Trial, running

STEPS = 20
"""Requests to the two services that one audit or export makes, at most."""
BRIEF = tuple(f"brief-{i}" for i in range(STEPS))
NEW = tuple(f"new-{i}" for i in range(STEPS))
OLD = tuple(f"old-{i}" for i in range(STEPS))
STAY = tuple(f"stay-{i}" for i in range(5))
EVERYBODY = (*BRIEF, *NEW, *OLD, *STAY)


class Meanwhile:
    """Runs something before a step of an audit, while the audit, in its thread, waits for it."""

    def __init__(self, trial: Trial, monkeypatch: pytest.MonkeyPatch) -> None:
        self.loop, self.trial = asyncio.get_running_loop(), trial
        self.at, self.step = -1, 0
        monkeypatch.setattr(tests.support.trial, "logs_of", self.logs)

    def logs(self, config: Any) -> Any:
        self.step = 0
        gateway, service = logs_of(config)
        for log in (gateway, service):
            for name in ("heads", "leaves", "keys", "consistency"):
                setattr(log, name, self._wrapped(getattr(log, name)))
        return gateway, service

    def _wrapped(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            asyncio.run_coroutine_threadsafe(self.happen(), self.loop).result(60)
            return method(*arguments)

        return call

    async def happen(self) -> None:
        at, self.step = self.at, self.step + 1
        if self.step - 1 == at:
            await self.trial.consent("everything", [NEW[at], BRIEF[at]])
            await self.trial.ask("node1 question", [NEW[at], BRIEF[at]])
            await self.trial.settle()
            await erase(self.trial, OLD[at])
        elif self.step - 2 == at >= 0:
            await erase(self.trial, BRIEF[at])


async def erase(trial: Trial, user: str) -> None:
    client = rights(trial)
    await client.exercise(Right.ERASE, user)
    await client.close()


async def evening(trial: Trial) -> None:
    people = [*OLD, *STAY]
    await trial.consent("everything", people)
    await trial.ask("node1 question", people)
    await trial.ask("node2 question", people[-3:])
    await trial.settle()
    await trial.receive("acme")


EVERY = pytest.mark.parametrize("stride", [5, pytest.param(1, marks=pytest.mark.slow)])
"""Whether something happens before every step of an audit, one after the other, or before every fifth."""


@EVERY
@pytest.mark.parametrize("state", [pytest.param(False, marks=pytest.mark.slow), True], ids=["anew", "going on"])
async def test_nothing_that_happens_while_an_audit_reads_accuses_anybody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: bool, stride: int
) -> None:
    async with running(tmp_path, people=EVERYBODY) as trial:
        await evening(trial)
        meanwhile = Meanwhile(trial, monkeypatch)
        assert (await trial.audit(state=state)).violations == []
        rounds = 0
        for at in steps(meanwhile, stride):
            report = await trial.audit(state=state)
            assert report.violations == [], f"step {at}"
            rounds += 1
        meanwhile.at = -1
        report = await trial.audit()
        assert report.violations == [] and report.counts["gateway.ERASED"] >= rounds >= STEPS // (2 * stride)


@EVERY
async def test_an_export_holds_what_makes_its_audit_clean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stride: int
) -> None:
    async with running(tmp_path, people=EVERYBODY) as trial:
        await evening(trial)
        meanwhile = Meanwhile(trial, monkeypatch)
        await asyncio.to_thread(exported, trial, meanwhile)
        for at in steps(meanwhile, stride):
            report = await asyncio.to_thread(exported, trial, meanwhile)
            assert report.violations == [], f"step {at}"


def steps(meanwhile: Meanwhile, stride: int) -> Iterator[int]:
    """Every so many steps of the last run, and the end of it."""
    meanwhile.at = 0
    while meanwhile.at <= meanwhile.step:
        yield meanwhile.at
        meanwhile.at += stride


def exported(trial: Trial, meanwhile: Meanwhile) -> Report:
    """Export into a folder, as often as not over an older export, and audit that."""
    trust = trust_of(trial.config("auditor"), pipeline=False)
    gateway, service = meanwhile.logs(trial.config("auditor"))
    folder = trial.folder / "export"
    try:
        export(folder, gateway, service, gateway, trust.opening)
    finally:
        gateway.close()
        service.close()
    logs = FolderLog(folder / "gateway"), FolderLog(folder / "main-service")
    return Audit(trust, FolderKeys(folder, trust.opening), AuditOptions(settle=0.0)).run(*logs)
