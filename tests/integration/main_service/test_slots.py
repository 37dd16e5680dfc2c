# ruff: noqa: ASYNC110 - what the store holds can only be polled
"""Slots in the evidence: erasures among commands, a group that is withheld, a crash between close and release."""

import asyncio
import shutil
from pathlib import Path

import pytest

from auditor.findings import GROUPS
from proxid.anonymise.slotted.types import SlotGroup
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.rights import RightsClient
from proxid.errors import LogDamagedError, RestrictionError
from proxid.protocol.rights import Right
from proxid.runtime.config import load
from proxid.runtime.store import connect
from tests.support.commands import SHORT_SLOTS, CommandTrial
from tests.support.trial import PEOPLE, running

VICTIM = PEOPLE[2]


async def test_commands_and_an_erasure_are_clean_from_nothing_and_from_before(tmp_path: Path) -> None:
    async with running(tmp_path, CommandTrial, anonymiser=SHORT_SLOTS) as trial:
        assert isinstance(trial, CommandTrial)
        await trial.consent()
        await trial.ask("node0 question")
        await trial.commands(2)
        await trial.receive()
        before = await trial.audit(state=True)
        client = RightsClient(load(DeviceConfig, tmp_path / "devices/household-1/device.toml"), trial.device)
        await client.exercise(Right.ERASE, VICTIM)
        await client.close()
        others = [user for user in PEOPLE if user != VICTIM]
        await trial.ask("do it", others)
        await trial.slots_over()
        await trial.receive()
        reports = await trial.fresh_and_incremental()
        stored = await trial.audit(stored=True)
    assert stored.as_dict() == reports[0].as_dict()
    assert before.violations == [] and any(name.startswith("group.size.command") for name in before.counts)
    for report in reports:
        assert report.violations == []
    assert reports[0].counts["groups.partly_erased"] >= 3  # the general group, and those of commands
    # Whose record it was is gone; that it left, and does not wait, is not.
    fresh, going_on = (report.counts for report in reports)
    assert [fresh[n] for n in ("released", "waiting")] == [going_on[n] for n in ("released", "waiting")]
    assert fresh["groups.hidden_owners"] > going_on["groups.hidden_owners"]


@pytest.mark.parametrize("honest", [True, False])
async def test_a_slot_group_is_withheld_whole_if_it_breaks_a_restriction_and_else_that_is_a_violation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, honest: bool
) -> None:
    given_up, first = set[bytes](), [True]

    def broken(group: SlotGroup, _: object) -> None:
        ids = {member.id for member in group.members}
        if first:
            given_up.update(ids)
        if (honest and ids & given_up) or (not honest and first):
            raise RestrictionError("as if")

    monkeypatch.setattr("proxid.evidence.bodies.verify_slot_group", broken)
    monkeypatch.setattr("auditor.checks.c5_slots.verify_slot_group", broken)
    async with running(tmp_path, CommandTrial, anonymiser=SHORT_SLOTS) as trial:
        assert isinstance(trial, CommandTrial)
        await trial.consent()
        await trial.commands(1)
        first.clear()
        await trial.commands(await trial.made() + 1)
        await trial.receive()
        reports = await trial.fresh_and_incremental()
        again = await trial.audit(state=True)
    assert given_up
    for report in (*reports, again):
        assert {v.rule for v in report.violations} == (set() if honest else {GROUPS})
    assert reports[0].counts["withheld.restriction"] >= 3 and reports[0].counts["released"] > 0


async def test_a_close_waits_for_the_groups_of_the_close_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever holds a release up, the log tells closes in their order: the auditor replays them so."""
    async with running(tmp_path, CommandTrial, anonymiser=SHORT_SLOTS) as trial:
        assert isinstance(trial, CommandTrial)
        await trial.consent()
        with monkeypatch.context() as patch:
            patch.setattr("main_service.jobs.release.Release.release_all", _nothing)
            client = connect(trial.url("main-service"))
            try:
                async with asyncio.timeout(30):
                    while not [key async for key in client.scan_iter(match="{ms}:slots:*:formed")]:
                        await trial.ask("do it")
                        await asyncio.sleep(0.3)
                for _ in range(3):  # slots of a second each come to their end meanwhile
                    await trial.ask("do it", PEOPLE[:2])
                    await asyncio.sleep(1.1)
            finally:
                await client.aclose()
        await trial.commands(await trial.made() + 1)
        report = await trial.audit()
    assert report.violations == []


async def _nothing(_: object) -> int:
    return 0


async def test_a_service_whose_log_was_cut_does_not_start(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        client = connect(trial.url("main-service"))
        async with asyncio.timeout(20):
            while await client.xlen("{ms}:events"):
                await asyncio.sleep(0.05)
        await client.aclose()
        await trial.halt("main-service")
        shutil.rmtree(tmp_path / "main-service/data/evidence")
        with pytest.raises(LogDamagedError, match="fewer leaves than its signed head, or than the store says"):
            await trial.serve("main-service")
        assert not (tmp_path / "main-service/data/evidence/checkpoint").exists()
