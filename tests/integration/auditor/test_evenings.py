"""The auditor against running services: honest evenings are clean, an audit goes on from the last one."""

import asyncio
import base64
import dataclasses
import json
import re
import sys
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from auditor.checks.c2_erasures import Erasures
from auditor.checks.c7_completeness import Sets
from auditor.checks.c9_receipts import Presented, ReceiptCheck, read_receipts
from auditor.checks.c9_recent import Recent
from auditor.findings import Report, Verdict
from auditor.policies import Policies
from auditor.report.page import render
from auditor.setup import logs_of, trust_of
from proxid.anonymise.mix.types import Group
from proxid.clients.household.shown_time import STEP
from proxid.errors import RestrictionError
from proxid.evidence.note import Note
from proxid.protocol.receipt import DeliveryAck
from proxid.protocol.rights import Right
from proxid.runtime.provision.keyfile import load_signing_key
from tests.support.lies import Liar
from tests.support.lies_screener import screener_forwards_a_request_never_sent
from tests.support.split_house import house
from tests.support.trial import PEOPLE, Trial, run_command, running


async def test_an_honest_evening_is_clean_in_every_check(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        await trial.busy()
        report = await trial.audit()
    assert report.violations == []
    assert report.counts["released"] == 16 and report.counts["deliveries"] == 8
    assert report.believed == {"answers": 16, "keys": 8, "seals": 2, "times": 17}
    for rule in (1, 2, 3, 4, 5, 6, 7):
        assert report.checked[rule] > 0, rule


async def test_the_second_audit_reads_what_is_new_alone(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        await trial.busy()
        first = await trial.audit(state=True)
        again = await trial.audit(state=True)
        await trial.ask("node7 question", PEOPLE[:5])
        await trial.settle()
        await trial.receive()
        third = await trial.audit(state=True)
        whole = await trial.audit()
    for report in (first, again, third, whole):
        assert report.violations == []
    assert again.checked[3] == 0
    assert first.checked[3] + third.checked[3] == whole.checked[3]
    assert third.counts["released"] == whole.counts["released"] == 20
    # What earlier audits checked adds up over all of them, and the report says where each began.
    assert third.checked_before[3] == first.checked[3] + again.checked[3] and not whole.checked_before
    for name, log in third.scope.logs.items():
        assert log.before == first.scope.logs[name].size == again.scope.logs[name].size < log.size
    assert third.scope.continued and not whole.scope.continued
    assert third.scope.as_dict()["logs"].keys() == whole.scope.as_dict()["logs"].keys()
    assert (third.scope.requests, third.scope.people) == (whole.scope.requests, whole.scope.people)


async def test_a_report_names_the_state_of_the_logs_and_the_period(tmp_path: Path) -> None:
    before = time.time()
    async with running(tmp_path) as trial:
        await trial.busy(1)
        report = await trial.audit()
        (gateway, service), epoch = logs_of(trial.config("auditor")), trial.device._route.epoch  # type: ignore[union-attr]
        shown = {}
        for log in (gateway, service):
            note = (await asyncio.to_thread(log.heads)).latest
            name, size, root, _ = Note.decode(note).text.split("\n")
            shown[name] = (int(size), root)
            log.close()
    scope = report.scope
    assert {log.origin: (log.size, log.root) for log in scope.logs.values()} == shown
    assert base64.b64decode(scope.logs["gateway"].key) == trial.config("auditor").trust.screener
    # Requests show their time to the nearest step, which may lie before the request itself.
    assert scope.requests is not None and (before - STEP) * 1000 <= scope.requests[0] <= scope.requests[1]
    assert before <= scope.started and scope.epochs == (epoch, epoch) and scope.people == len(PEOPLE)
    assert not scope.witnessed and scope.logs["gateway"].cosigned is None


def archived(folder: Path) -> list[str]:
    """Who keeps a head of the day."""
    return sorted(path.relative_to(folder).parts[0] for path in folder.rglob("????-??-??.note"))


async def test_a_witness_cosigns_and_an_audit_asks_for_it(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        without = await trial.audit(witness=True, state=True)
        assert without.violations == [] and without.verdict is Verdict.UNCHECKED
        assert [(m.rule, m.log) for m in without.missing] == [(1, "gateway"), (1, "main-service")]
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "proxid.cli.main", "witness", "--config", str(tmp_path / "witness/witness.toml"),
            "--once", "--json", stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        said = [json.loads(line) for line in (await process.communicate())[0].splitlines()]
        assert process.returncode == 0 and {s["log"] for s in said} == {"gateway", "main-service"}
        # A witness that was away leaves nothing behind once it has cosigned what was read without it.
        with_witness = await trial.audit(witness=True, state=True)
    assert with_witness.verdict is Verdict.CLEAN and with_witness.missing == []
    assert archived(tmp_path) == ["gateway", "main-service", "witness", "witness"]
    assert with_witness.violations == [] and with_witness.scope.witnessed and not without.scope.logs["gateway"].cosigned
    for log in with_witness.scope.logs.values():
        assert log.cosigned is not None and log.cosigned[1] <= log.size


async def test_an_exported_folder_is_audited_alike_offline(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("auditor.reading.remote._CONNECT_SECONDS", 1.0)
    config, folder = str(tmp_path / "auditor/auditor.toml"), str(tmp_path / "export")
    async with running(tmp_path) as trial:
        await trial.busy(1)
        assert await run_command("audit", "--config", config, "--export", folder) == 0
        online = await trial.audit()
    capfd.readouterr()
    page = tmp_path / "report.html"
    status = await run_command(
        "audit", "--config", config, "--from", folder, "--json", "--no-pipeline", "--html", str(page)
    )
    report = json.loads(capfd.readouterr().out.splitlines()[-1])
    assert status == 0 and report["verdict"] == "clean"
    assert report["counts"] == {**dict(online.counts)}
    # Nothing is loaded from elsewhere, and nothing moves: it reads aloud and prints.
    text = page.read_text()
    assert "Clean" in text and "<caption>" in text and 'scope="col"' in text and 'lang="en"' in text
    assert not re.search(r"<script|<img|https?://|src=|@import", text)
    assert await run_command("audit", "--config", config, "--json") == 2  # nobody serves any more
    assert json.loads(capfd.readouterr().out.splitlines()[-1])["verdict"] == "unchecked"


async def test_explain_tells_the_life_of_a_record(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        groups = (await trial.audit()).counts["groups"]
        config = str(tmp_path / "auditor/auditor.toml")
        epoch = trial.device._route.epoch  # type: ignore[union-attr]
        assert groups == 2
        assert await run_command("explain", f"{epoch}/1/0", "--config", config, "--json") == 0
        steps = json.loads(capfd.readouterr().out.splitlines()[-1])["steps"]
        assert await run_command("explain", f"{epoch}/9/0", "--config", config) == 2
    events = [step["event"] for step in steps]
    assert events == ["FORWARDED", "RECEIVED", "ANSWERED", "BUFFERED", "RELEASED", "DELIVERED", "DELIVERED"]
    by_event = {step["event"]: step["what"] for step in steps}
    assert by_event["FORWARDED"]["user"] in PEOPLE and by_event["BUFFERED"]["utterance"] == "node0 question"
    assert by_event["RELEASED"]["asked by"] != by_event["RELEASED"]["published under"]
    assert steps[3]["said"].startswith("Main service, entry") and "“node0 question”" in steps[3]["said"]


async def test_explain_tells_the_history_of_an_entry_of_a_log(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        config = str(tmp_path / "auditor/auditor.toml")
        epoch = trial.device._route.epoch  # type: ignore[union-attr]
        assert await run_command("explain", f"{epoch}/1/0", "--config", config, "--json") == 0
        steps = json.loads(capfd.readouterr().out.splitlines()[-1])["steps"]
        for step in steps[3], steps[-1]:  # of a request, and of a group
            assert await run_command("explain", f"{step['log']}/{step['leaf']}", "--config", config, "--json") == 0
            found = json.loads(capfd.readouterr().out.splitlines()[-1])["steps"]
            assert len(found) == 7 and step in found
        assert await run_command("explain", "gateway/1", "--config", config) == 0
        assert "Gateway, entry 1: " in capfd.readouterr().out
        assert await run_command("explain", "gateway/99999", "--config", config) == 2


async def test_a_genuine_message_presented_as_another_kind_accuses_nobody(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        held = list(read_receipts(tmp_path / "devices/household-1/data"))
        kinds = {item.kind for item in held}
        assert kinds == {"epoch", "response", "consent", "promise"}
        # Each is genuine: what it claims to be is its holder's word alone.
        swapped = [
            dataclasses.replace(item, kind=kind) for item in held for kind in (*kinds, "rights") if kind != item.kind
        ]
        report = await trial.audit(receipts=swapped)
    assert report.violations == [] and report.counts["receipts.unproven"] == len(swapped) > 0


async def test_receipts_of_another_trial_accuse_nobody(tmp_path: Path) -> None:
    """Neither a receipt that other services signed nor one that somebody made up is a violation of these."""
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    async with running(tmp_path / "there") as trial:
        await trial.busy(1)
        presented = list(read_receipts(tmp_path / "there/devices/household-1/data"))
    async with running(tmp_path / "here") as trial:
        await trial.busy(1)
        mine = list(read_receipts(tmp_path / "here/devices/household-1/data"))
        made_up = [dataclasses.replace(r, message=r.message[:-1] + bytes([r.message[-1] ^ 1])) for r in mine]
        report = await trial.audit(receipts=[*presented, *made_up, *mine])
    assert {r.kind for r in presented} == {"epoch", "response", "consent", "promise"}
    assert len(mine) == len(made_up) == len(presented)
    assert report.violations == []
    assert report.checked[9] == len(mine) and report.counts["receipts.unproven"] == 2 * len(mine)
    kinds = Counter(receipt.kind for receipt in mine)
    assert {kind: report.counts[f"receipts.compared.{kind}"] for kind in kinds} == kinds


async def test_a_receipt_younger_than_the_heads_accuses_nobody(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        await trial.busy(1)
        trust = trust_of(trial.config("auditor"), pipeline=False)
        presented = [one for one in read_receipts(tmp_path / "devices") if one.kind != "promise"]
    assert {r.kind for r in presented} == {"epoch", "response", "consent"}
    now = int(time.time() * 1000)
    key = load_signing_key(tmp_path / "parties/acme/signing.key")
    ack = DeliveryAck("acme", "main-service", 1, 99, bytes(32)).sign(key)
    presented.append(Presented("acknowledgement", b"", ack.encode(), now))
    for since, found in ((now - 3_600_000, 0), (now + 3_600_000, 1)):
        report = Report()
        policies = Policies(trust)
        nothing = Sets(None), set[tuple[bytes, int]](), Erasures(trust)
        promised: Any = SimpleNamespace(shown=lambda *_: None)
        ReceiptCheck(policies, *nothing, report, Recent(since, now + 7_200_000), promised).run(presented)
        assert report.checked[9] == len(presented)
        assert bool(report.violations) == found
        assert (report.counts["receipts.recent"] == 0) == found


async def test_a_group_that_breaks_a_restriction_is_withheld_and_no_violation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(group: Group, *_: object) -> None:
        if group.node == ("Home", "node0"):
            raise RestrictionError("as if")

    monkeypatch.setattr("proxid.anonymise.mix.pairs.check_restrictions", broken)
    async with running(tmp_path) as trial:
        await trial.consent()
        await trial.ask("node0 question", PEOPLE[:4])
        await trial.ask("node1 question")
        await trial.settle()
        await trial.receive()
        report = await trial.audit(state=True)
        again = await trial.audit(state=True)
    assert report.violations == again.violations == []
    assert report.counts["withheld.restriction"] == 4 and report.counts["released"] == 8


def told(trial: Trial, report: Report) -> tuple[str, str]:
    """A report as an object and as a page, but for when it was made."""
    report.scope.started = 0.0
    return json.dumps(report.as_dict()), render(report, trial.config("auditor"), 0.0)


@pytest.mark.parametrize("form", ["pairs", pytest.param("split", marks=pytest.mark.slow)])
async def test_the_report_is_the_same_with_any_number_of_processes_and_stored_after_every_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    async with house(tmp_path, form=form) as trial:
        liar = Liar(trial, monkeypatch)
        await screener_forwards_a_request_never_sent(liar)
        if form == "split":
            await trial.evening()
            await trial.close()
            await trial.receive()
            await trial.exercise(Right.ERASE, PEOPLE[7])
        reports = [await trial.audit(workers=workers) for workers in range(3)]
        reports.append(await trial.audit(stored=True))
    assert reports[0].violations != []
    assert len({told(trial, report) for report in reports}) == 1
