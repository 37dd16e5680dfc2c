"""An audit that reads what the main service was told, before the gateway has recorded it (17.4)."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from auditor.findings import Verdict
from gateway.owed import Owed
from gateway.store.library import GatewayStore
from gateway.store.rights import RightsStore
from main_service.store.requests import RequestStore
from proxid.errors import ProxidError, StoreError, UpstreamError
from proxid.protocol.rights import Right
from proxid.runtime.store import connect
from tests.integration.gateway.test_owed import OBJECTS, consent_once, object_once, told
from tests.support.lies_epochs import patiently
from tests.support.split_house import clean, served
from tests.support.trial import PEOPLE, Trial, running

ERASED, WITHDRAWS, GRANTS = PEOPLE[2], PEOPLE[3], PEOPLE[4]


async def killed(*_: Any, **__: Any) -> Any:
    raise StoreError("as if it was killed")


async def nothing(*_: Any) -> None:
    """What is owed stays so."""


async def ask_once(trial: Trial, text: str) -> None:
    trial.device._gateway._limit = 1
    try:
        await trial.device.ask(OBJECTS, text)
    finally:
        trial.device._gateway._limit = 12


async def forwarded(trial: Trial) -> None:
    """A request is under way."""
    gateway = connect(trial.url("gateway"))
    async with asyncio.timeout(20):
        while not await gateway.zcard("{gw}:open"):  # noqa: ASYNC110 - nothing signals it
            await asyncio.sleep(0.05)
    await gateway.aclose()


async def test_what_was_under_way_while_an_objection_is_taken_back_accuses_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes to the main service once that is told, the gateway is killed, and an audit reads."""
    free, honest = asyncio.Event(), RequestStore.receive

    async def receive(self: RequestStore, *what: Any) -> bytes | None:
        await free.wait()
        return await honest(self, *what)

    async def answered(*_: Any, **__: Any) -> bool:
        free.set()
        await asking
        raise StoreError("as if it was killed")

    async with running(tmp_path) as trial:
        await trial.consent()
        await object_once(trial)
        with monkeypatch.context() as patch:
            patch.setattr(RequestStore, "receive", receive)
            patch.setattr(RightsStore, "objected", answered)
            asking = asyncio.create_task(trial.device.ask(OBJECTS, "node1 question"))
            await forwarded(trial)
            with pytest.raises(ProxidError):
                await object_once(trial, Right.RESUME)
            await trial.halt("gateway")
        with monkeypatch.context() as patch:
            patch.setattr(Owed, "step", nothing)
            await trial.serve("gateway")
            await served(trial)
            await trial.settle()
            report = await trial.audit(state=True)
            assert report.verdict is Verdict.UNCHECKED, report.violations
            assert ["taken back" in reason.text for reason in report.reasons] == [True, True]
        await told(trial)
        clean(await trial.audit(state=True))


async def test_nothing_is_forwarded_of_whose_objection_is_being_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The main service was told, and the gateway has not recorded it: what somebody asks then would accuse that."""
    async with running(tmp_path) as trial:
        await trial.consent()
        await object_once(trial)
        with monkeypatch.context() as patch:
            patch.setattr(Owed, "step", nothing)
            with monkeypatch.context() as once:
                once.setattr(RightsStore, "objected", killed)
                with pytest.raises(ProxidError):
                    await object_once(trial, Right.RESUME)
            with pytest.raises(UpstreamError):
                await ask_once(trial, "node1 question")
            report = await trial.audit()
            assert report.verdict is Verdict.UNCHECKED, report.violations
            assert ["not recorded yet" in reason.text for reason in report.reasons] == [True]
        await told(trial)
        await ask_once(trial, "node1 question")
        await trial.settle()
        clean(await trial.audit())


@pytest.mark.slow
async def test_what_else_the_main_service_is_told_first_accuses_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An objection, an erasure, a withdrawal and a consent given anew, each but for the gateway's last step."""
    forgotten = asyncio.Event()

    async def never(*_: Any, **__: Any) -> bool:
        forgotten.set()
        raise StoreError("as if it was killed")

    async with running(tmp_path) as trial:
        await trial.consent()
        await trial.device.consent(GRANTS, "nothing")
        await trial.ask("waits here", [OBJECTS, ERASED, WITHDRAWS])
        await trial.settle()
        with monkeypatch.context() as patch:
            patch.setattr(RightsStore, "objected", killed)
            patch.setattr(RightsStore, "finish_erasure", never)
            patch.setattr(GatewayStore, "consent_acknowledged", killed)
            erasing = asyncio.create_task(object_once(trial, Right.ERASE, ERASED))
            for act in (
                object_once(trial), consent_once(trial, "nothing", WITHDRAWS), consent_once(trial, "everything", GRANTS)
            ):  # fmt: skip
                with pytest.raises(ProxidError):
                    await act
            await trial.ask("node1 question", [OBJECTS, WITHDRAWS, GRANTS, *PEOPLE[5:]])
            await forgotten.wait()
            await trial.settle()
            report = await trial.audit(state=True)
            assert report.verdict is Verdict.UNCHECKED, report.violations
        await erasing
        await told(trial)
        clean(await trial.audit(state=True))


@pytest.mark.slow
async def test_who_objects_as_the_last_of_an_epoch_leaves_nothing_for_the_next_one(tmp_path: Path) -> None:
    """Of one the main service is told at once, of the other once it is back and the next epoch has nearly begun."""
    async with running(tmp_path, morning=True) as trial:
        await trial.consent()
        await trial.ask("waits here", [OBJECTS])
        await trial.ask("waits there", [WITHDRAWS])
        await trial.settle()
        await object_once(trial)
        trial.leap(-20.0)
        await served(trial)
        await trial.halt("main-service")
        with pytest.raises(UpstreamError):
            await object_once(trial, user=WITHDRAWS)
        await trial.serve("main-service")
        await told(trial)
        trial.leap(30.0)
        await patiently(lambda: trial.consent(people=[GRANTS]))
        await trial.ask("node1 question", [GRANTS])
        await trial.settle()
        report = await trial.audit()
    clean(report)
    assert report.counts["main-service.WITHDRAWN"] == 2
