"""A log that cannot be gone on with is followed by a successor: honest ones accuse nobody, one that hides is named."""

import asyncio
import shutil
from pathlib import Path

import pytest

from auditor.report import Report, Verdict
from auditor.setup import logs_of
from auditor.witness import Witness
from proxid.errors import HistoryForkedError, LogDamagedError
from proxid.evidence.checkpoint import WITNESS, Checkpoint, origin
from proxid.evidence.note import Verifier
from proxid.provision.keyfile import load_signing_key
from proxid.store import connect
from tests.support.house import House, run_command, running

ROLES = ["gateway", "main-service"]


def evidence(house: House, role: str) -> Path:
    return house.folder / role / "data/evidence"


async def mend(house: House, role: str, *more: str) -> int:
    return await run_command("mend", "successor", "--config", str(house.folder / role / f"{role}.toml"), *more)


async def audits(house: House) -> list[Report]:
    """From nothing, going on, and of an export."""
    found = [await house.audit(), await house.audit(state=True), await house.audit(state=True)]
    for report in found:
        assert report.violations == [], report.violations
    return found


def cosign(house: House, role: str) -> Checkpoint:
    """What `proxid witness` does."""
    config = house.config("auditor")
    log = logs_of(config)[ROLES.index(role)]
    signer = config.trust.screener if role == "gateway" else config.trust.service
    key = load_signing_key(house.folder / "witness/signing.key")
    try:
        log.cosign = lambda _: None  # type: ignore[method-assign, assignment]
        verifier = Verifier(origin("main-service", role), signer)
        return Witness(house.folder / "witness/heads", WITNESS, key, verifier).cosign(log, 1)
    finally:
        log.close()


async def again(house: House) -> None:
    await house.device.close()
    from device_sim.household import Household
    from proxid.config import DeviceConfig, load

    house.device = Household.open(load(DeviceConfig, house.folder / "devices/household-1/device.toml"))


@pytest.mark.parametrize("role", ROLES)
async def test_a_log_of_version_1_is_refused_and_followed_and_both_audit_clean(tmp_path: Path, role: str) -> None:
    async with running(tmp_path) as house:
        await house.busy(1)
        await house.audit(state=True)
        await asyncio.to_thread(cosign, house, role)
        await house.halt(role)
        (evidence(house, role) / "version").unlink()
        before = {path: path.read_bytes() for path in evidence(house, role).rglob("*") if path.is_file()}
        with pytest.raises(LogDamagedError, match=r"version 1 .*nothing was changed.*proxid mend successor --config"):
            await house.serve(role)
        assert await mend(house, role) == 0
        await house.serve(role)
        await house.ask("node5 question")
        await house.settle()
        await house.receive()
        assert {path: path.read_bytes() for path in before} == before
        fresh, first, second = await audits(house)
        assert [report.verdict for report in (fresh, first, second)] == [Verdict.CLEAN] * 3
        assert fresh.counts[f"{role}.SUCCEEDED"] == 1
        assert fresh.scope.logs[role].origin == f"proxid/main-service/{role}/2"
        assert fresh.scope.logs[role].size == second.scope.logs[role].before > first.scope.logs[role].before > 0
        assert (await asyncio.to_thread(cosign, house, role)).origin == f"proxid/main-service/{role}/2"
        # It starts again, and a second successor follows the first.
        await house.halt(role)
        assert await mend(house, role) == 0
        assert await mend(house, role) == 2
        await house.serve(role)
        assert [report.verdict for report in await audits(house)] == [Verdict.CLEAN] * 3
        await asyncio.to_thread(cosign, house, role)
        auditor, folder = str(tmp_path / "auditor/auditor.toml"), str(tmp_path / "export")
        assert await run_command("audit", "--config", auditor, "--export", folder) == 0
        assert await run_command("audit", "--config", auditor, "--from", folder, "--no-pipeline", "--no-state") == 0


@pytest.mark.parametrize("role", ROLES)
async def test_a_store_that_was_lost_is_followed_and_accuses_nobody(tmp_path: Path, role: str) -> None:
    async with running(tmp_path) as house:
        await house.busy(1)
        await house.audit(state=True)
        await house.halt(role)
        store = connect(house.url(role))
        await store.flushall()
        await store.aclose()
        with pytest.raises(LogDamagedError, match=r"the store knows of 0.*proxid mend successor"):
            await house.serve(role)
        assert await mend(house, role) == 0
        await house.serve(role)
        await again(house)
        for report in await audits(house):
            assert report.verdict is Verdict.UNCHECKED
            assert any("store was lost" in reason.text for reason in report.reasons)


@pytest.mark.parametrize("lost", ["tail", "folder"])
@pytest.mark.parametrize("role", ROLES)
async def test_a_log_that_was_lost_is_followed_and_accuses_nobody(tmp_path: Path, role: str, lost: str) -> None:
    async with running(tmp_path) as house:
        await house.busy(1)
        head = await asyncio.to_thread(cosign, house, role)
        await house.audit(state=True)
        await house.halt(role)
        kept = tmp_path / "head"
        shutil.copy(evidence(house, role) / "checkpoint", kept)
        if lost == "folder":
            shutil.rmtree(evidence(house, role))
        else:
            for path in evidence(house, role).glob("segments/*/*"):
                path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        with pytest.raises(LogDamagedError, match=r"nothing was changed"):
            await house.serve(role)
        if lost == "folder":
            assert await mend(house, role) == 2
        assert await mend(house, role, "--head", str(kept)) == 0
        await house.serve(role)
        await house.ask("node5 question")
        await house.settle()
        fresh, first, second = await audits(house)
        assert fresh.verdict is Verdict.UNCHECKED and fresh.counts["leaves.damaged"] > 0
        # Whoever read it before it was lost knows all of it.
        assert first.counts["leaves.damaged"] == second.counts["leaves.damaged"] < fresh.counts["leaves.damaged"]
        assert (await asyncio.to_thread(cosign, house, role)).origin != head.origin


@pytest.mark.parametrize("role", ROLES)
async def test_a_successor_that_hides_what_others_have_seen_is_named(tmp_path: Path, role: str) -> None:
    async with running(tmp_path) as house:
        await house.busy(1)
        old = (evidence(house, role) / "checkpoint").read_bytes()
        await house.ask("node6 question")
        await house.settle()
        await house.audit(state=True)
        await asyncio.to_thread(cosign, house, role)
        known = (evidence(house, role) / "checkpoint").read_bytes()
        await house.halt(role)
        (evidence(house, role) / "checkpoint").write_bytes(old)
        shutil.rmtree(evidence(house, role) / "cosigned", ignore_errors=True)
        assert await mend(house, role) == 0
        await house.serve(role)
        for options in ({"state": True}, {"known": [known]}):
            report = await house.audit(**options)
            assert report.verdict is Verdict.VIOLATION
            assert {(v.rule, v.log) for v in report.violations} == {(1, role)}
        with pytest.raises(HistoryForkedError, match=r"hides entries"):
            await asyncio.to_thread(cosign, house, role)
