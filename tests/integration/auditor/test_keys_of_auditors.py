"""A new key of the auditor's, or of a party's: what was sealed for the one before, or signed by it, is read on."""

import base64
from pathlib import Path

from auditor.checks.c9_receipts import read_receipts
from auditor.findings import Verdict
from proxid.protocol.rights import Right
from proxid.runtime.config.loading import load_section
from proxid.runtime.config.trust import Trust
from proxid.runtime.provision.keyfile import SIGNING, create_key, load_signing_key
from proxid.runtime.provision.public import write_trust
from tests.integration.gateway.test_rights import rights
from tests.support.trial import PEOPLE, Trial, run_command, running


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


async def rotate_party(trial: Trial, party: str) -> bytes:
    """As docs/keys.md says it; the key before, base64."""
    folder = trial.folder / "parties" / party
    before = load_signing_key(folder / "signing.key").public
    (folder / "signing.key").unlink()
    create_key(folder / "signing.key", SIGNING)
    key = load_signing_key(folder / "signing.key").public
    for role in ("gateway", "auditor"):
        path = trial.folder / role / "trust.toml"
        trust = load_section(Trust, path)
        own = trust.parties[party].model_copy(update={"acknowledge": key})
        write_trust(path, trust.model_copy(update={"parties": {**trust.parties, party: own}}))
    await trial.halt("gateway")
    await trial.serve("gateway")
    return base64.b64encode(before)


async def test_a_new_key_of_a_partys_accuses_nobody_of_what_it_acknowledged_by_the_one_before(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        client = rights(trial)
        await client.exercise(Right.OBJECT, PEOPLE[0])
        await client.exercise(Right.RESUME, PEOPLE[0])
        await client.close()
        await trial.receive()
        before = await rotate_party(trial, "acme")
        await trial.ask("node5 question")
        await trial.settle()
        await trial.receive()
        config = tmp_path / "auditor/auditor.toml"
        said = config.read_text()
        assert (await trial.audit()).violations  # nobody told the auditor of that key
        config.write_text(f'older_party_keys = {{ acme = ["{before.decode()}"] }}\n{said}')
        presented = list(read_receipts(tmp_path / "parties"))
        report = await trial.audit(receipts=presented)
        assert report.verdict is Verdict.CLEAN, (report.violations, report.reasons)
        assert report.counts["gateway.NOTICED"] and not report.counts["receipts.unproven"]
