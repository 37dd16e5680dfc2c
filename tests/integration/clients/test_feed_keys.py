"""Feed keys on their way: once an epoch and stream, again after a restart, and not in epochs from before (DESIGN 9)."""

from pathlib import Path

import pytest

from auditor.findings import Verdict
from tests.support.lies import Liar
from tests.support.lies_epochs import next_day
from tests.support.lies_ported import sealed_each
from tests.support.trial import PEOPLE, running


async def test_a_party_that_starts_again_gets_the_key_again(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        await trial.consent()
        for node in ("node1", "node2"):
            await trial.ask(f"{node} question")
            await trial.settle()
            got = await trial.receive()
            assert {len(groups) > 0 for groups in got.values()} == {True}
        report = await trial.audit()
    assert report.verdict is Verdict.CLEAN, (report.violations, report.reasons)
    assert report.believed["seals"] == 2  # a seal to each of two parties


@pytest.mark.slow
async def test_an_epoch_from_before_goes_on_as_it_began(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(tmp_path) as trial:
        with monkeypatch.context() as patch:
            liar = Liar(trial, patch)
            await sealed_each(liar)
            await trial.consent("aliased")
            await trial.ask("node0 question")
            await trial.settle()
            await trial.receive()
        # The services of now find the epoch open, and it goes on without feed keys.
        for role in ("main-service", "gateway"):
            await trial.halt(role)
            await trial.serve(role)
        await trial.ask("node7 question")
        await trial.settle()
        await trial.receive()
        report = await trial.audit()
        assert report.verdict is Verdict.CLEAN, (report.violations, report.reasons)
        each = report.believed["seals"]
        assert each >= 2 * len(PEOPLE)
        assert report.believed["aliases"] == report.counts["aliases.believed"] == 2 * len(PEOPLE)
        await next_day(liar)
        await trial.consent("aliased")
        await trial.ask("node3 question")
        await trial.settle()
        assert all((await trial.receive()).values())
        report = await trial.audit()
    assert report.verdict is Verdict.CLEAN, (report.violations, report.reasons)
    assert report.believed["seals"] == each + 2
    assert report.counts["aliases.recomputed"] == report.believed["aliases"] == 2 * len(PEOPLE)
