"""Honest histories at the edges: a quiet day, a gateway that is killed between two steps, a backlog of hours."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from auditor.findings import COMPLETENESS, Verdict
from gateway.store.library import GatewayStore
from gateway.store.rights import RightsStore
from gateway.upstream import MainServiceClient
from main_service.jobs.classification import Classification
from proxid.errors import ProxidError, StoreError, UpstreamError
from proxid.protocol.request import HELD
from proxid.protocol.rights import Right
from proxid.runtime.store import connect
from tests.integration.gateway.test_owed import object_once, told
from tests.support.commands import CommandTrial
from tests.support.days import DAY
from tests.support.lies_epochs import patiently
from tests.support.lies_unsaid import HOUR
from tests.support.split_house import clean, served
from tests.support.trial import PEOPLE, Trial, running


def pass_by(trial: Trial, seconds: float) -> None:
    for clock in trial.clocks.values():
        clock.passed += seconds


async def quiet_evening(trial: Trial, late: float) -> None:
    """One asks what nobody else does, and waits until the day is over, so many seconds later; its epoch is closed."""
    trial.leap(20 * HOUR)
    await patiently(trial.consent)
    await trial.ask("node1 question", PEOPLE[:1])
    await trial.settle()
    trial.leap(60.0)
    await patiently(lambda: trial.ask("node2 question"))
    pass_by(trial, late)
    await over(trial)


async def test_what_waits_to_the_end_of_a_quiet_evening_is_no_clock_that_was_set_back(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        await quiet_evening(trial, 600.0)
        report = await trial.audit()
    clean(report)
    assert report.counts["withheld.epoch_end"] == 1


async def over(trial: Trial) -> None:
    """The day before is closed."""
    main, today = connect(trial.url("main-service")), int(trial.clocks["gateway"].wall() // DAY)
    async with asyncio.timeout(30):
        while int(await main.get("{ms}:closed") or 0) < today - 1:  # noqa: ASYNC110 - nothing signals it
            await asyncio.sleep(0.1)
    await main.aclose()


async def test_a_gateway_that_is_killed_while_an_objection_is_taken_back_accuses_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The main service was told, nobody recorded it, and the person does not ask again."""

    async def killed(*_: Any, **__: Any) -> bool:
        raise StoreError("as if it was killed")

    async with running(tmp_path) as trial:
        await trial.consent()
        await object_once(trial)
        with monkeypatch.context() as patch:
            patch.setattr(RightsStore, "objected", killed)
            with pytest.raises(ProxidError):
                await object_once(trial, Right.RESUME)
            await trial.halt("gateway")
        await trial.serve("gateway")
        await served(trial)
        await told(trial)
        await trial.ask("node1 question")
        await trial.settle()
        clean(await trial.audit())


async def test_what_waits_for_minutes_to_be_classified_is_of_the_time_at_which_it_was_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing(self: Classification) -> int:
        return 0

    slots = {"k": 2, "time_slots": ["900 s", "1 h", "6 h"]}
    async with running(tmp_path, CommandTrial, anonymiser=slots) as trial:
        trial.leap(800.0)
        await patiently(trial.consent)
        with monkeypatch.context() as patch:
            patch.setattr(Classification, "batch", nothing)
            await trial.ask("do it")
            pass_by(trial, HELD - 60)
            await patiently(lambda: trial.ask("do it"))
            await asyncio.sleep(2.5)  # slots end meanwhile
        await trial.settle()
        clean(await trial.audit())


async def test_who_was_away_before_what_was_asked_was_classified_is_not_guilty_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The main service is killed at once, and audited before it has done anything again."""

    async def nothing(self: Classification) -> int:
        return 0

    async with running(tmp_path) as trial:
        await trial.consent()
        with monkeypatch.context() as patch:
            patch.setattr(Classification, "batch", nothing)
            await trial.ask("node1 question")
            await trial.halt("main-service")
            pass_by(trial, HOUR)
            await trial.serve("main-service")
            report = await trial.audit(**AS_OPERATED)
        assert report.violations == []
        assert (report.verdict, {reason.rule for reason in report.reasons}) == (Verdict.UNCHECKED, {COMPLETENESS})
        await trial.settle()
        clean(await trial.audit(**AS_OPERATED))


AS_OPERATED: dict[str, Any] = {"settle": None, "owed": None}
"""Options of an audit that allows for what takes time."""


async def test_a_gateway_that_could_not_say_what_it_did_not_reach_is_not_guilty_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its store was away just then: it says so later, while others ask."""

    async def away(self: MainServiceClient, *_: Any) -> Any:
        raise UpstreamError("as if")

    async def lost(self: GatewayStore, *_: Any) -> None:
        raise StoreError("as if")

    async with running(tmp_path) as trial:
        await trial.consent()
        with monkeypatch.context() as patch:
            patch.setattr(MainServiceClient, "ask", away)
            patch.setattr(GatewayStore, "unreached", lost)
            trial.device._gateway._limit = 1
            with pytest.raises(ProxidError):
                await trial.device.ask(PEOPLE[0], "node1 question")
        pass_by(trial, 95.0)
        await patiently(lambda: trial.ask("node2 question", PEOPLE[1:]))
        clean(await trial.audit(**AS_OPERATED))
