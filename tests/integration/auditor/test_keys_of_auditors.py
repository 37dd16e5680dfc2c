"""A new key of the auditor's: what was sealed for the one before it is read on, and the audit goes on."""

from pathlib import Path

from auditor.findings import Verdict
from proxid.runtime.config.loading import load_section
from proxid.runtime.config.trust import Trust
from proxid.runtime.provision.public import write_trust
from tests.support.trial import Trial, run_command, running


async def rotate(trial: Trial) -> None:
    """As docs/keys.md says it."""
    folder = trial.folder / "auditor"
    (folder / "opening.key").rename(folder / "opening-before.key")
    assert await run_command("init", "--role", "auditor", "--out", str(folder), "--parties", "acme,globex") == 0
    for role in ("main-service", "gateway"):
        path = trial.folder / role / "trust.toml"
        write_trust(path, load_section(Trust, path).model_copy(update={"auditor_seal": None}))
        into = ["init", "--into", str(path.parent), "--import", str(folder / "public.toml")]
        assert await run_command(*into) == 0
        await trial.halt(role)
        await trial.serve(role)


async def test_a_new_key_of_the_auditors_loses_no_evidence(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        assert (await trial.audit(state=True)).verdict is Verdict.CLEAN
        await rotate(trial)
        await trial.ask("node5 question")
        await trial.settle()
        await trial.receive()
        config = tmp_path / "auditor/auditor.toml"
        said = config.read_text()
        config.write_text(f'older_opening_keys = ["opening-before.key"]\n{said}')
        for state in (True, False):
            report = await trial.audit(state=state)
            assert report.verdict is Verdict.CLEAN, (report.violations, report.reasons)
            assert report.counts["events.unreadable"] == 0
