"""What auditors and witnesses remember is put back from an older copy, or lost: no honest service is accused."""

import asyncio
import base64
import shutil
import sys
import time
from pathlib import Path

import pytest

from auditor.checks.c9_receipts import read_receipts
from auditor.conduct import series_of
from auditor.findings import Verdict
from proxid.runtime.provision.keyfile import SIGNING, create_key, load_signing_key
from tests.support.lies import GATEWAY, MAIN
from tests.support.trial import Trial, run_command, running


async def cosigned(trial: Trial) -> None:
    arguments = ["--config", str(trial.folder / "witness/witness.toml"), "--once"]
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "proxid.cli.main", "witness", *arguments)
    assert await process.wait() == 0


async def audits(trial: Trial) -> list[Verdict]:
    """One that goes on, and one from nothing, with all receipts."""
    found = []
    for state in (True, False):
        receipts = [one for name in ("devices", "parties") for one in read_receipts(trial.folder / name)]
        report = await trial.audit(state=state, receipts=receipts, witness=True)
        assert report.violations == []
        found.append(report.verdict)
    return found


def put_back(copy: Path, folder: Path) -> None:
    shutil.rmtree(folder)
    shutil.copytree(copy, folder)


def replace(folder: Path) -> None:
    """A new witness is in the place of the old one, and everybody has imported its key."""
    key = folder / "witness/signing.key"
    old = load_signing_key(key).public
    shutil.rmtree(folder / "witness/data")
    key.unlink()
    create_key(key, SIGNING)
    said, says = (base64.b64encode(public).decode() for public in (old, load_signing_key(key).public))
    for path in folder.rglob("trust.toml"):
        path.write_text(path.read_text().replace(said, says))


CLEAN, UNCHECKED = [Verdict.CLEAN] * 2, [Verdict.UNCHECKED] * 2


@pytest.mark.slow
async def test_a_witness_that_is_put_back_from_an_older_copy_or_begins_anew_cosigns_on(tmp_path: Path) -> None:
    memory, copy = tmp_path / "witness/data", tmp_path / "copy"
    async with running(tmp_path) as trial:
        await trial.busy(1)
        await cosigned(trial)
        shutil.copytree(memory, copy)
        await trial.busy(1)
        await cosigned(trial)
        assert await audits(trial) == CLEAN
        put_back(copy, memory)
        await trial.halt(GATEWAY)
        await trial.serve(GATEWAY)
        await cosigned(trial)
        assert await audits(trial) == CLEAN
        shutil.rmtree(memory)
        await trial.busy(1)
        await cosigned(trial)
        assert await audits(trial) == CLEAN


@pytest.mark.slow
async def test_another_witness_is_unchecked_until_all_know_it(tmp_path: Path) -> None:
    key = tmp_path / "witness/signing.key"
    async with running(tmp_path) as trial:
        await trial.busy(1)
        await cosigned(trial)
        assert await audits(trial) == CLEAN
        replace(tmp_path)
        assert trial.config("auditor").trust.witness == load_signing_key(key).public
        assert await audits(trial) == UNCHECKED
        for role in (MAIN, GATEWAY):
            await trial.halt(role)
        for role in (MAIN, GATEWAY):
            await trial.serve(role)
        await trial.busy(1)
        assert await audits(trial) == UNCHECKED
        await cosigned(trial)
        assert await audits(trial) == CLEAN


async def test_an_auditor_that_is_put_back_or_lost_all_agrees_with_another(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    memory, copy, of_another = tmp_path / "auditor/data/audit", tmp_path / "copy", tmp_path / "of-another"
    async with running(tmp_path) as trial:

        async def audit() -> int:
            """Compares, with all receipts, and adds to its own reports."""
            options = ["--compare", str(of_another), "--out", str(tmp_path / "reports"), "--no-pipeline"]
            options += [f"--receipts={tmp_path / name}" for name in ("devices", "parties")]
            return await run_command("audit", "--config", str(tmp_path / "auditor/auditor.toml"), *options)

        await trial.busy(1)
        series_of(trial.config("auditor"), of_another).add(await trial.audit(), time.time())
        assert await audit() == 0
        shutil.copytree(memory, copy)
        await trial.busy(1)
        series_of(trial.config("auditor"), of_another).add(await trial.audit(), time.time())
        assert await audit() == 0
        put_back(copy, memory)
        assert await audit() == 0
        shutil.rmtree(memory)
        await trial.busy(1)
        assert await audit() == 0
        config = str(tmp_path / "auditor/auditor.toml")
        assert await run_command("audit", "--config", config, "--verify", str(tmp_path / "reports")) == 0
    capfd.readouterr()
