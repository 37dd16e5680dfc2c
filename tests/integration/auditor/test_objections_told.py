"""That the main service was told of objections: releases of before beside today's, and what comes in between."""

from pathlib import Path
from typing import Any

import pytest

import gateway.objections
from auditor.findings import Report, Verdict
from gateway.objections import Objections
from gateway.upstream import MainServiceClient
from main_service.rights import Subjects
from proxid.errors import RefusedError, UpstreamError
from proxid.evidence.events import encode_header
from proxid.protocol.rights import Right
from tests.integration.auditor.test_epoch_keys_lost import forgetful
from tests.integration.gateway.test_owed import OBJECTS, WITHDRAWS, another_epoch, consent_once, object_once, told
from tests.support.split_house import clean
from tests.support.trial import PEOPLE, Trial, running


def gateway_of_before(patch: pytest.MonkeyPatch, *, passes_on: bool = True) -> None:
    """It gives no word, and records no promise."""
    honest = MainServiceClient.restrict, Objections._told

    async def restrict(self: MainServiceClient, prox_id: str, restricted: bool, lost: bool = False, *_: Any) -> bytes:
        return await honest[0](self, prox_id, restricted, lost) if passes_on else b""

    async def told(self: Objections, *what: Any) -> tuple[Any, ...]:
        await honest[1](self, *what)
        return ()

    patch.setattr(MainServiceClient, "restrict", restrict)
    patch.setattr(Objections, "_told", told)
    patch.setattr(Objections, "_verify", lambda *_: None)
    patch.setattr(gateway.objections, "encode_header", lambda **fields: encode_header(**{**fields, "v": 2}))


async def goes_on(trial: Trial, *nodes: str) -> None:
    for node in nodes:
        await trial.ask(f"{node} question")
    await trial.settle()


def unchecked(report: Report) -> list[str]:
    assert report.verdict is Verdict.UNCHECKED, report.violations
    return [reason.text for reason in report.reasons]


def says_too_little(report: Report, objections: int) -> None:
    """Nobody is accused, and nothing else is left open than whether the main service was told."""
    (text,) = unchecked(report)
    assert text.startswith(f"{objections} objections do not show that the main service was told of them")


@pytest.mark.slow
async def test_a_gateway_of_before_is_accused_of_nothing_and_says_too_little(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path) as trial:
        gateway_of_before(monkeypatch)
        await trial.consent()
        await trial.ask("waits here", [OBJECTS])
        await trial.settle()
        await object_once(trial)
        await goes_on(trial, "node1")
        await object_once(trial, Right.RESUME)
        await goes_on(trial, "node2")
        report = await trial.audit(state=True)
        says_too_little(report, 2)
        assert report.counts["main-service.RESTRICTED"] == report.counts["gateway.OBJECTED"] == 2
        await object_once(trial)
        monkeypatch.undo()  # an upgrade in between
        await object_once(trial, Right.RESUME)
        await goes_on(trial, "node3")
        says_too_little(await trial.audit(state=True), 3)  # no more are added
        gateway_of_before(monkeypatch)
        await object_once(trial)
        for state in (True, False):
            report = await trial.audit(state=state)
            assert unchecked(report) and {reason.code for reason in report.reasons} == {"evidence_older"}


@pytest.mark.slow
async def test_a_gateway_of_before_that_passes_nothing_on_has_nobody_accused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path) as trial:
        gateway_of_before(monkeypatch, passes_on=False)
        await trial.consent()
        await object_once(trial)
        await goes_on(trial, "node1", "node2")
        kept, untold = unchecked(await trial.audit())
    assert "the gateway did not pass it on, or the main service did not heed it" in kept
    assert untold.startswith("1 objections do not show that the main service was told of them")


@pytest.mark.slow
async def test_a_main_service_that_promises_nothing_holds_up_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = Subjects.restrict

    async def restrict(self: Subjects, prox_id: str, restricted: bool, lost: bool = False, *_: Any) -> bytes:
        return await honest(self, prox_id, restricted, lost)

    async with running(tmp_path) as trial:
        await trial.consent()
        with monkeypatch.context() as patch:
            patch.setattr(Subjects, "restrict", restrict)
            with pytest.raises(RefusedError):
                await object_once(trial)
            await consent_once(trial, "nothing", WITHDRAWS)
            await goes_on(trial, "node1")
            got = await trial.receive()
            names = {r.user for groups in got.values() for group in groups for r in group.records}
            assert names and OBJECTS not in names  # it is in effect
        await told(trial)
        report = await trial.audit()
        clean(report)
        assert report.counts["gateway.OBJECTED"] == 1


async def test_whoever_links_another_key_meanwhile_has_that_told_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest, linked = Objections._told, list[Any]()

    async def told_late(self: Objections, subjects: Any, objects: bool) -> Any:
        found = await honest(self, subjects, objects)
        if not linked:
            anew = forgetful(trial)
            linked.append(await anew.session(OBJECTS))
            await anew.close()
        return found

    async with running(tmp_path) as trial:
        await trial.consent(people=PEOPLE[:3])
        await trial.ask("waits here", [OBJECTS])
        await trial.settle()
        monkeypatch.setattr(Objections, "_told", told_late)
        await object_once(trial)
        report = await trial.audit(stored=True)
    clean(report)
    assert report.counts["gateway.LINKED"] == 4 and report.counts["gateway.OBJECTED"] == 1


@pytest.mark.slow
async def test_an_objection_that_is_owed_for_longer_than_links_are_kept_accuses_nobody(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        await trial.consent()
        await goes_on(trial, "node0")
        await trial.receive()
        await trial.halt("main-service")
        with pytest.raises(UpstreamError):
            await object_once(trial)
        for clock in trial.clocks.values():
            clock.passed += 40 * 86_400
        await trial.serve("main-service")
        await told(trial)
        await another_epoch(trial)
        report = await trial.audit()
    assert not report.violations
    assert report.counts["gateway.OBJECTED"] == 1 and report.counts["main-service.RESTRICTED"] <= 1
