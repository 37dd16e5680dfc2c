"""A log that cannot be gone on with is followed by a successor: honest ones accuse nobody, one that hides is named."""

import asyncio
import shutil
from pathlib import Path

import pytest

from auditor.checks.c9_receipts import read_receipts
from auditor.findings import Report, Verdict
from auditor.setup import logs_of
from auditor.witness import Witness
from proxid.crypto.ed25519 import SigningKey
from proxid.errors import Code, HistoryForkedError, LogDamagedError, RefusedError
from proxid.evidence.checkpoint import WITNESS, Checkpoint, origin
from proxid.evidence.note import Verifier
from proxid.protocol.rights import Right
from proxid.runtime.provision.keyfile import load_signing_key
from proxid.runtime.store import connect
from proxid.runtime.transport import heads
from tests.integration.auditor.test_expiry import Retention, retention
from tests.integration.gateway.test_owed import STAYS, another_epoch, object_once
from tests.integration.gateway.test_rights import rights
from tests.support.lies import knows_only
from tests.support.trial import PEOPLE, Trial, run_command, running

ROLES = ["gateway", "main-service"]
ONE = ["gateway", pytest.param("main-service", marks=pytest.mark.slow)]
OTHER = ["main-service", pytest.param("gateway", marks=pytest.mark.slow)]
"""Where the two differ in nothing but their name: the other one is tried by the slow suite."""
__all__ = ["retention"]


def evidence(trial: Trial, role: str) -> Path:
    return trial.folder / role / "data/evidence"


async def mend(trial: Trial, role: str, *more: str) -> int:
    return await run_command("mend", "successor", "--config", str(trial.folder / role / f"{role}.toml"), *more)


async def lost(trial: Trial) -> None:
    """The gateway's store is lost, and its log goes on with a successor."""
    await trial.halt("gateway")
    store = connect(trial.url("gateway"))
    await store.flushall()
    await store.aclose()
    assert await mend(trial, "gateway") == 0
    await trial.serve("gateway")


async def audits(trial: Trial) -> list[Report]:
    """From nothing, going on, and of an export."""
    found = [await trial.audit(), await trial.audit(state=True), await trial.audit(state=True)]
    for report in found:
        assert report.violations == [], report.violations
    return found


def cosign(trial: Trial, role: str) -> Checkpoint:
    """What `proxid witness` does."""
    config = trial.config("auditor")
    log = logs_of(config)[ROLES.index(role)]
    signer = config.trust.screener if role == "gateway" else config.trust.service
    key = load_signing_key(trial.folder / "witness/signing.key")
    try:
        log.cosign = lambda _: None  # type: ignore[method-assign, assignment]
        verifier = Verifier(origin("main-service", role), signer)
        return Witness(trial.folder / "witness/heads", WITNESS, key, verifier).cosign(log, 1)
    finally:
        log.close()


@pytest.mark.parametrize("role", ONE)
async def test_a_log_of_version_1_is_refused_and_followed_and_both_audit_clean(tmp_path: Path, role: str) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        await trial.audit(state=True)
        await asyncio.to_thread(cosign, trial, role)
        await trial.halt(role)
        (evidence(trial, role) / "version").unlink()
        before = {path: path.read_bytes() for path in evidence(trial, role).rglob("*") if path.is_file()}
        with pytest.raises(LogDamagedError, match=r"version 1 .*nothing was changed.*proxid mend successor --config"):
            await trial.serve(role)
        assert await mend(trial, role) == 0
        await trial.serve(role)
        await trial.ask("node5 question")
        await trial.settle()
        await trial.receive()
        assert {path: path.read_bytes() for path in before} == before
        fresh, first, second = await audits(trial)
        assert [report.verdict for report in (fresh, first, second)] == [Verdict.CLEAN] * 3
        assert fresh.counts[f"{role}.SUCCEEDED"] == 1
        assert fresh.scope.logs[role].origin == f"proxid/main-service/{role}/2"
        assert fresh.scope.logs[role].size == second.scope.logs[role].before > first.scope.logs[role].before > 0
        assert (await asyncio.to_thread(cosign, trial, role)).origin == f"proxid/main-service/{role}/2"
        # It starts again, and a second successor follows the first.
        await trial.halt(role)
        assert await mend(trial, role) == 0
        assert await mend(trial, role) == 2
        await trial.serve(role)
        assert [report.verdict for report in await audits(trial)] == [Verdict.CLEAN] * 3
        await asyncio.to_thread(cosign, trial, role)
        auditor, folder = str(tmp_path / "auditor/auditor.toml"), str(tmp_path / "export")
        assert await run_command("audit", "--config", auditor, "--export", folder) == 0
        assert await run_command("audit", "--config", auditor, "--from", folder, "--no-pipeline", "--no-state") == 0


async def chosen(trial: Trial, user: str) -> Code | None:
    """What a choice is refused with."""
    with pytest.raises(RefusedError) as refused:
        await trial.device.consent(user, "searches")
    return refused.value.remote


@pytest.mark.parametrize("role", OTHER)
async def test_a_store_that_was_lost_is_followed_and_accuses_nobody(tmp_path: Path, role: str) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        client = rights(trial)
        await client.exercise(Right.ERASE, PEOPLE[1])
        for user in PEOPLE[3:5]:
            await client.exercise(Right.OBJECT, user)
        await client.exercise(Right.RESUME, PEOPLE[4])
        await client.close()
        await trial.audit(state=True)
        await trial.halt(role)
        store = connect(trial.url(role))
        await store.flushall()
        await store.aclose()
        with pytest.raises(LogDamagedError, match=r"the store knows of 0.*proxid mend successor"):
            await trial.serve(role)
        assert await mend(trial, role) == 0
        await trial.serve(role)
        if role == "gateway":
            # Whoever was erased stays erased: the tombstone comes back from the log.
            with pytest.raises(RefusedError) as refused:
                await trial.device.consent(PEOPLE[1], "searches")
            assert refused.value.remote is Code.NOT_REGISTERED
            await trial.device.ask(PEOPLE[2], "node5 question")
            # So does an objection, until it is taken back; other choices count from the next epoch on.
            assert [await chosen(trial, user) for user in PEOPLE[3:5]] == [Code.OBJECTED, Code.CONSENT_INVALID]
            client = rights(trial)
            await client.exercise(Right.RESUME, PEOPLE[3])
            await client.close()
            assert await chosen(trial, PEOPLE[3]) is Code.CONSENT_INVALID
        for report in await audits(trial):
            assert report.verdict is Verdict.UNCHECKED
            assert any("store was lost" in reason.text for reason in report.reasons)


@pytest.mark.slow
@pytest.mark.parametrize("later", [False, True])
async def test_an_erasure_that_cannot_name_what_the_store_forgot_accuses_nobody(tmp_path: Path, later: bool) -> None:
    """A gateway whose store was lost names under whose links a person's evidence stood since then alone."""
    async with running(tmp_path) as trial:
        await trial.busy(1)
        await trial.audit(state=True)
        await lost(trial)
        if later:
            await another_epoch(trial)
        else:
            await trial.ask("node5 question", [STAYS])
        await object_once(trial, Right.ERASE, STAYS)
        for report in await audits(trial):
            assert report.verdict is Verdict.UNCHECKED and report.counts["gateway.ERASED"] == 1


@pytest.mark.parametrize("lost", ["tail", "folder"])
@pytest.mark.parametrize("role", ONE)
async def test_a_log_that_was_lost_is_followed_and_accuses_nobody(tmp_path: Path, role: str, lost: str) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        head = await asyncio.to_thread(cosign, trial, role)
        await trial.audit(state=True)
        await trial.halt(role)
        kept = tmp_path / "head"
        shutil.copy(evidence(trial, role) / "checkpoint", kept)
        if lost == "folder":
            shutil.rmtree(evidence(trial, role))
        else:
            for path in evidence(trial, role).glob("segments/*/*"):
                path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        with pytest.raises(LogDamagedError, match=r"nothing was changed"):
            await trial.serve(role)
        if lost == "folder":
            assert await mend(trial, role) == 2
        assert await mend(trial, role, "--head", str(kept)) == 0
        await trial.serve(role)
        await trial.ask("node5 question")
        await trial.settle()
        fresh, first, second = await audits(trial)
        assert fresh.verdict is Verdict.UNCHECKED and fresh.counts["leaves.damaged"] > 0
        # Whoever read it before it was lost knows all of it.
        assert first.counts["leaves.damaged"] == second.counts["leaves.damaged"] < fresh.counts["leaves.damaged"]
        assert (await asyncio.to_thread(cosign, trial, role)).origin != head.origin


@pytest.mark.parametrize("role", OTHER)
async def test_a_log_that_was_lost_with_its_last_seconds_accuses_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, role: str
) -> None:
    """The newest head that its operator finds is older than what an audit has read and devices were shown."""
    async with running(tmp_path) as trial:
        await trial.busy(1)
        kept = tmp_path / "head"
        kept.write_bytes((evidence(trial, role) / "checkpoint").read_bytes())
        await trial.ask("node6 question")
        await trial.consent("searches", PEOPLE[:2])
        await trial.settle()
        await trial.audit(state=True)
        newest = (evidence(trial, role) / "checkpoint").read_bytes()
        await trial.halt(role)
        knows_only(trial, role, kept.read_bytes(), monkeypatch)
        shutil.rmtree(evidence(trial, role))
        assert await mend(trial, role, "--head", str(kept)) == 0
        await trial.serve(role)
        await trial.ask("node5 question")
        await trial.settle()
        receipts = list(read_receipts(tmp_path / "devices"))
        for state in (False, True, True):
            report = await trial.audit(state=state, receipts=receipts)
            assert report.violations == [], report.violations
            told = [reason.text for reason in report.reasons]
            assert state is True or any("a successor log was begun" in text for text in told), told
        # What somebody else was shown, its operator could have asked for.
        report = await trial.audit(known=[newest])
        assert {(v.rule, v.log) for v in report.violations} == {(1, role)}


async def shown_back(trial: Trial, role: str, patch: pytest.MonkeyPatch) -> bytes:
    """The log's newest head, once the other service has shown that it holds it."""
    patch.setattr(heads, "_AGAIN", 0.1)
    newest, own = (evidence(trial, role) / "checkpoint").read_bytes(), trial.folder / role / "data/heads/own.head"
    async with asyncio.timeout(30):
        while not own.exists() or own.read_bytes() != newest:  # noqa: ASYNC110 - nothing signals it
            await asyncio.sleep(0.05)
    return newest


@pytest.mark.parametrize("role", ONE)
async def test_a_successor_that_hides_what_others_have_seen_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, role: str
) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        old = (evidence(trial, role) / "checkpoint").read_bytes()
        await trial.ask("node6 question")
        await trial.settle()
        await trial.audit(state=True)
        await asyncio.to_thread(cosign, trial, role)
        known = await shown_back(trial, role, monkeypatch)
        await trial.halt(role)
        knows_only(trial, role, old, monkeypatch)
        assert await mend(trial, role) == 0
        await trial.serve(role)
        for options in ({"state": True}, {"known": [known]}):
            report = await trial.audit(**options)
            assert report.verdict is Verdict.VIOLATION
            assert {(v.rule, v.log) for v in report.violations} == {(1, role)}
        with pytest.raises(HistoryForkedError, match=r"hides entries"):
            await asyncio.to_thread(cosign, trial, role)


@pytest.mark.parametrize("role", ONE)
async def test_a_head_that_is_presented_late_is_compared_with_what_the_successor_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, role: str
) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        old = (evidence(trial, role) / "checkpoint").read_bytes()
        await trial.ask("node6 question")
        await trial.settle()
        await trial.audit()  # waits until all of that is in the log
        known = (evidence(trial, role) / "checkpoint").read_bytes()
        await trial.halt(role)
        knows_only(trial, role, old, monkeypatch)
        assert await mend(trial, role) == 0
        await trial.serve(role)
        await trial.audit(state=True)  # of nothing but what the successor shows
        report = await trial.audit(state=True, known=[old])
        assert all(violation.rule != 1 for violation in report.violations)  # what is missing may be told already
        for options in ({"known": [known]}, {}):
            report = await trial.audit(state=True, **options)
            assert (1, role) in {(violation.rule, violation.log) for violation in report.violations}


@pytest.mark.parametrize("role", ONE)
async def test_a_successor_that_somebody_was_shown_is_not_taken_back(tmp_path: Path, role: str) -> None:
    later = Checkpoint(f"{origin('main-service', role)}/2", 1, bytes(32))
    forged = later.sign(SigningKey(bytes(32))).encode()
    async with running(tmp_path) as trial:
        await trial.busy(1)
        report = await trial.audit(known=[forged])
        assert report.violations == [] and "shows nothing" in report.reasons[0].text
        key = load_signing_key(tmp_path / role / "signing.key")
        report = await trial.audit(known=[later.sign(key).encode()])
        assert {(v.rule, v.log) for v in report.violations} == {(1, role)}


@pytest.mark.parametrize("role", ONE)
async def test_an_operator_whose_copy_is_too_old_need_not_name_what_the_other_service_has_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, role: str
) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        old = (evidence(trial, role) / "checkpoint").read_bytes()
        await trial.ask("node6 question")
        await trial.settle()
        await trial.audit(state=True)
        known = await shown_back(trial, role, monkeypatch)
        await trial.halt(role)
        (evidence(trial, role) / "checkpoint").write_bytes(old)
        assert await mend(trial, role) == 0
        await trial.serve(role)
        for options in ({"state": True}, {"known": [known]}):
            assert (await trial.audit(**options)).violations == []


@pytest.mark.parametrize("role", ONE)
async def test_payloads_of_a_log_that_is_followed_expire_too(tmp_path: Path, retention: Retention, role: str) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        await trial.audit(state=True)
        for generation in (2, 3):
            await trial.halt(role)
            assert await mend(trial, role) == 0
            await trial.serve(role)
            await trial.ask(f"node{generation} question")
            await trial.settle()
        await trial.audit()  # its heads are fresh: everything is written
        old = [trial.folder / role / "data" / name / "segments" for name in ("evidence", "evidence-2")]
        assert all(list(folder.glob("*/parts")) for folder in old)
        async with asyncio.timeout(30):
            while any(list(folder.glob("*/parts")) for folder in old):
                await retention.look(role, 400)  # once its clock is confirmed
                await asyncio.sleep(0.2)
        assert list((trial.folder / role / "data/evidence-3/segments").glob("*/parts"))
        assert all(list(folder.glob("*/leaves")) for folder in old)
        for report in await audits(trial):
            assert report.verdict is Verdict.UNCHECKED  # by the auditor's clock it was a year too early
            assert all("have expired before the time" in reason.text for reason in report.reasons)


@pytest.mark.parametrize("role", ONE)
async def test_an_older_store_is_not_followed(tmp_path: Path, role: str) -> None:
    """What was erased and withdrawn since would count again: a successor begins with an empty store."""
    async with running(tmp_path) as trial:
        await trial.busy(1)
        old = await stored(trial, role)
        client = rights(trial)
        await client.exercise(Right.ERASE, PEOPLE[1])
        await trial.consent("nothing", PEOPLE[2:3])
        await client.exercise(Right.OBJECT, PEOPLE[3])
        await trial.audit(state=True)
        await trial.halt(role)
        await put(trial, role, old)
        assert await mend(trial, role) == 0
        with pytest.raises(LogDamagedError, match=r"older copy .*empty"):
            await trial.serve(role)
        await put(trial, role, {})
        await trial.serve(role)
        await client.close()
        for report in await audits(trial):
            assert report.verdict is Verdict.UNCHECKED


Rows = dict[bytes, tuple[bytes, int]]


async def stored(trial: Trial, role: str) -> Rows:
    """All that a store holds, each with its time to live (ms)."""
    store = connect(trial.url(role))
    rows = {key: (await store.dump(key), await store.pttl(key)) for key in await store.keys("*")}
    await store.aclose()
    return {key: (value, max(0, left)) for key, (value, left) in rows.items() if value is not None}


async def put(trial: Trial, role: str, rows: Rows) -> None:
    """Let a store hold this and nothing else."""
    store = connect(trial.url(role))
    await store.flushall()
    for key, (value, left) in rows.items():
        await store.restore(key, left, value)
    await store.aclose()
