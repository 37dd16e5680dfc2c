"""An auditor is upgraded: the state that the release before left is refused by name, and all is read anew."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from auditor.setup import trust_of
from auditor.state import STATE, VERSION, AuditState
from proxid.encoding import label
from tests.support.trial import Trial, run_command, running


def left_by_the_release_before(trial: Trial) -> None:
    """The auditor's state becomes one of the version before: whole, and of another shape."""
    config = trial.config("auditor")
    path, purpose = config.data_dir / "audit" / STATE, label("audit-state")
    state = AuditState(path.parent, trust_of(config, pipeline=False).opening)
    data = path.read_bytes()
    version, sets, (reads, parts, *more) = json.loads(
        ChaCha20Poly1305(state._key).decrypt(data[:12], data[12:], purpose)
    )
    assert version == VERSION
    parts[1].pop()  # of people less was known
    plain, nonce = json.dumps([VERSION - 1, sets, [reads, parts, *more]]).encode(), os.urandom(12)
    path.write_bytes(nonce + ChaCha20Poly1305(state._key).encrypt(nonce, plain, purpose))
    state.close()


async def test_an_upgraded_auditor_says_that_it_reads_anew_and_comes_to_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)

        async def audit(*more: str) -> tuple[int, Any, str]:
            capsys.readouterr()
            config = str(trial.folder / "auditor/auditor.toml")
            status = await run_command("audit", "--config", config, "--no-pipeline", "--json", *more)
            out, err = capsys.readouterr()
            return status, json.loads(out) if out else None, err

        status, before, _ = await audit()
        assert status == 0
        left_by_the_release_before(trial)
        for _ in range(2):  # nothing is forgotten before somebody says so
            status, told, err = await audit()
            assert (status, told and told["verdict"]) in {(2, None), (2, "unchecked")}
            said = err if told is None else json.dumps(told["unchecked"])
            assert "audit_state_damaged" in said
            assert "written by another version of proxid; audit anew with --fresh" in said
        status, after, _ = await audit("--fresh")
        assert status == 0
        same = ("verdict", "checked", "checks", "believed", "violations", "unchecked", "counts")
        assert {name: after[name] for name in same} == {name: before[name] for name in same}
        status, again, _ = await audit()  # and it is gone on from
        assert status == 0 and again["checked_before"]["3"] > again["checked"]["3"] == 0
