"""Services that show no head, give out no keys, seal for another auditor, or whose own disk is damaged."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from auditor.findings import Verdict
from proxid.crypto.hpke import OpeningKey
from proxid.errors import EvidenceForeignError, EvidenceUnreadableError
from proxid.runtime.evidence_log.encryptor import Encryptor
from proxid.runtime.evidence_log.reading import LogReader
from proxid.runtime.evidence_log.servicer import EvidenceService
from tests.support.desk import flipped
from tests.support.lies import no_wait
from tests.support.trial import run_command, running


async def test_a_service_that_shows_no_head_is_not_exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        honest = LogReader.checkpoint
        gateway = "proxid/main-service/gateway"
        monkeypatch.setattr(LogReader, "checkpoint", lambda self: b"x" if self._log.name == gateway else honest(self))
        monkeypatch.setattr(EvidenceService, "_wait", no_wait)
        with pytest.raises(EvidenceUnreadableError, match="gateway: what is shown"):
            await trial.audit()
        config, folder = str(tmp_path / "auditor/auditor.toml"), tmp_path / "export"
        assert await run_command("audit", "--config", config, "--export", str(folder)) == 2
        assert not (folder / "manifest.json").exists()


async def test_a_screener_that_gives_out_no_key_at_all_is_a_violation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        honest = EvidenceService.__init__

        def keyless(self: EvidenceService, *more: Any, **named: Any) -> None:
            honest(self, *more, **named)
            self._keys = None if self._keys is None else nothing

        monkeypatch.setattr(EvidenceService, "__init__", keyless)
        await trial.halt("gateway")
        await trial.serve("gateway")
        report = await trial.audit()
    assert report.verdict is Verdict.VIOLATION and 2 in {v.rule for v in report.violations}


async def nothing(tags: Sequence[bytes]) -> list[bytes]:
    return [b""] * len(tags)


async def test_a_log_that_is_damaged_on_the_services_disk_is_named_with_the_leaf(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("auditor.reading.remote._CONNECT_SECONDS", 1.0)
    async with running(tmp_path) as trial:
        await trial.busy(1)
        await trial.audit()
        path, at = tmp_path / "main-service/data/evidence/segments/000000000001/leaves", 0
        data = path.read_bytes()
        for _ in range(6):
            at += 8 + int.from_bytes(data[at : at + 4], "big")
        flipped(path, at + 20)
        report = await trial.audit()
        assert not report.violations
        assert [u.text for u in report.reasons if "1 leaves are damaged, the first of them leaf 7" in u.text]
        await trial.halt("main-service")
        with pytest.raises(EvidenceUnreadableError, match=r"main-service at .* cannot be reached"):
            await trial.audit()


def sealing_for_another(patch: pytest.MonkeyPatch, lying: set[str]) -> None:
    """The logs named seal their chains to somebody who is not the auditor."""
    honest, stranger = Encryptor.__init__, OpeningKey(bytes(range(96))).public

    def sealing(self: Encryptor, log: str, name: str, auditor: Any, *more: Any, **named: Any) -> None:
        honest(self, log, name, stranger if log in lying else auditor, *more, **named)

    patch.setattr(Encryptor, "__init__", sealing)


@pytest.mark.parametrize("log", ["gateway", "main-service"])
async def test_one_service_that_seals_for_another_auditor_is_a_violation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: str
) -> None:
    sealing_for_another(monkeypatch, {log})
    async with running(tmp_path) as trial:
        await trial.busy(1)
        report = await trial.audit()
    assert report.verdict is Verdict.VIOLATION and 2 in {v.rule for v in report.violations}


async def test_both_that_seal_for_another_auditor_are_not_clean_and_a_violation_once_they_sealed_for_this_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both, lying = {"gateway", "main-service"}, set[str]()
    sealing_for_another(monkeypatch, lying)
    async with running(tmp_path / "late") as trial:
        await trial.busy(1)
        assert (await trial.audit(state=True)).verdict is Verdict.CLEAN
        lying |= both
        for role in ("main-service", "gateway"):
            await trial.halt(role)
            await trial.serve(role)
        await trial.ask("node5 question")
        await trial.settle()
        assert (await trial.audit(state=True)).verdict is Verdict.VIOLATION
    async with running(tmp_path / "ever") as trial:
        await trial.busy(1)
        with pytest.raises(EvidenceForeignError):
            await trial.audit()
