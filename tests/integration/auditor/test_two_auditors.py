"""Two auditors compare what they were shown: a running liar that shows each another history is found, nobody else."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from auditor.conduct import series_of
from auditor.findings import Verdict
from proxid.runtime.evidence_log.held import HeldHeads
from tests.support.lies import GATEWAY, Liar
from tests.support.lies_stored import fork
from tests.support.trial import Trial, run_command, running


async def audit(trial: Trial, capfd: pytest.CaptureFixture[str], *more: str) -> tuple[int, Any]:
    """Status and report of an auditor who goes on from nothing."""
    capfd.readouterr()
    config = str(trial.folder / "auditor/auditor.toml")
    status = await run_command("audit", "--config", config, "--no-state", "--no-pipeline", "--json", *more)
    return status, json.loads(capfd.readouterr().out.splitlines()[-1])


async def test_a_split_view_that_a_running_liar_shows_is_found_by_comparing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        first = await trial.audit()
        assert first.verdict is Verdict.CLEAN
        heads = tmp_path / "of-the-first"
        series_of(trial.config("auditor"), heads).add(first, time.time())
        # An honest service has gone on: the heads that the first auditor was shown are its beginning.
        await trial.ask("node4 question")
        assert (await audit(trial, capfd, "--compare", str(heads)))[0] == 0
        # Whoever lies does not stop by itself when the other service holds another head of its log.
        monkeypatch.setattr(HeldHeads, "_compare", lambda *_: None)
        fork(Liar(trial, monkeypatch), GATEWAY)
        await trial.ask("node5 question")
        # What the second one is shown is whole in itself; it takes both to see that there are two.
        assert (await audit(trial, capfd))[1]["violations"] == []
        status, report = await audit(trial, capfd, "--compare", str(heads))
        assert (status, report["unchecked"]) == (1, [])
        assert {(v["rule"], v["log"]) for v in report["violations"]} == {(1, "gateway")}
        assert "forked" in report["violations"][0]["text"]


async def test_what_holds_no_heads_is_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    async with running(tmp_path) as trial:
        config = str(trial.folder / "auditor/auditor.toml")
        assert await run_command("audit", "--config", config, "--compare", str(tmp_path / "auditor")) == 2
    assert "holds no heads" in capfd.readouterr().err
