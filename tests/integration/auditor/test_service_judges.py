"""The auditor's service judges messages and exchanges heads: lies that running services tell are found by it."""

import asyncio
import dataclasses
import json
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from gateway.releases import Releases
from proxid.crypto.sansig import Role, SignedMessage
from proxid.crypto.sansig.judge import Proof, verify_proof
from proxid.encoding import decode_text
from proxid.errors import Code, NoteInvalidError, RefusedError
from proxid.evidence.events import EventType
from proxid.evidence.note import Note, Verifier
from proxid.runtime.evidence_log.held import HeldHeads
from proxid.runtime.provision.public import PublicFile
from tests.support.addresses import free_address
from tests.support.auditing import auditor_serving, calling, held, provision_auditor, report_number
from tests.support.lies import GATEWAY, Liar
from tests.support.lies_stored import fork
from tests.support.trial import Trial, run_command, running

DEVICE, ACME = "devices/household-1", "parties/acme"


def recorded(monkeypatch: pytest.MonkeyPatch) -> list[SignedMessage]:
    """Records as they come to parties from now on."""
    from proxid.clients.subscriber import subscriber

    found: list[SignedMessage] = []
    honest = subscriber.open_group

    def opened(records: Any, *more: Any) -> Any:
        found.extend(records)
        return honest(records, *more)

    monkeypatch.setattr(subscriber, "open_group", opened)
    return found


def response_of(folder: Path) -> SignedMessage:
    return SignedMessage.decode(next(item.message for item in held(folder, DEVICE) if item.kind == "response"))


async def test_a_gateway_that_puts_another_name_is_found_by_whoever_holds_the_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records, honest = recorded(monkeypatch), Releases._name
    swapped = {"person-0": "person-1", "person-1": "person-0"}
    async with running(tmp_path) as trial:
        provision_auditor(tmp_path)
        public = PublicFile.read(tmp_path / "auditor/public.toml")
        await trial.busy(1)
        honestly = list(records)
        monkeypatch.setattr(Releases, "_name", staticmethod(lambda *said: swapped.get(honest(*said), honest(*said))))
        records.clear()
        await trial.ask("node5 question")
        await trial.settle()
        await trial.receive("acme")
        async with auditor_serving(tmp_path), calling(tmp_path, ACME) as acme:
            good = await acme.judge(honestly[0])
            found = {decode_text(r.message.user_block): await acme.judge(r) for r in records[:8]}
    gateway = PublicFile.read(tmp_path / "gateway/public.toml").sign
    assert (good.accountable, good.named, good.key, good.original) == ("sanitizer", "right", gateway, None)
    assert good.entry > 0
    assert {user: one.named for user, one in found.items()} == {
        user: "wrong" if user in swapped else "right" for user in found
    }
    assert swapped.keys() <= found.keys()
    # Whoever gets the judgement can show it: the auditor has signed it.
    assert public.sign is not None
    note = Note.decode(found["person-0"].note)
    note.verify(Verifier(public.name, public.sign))
    assert "\nsanitizer\n" in note.text and "\nwrong\n" in note.text
    with pytest.raises(NoteInvalidError):
        dataclasses.replace(note, text=note.text.replace("wrong", "right")).verify(Verifier(public.name, public.sign))


async def test_an_answer_is_judged_with_its_original_as_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(tmp_path) as trial:
        provision_auditor(tmp_path, judgements_per_hour=4)
        await trial.busy(1)
        signed = response_of(tmp_path)
        liar = Liar(trial, monkeypatch)
        liar.drops(GATEWAY, EventType.ANSWERED)
        before = len(held(tmp_path, DEVICE))
        await trial.ask("node6 question", ["person-3"])
        hidden = SignedMessage.decode(held(tmp_path, DEVICE)[before].message)
        async with auditor_serving(tmp_path), calling(tmp_path, DEVICE) as device:
            found = await device.judge(signed)
            config = str(tmp_path / DEVICE / "device.toml")
            session = signed.message.blocks[1].hex()[:16]
            assert await run_command("device", "judge", "--config", config, session) == 0
            assert await run_command("device", "judge", "--config", config, "00" * 8) == 2
            # A gateway that hides what it passed on is judged by the message alone, and no entry shows it.
            silent = await device.judge(hidden)
            nobody = dataclasses.replace(signed, signature=signed.fixed + bytes(64))
            with pytest.raises(RefusedError) as error:
                await device.judge(nobody)
            assert error.value.remote is Code.SIGNATURE_INVALID
            await device.judge(signed)
            with pytest.raises(RefusedError) as error:
                await device.judge(signed)
            assert error.value.remote is Code.RATE_LIMITED
    assert (found.accountable, found.named) == ("sanitizer", "right") and found.entry > 0
    assert found.original is not None and decode_text(found.original.message.user_block).startswith("px1")
    verify_proof(Proof(found.original), signed)
    assert (silent.accountable, silent.entry, silent.named, silent.original) == ("sanitizer", 0, "unknown", None)
    assert Role.SANITIZER.name.lower() == silent.accountable


async def test_a_gateway_that_shows_another_log_to_who_asks_for_a_judgement_is_judged_by_the_message_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it has not signed, nobody could hold it to; and what it has is compared by the next audit."""
    async with running(tmp_path) as trial:
        provision_auditor(tmp_path)
        await trial.busy(1)
        signed = response_of(tmp_path)
        async with auditor_serving(tmp_path), calling(tmp_path, DEVICE) as device:
            assert json.loads((await report_number(tmp_path, 1) / "report.json").read_text())["verdict"] == "clean"
            honest = await device.judge(signed)
            judged = []
            for lie in (salted, fork):
                with monkeypatch.context() as patch:
                    patch.setattr(HeldHeads, "_compare", lambda *_: None)
                    lie(Liar(trial, patch), GATEWAY)
                    judged.append(await device.judge(signed))
        config, heads = str(tmp_path / "auditor/auditor.toml"), str(tmp_path / "auditor/data/heads")
        assert await run_command("audit", "--config", config, "--no-pipeline") == 0
        assert await run_command("audit", "--config", config, "--no-pipeline", "--compare", heads) == 1
    assert (honest.entry > 0, honest.named) == (True, "right")
    assert [(one.accountable, one.entry, one.named, one.original) for one in judged] == [
        ("sanitizer", 0, "unknown", None)
    ] * 2


def salted(liar: Liar, role: str) -> None:
    """Its third leaf is shown otherwise than it is signed."""
    liar.shows(role, lambda leaves: [*leaves[:2], dataclasses.replace(leaves[2], salt=bytes(16)), *leaves[3:]])


async def test_a_party_that_is_shown_a_pseudonym_is_told_that_it_is_no_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records, honest = recorded(monkeypatch), Releases._sanitize
    async with running(tmp_path) as trial:
        provision_auditor(tmp_path)
        await trial.consent()
        unnamed = lambda self, signed, _: honest(self, signed, decode_text(signed.message.user_block))  # noqa: E731
        monkeypatch.setattr(Releases, "_sanitize", unnamed)
        await trial.ask("node5 question")
        await trial.settle()
        with suppress(TimeoutError):  # it takes no such record
            await asyncio.wait_for(trial.receive("acme"), 2.0)
        async with auditor_serving(tmp_path), calling(tmp_path, ACME) as acme:
            found = await acme.judge(records[0])
    assert (found.accountable, found.named, found.entry > 0) == ("sanitizer", "wrong", True)


async def test_a_message_of_other_services_is_not_judged(tmp_path: Path) -> None:
    async with running(tmp_path / "there") as trial:
        await trial.busy(1)
        foreign = response_of(tmp_path / "there")
    async with running(tmp_path / "here"):
        provision_auditor(tmp_path / "here")
        async with auditor_serving(tmp_path / "here"), calling(tmp_path / "here", DEVICE) as device:
            with pytest.raises(RefusedError) as error:
                await device.judge(foreign)
    assert error.value.remote is Code.HEADER_MISMATCH


def second(trial: Trial, first: str) -> Path:
    """The same auditor on another machine: its own state, which exchanges heads with the first one."""
    folder = trial.folder / "second"
    shutil.copytree(trial.folder / "auditor", folder / "auditor", ignore=shutil.ignore_patterns("data"))
    path = folder / "auditor/auditor.toml"
    lines = path.read_text().splitlines()
    address = free_address()
    kept = [f'listen = "{address}"' if line.startswith("listen") else line for line in lines]
    path.write_text(f'auditors = ["{first}"]\n' + "\n".join(kept) + "\n")
    return folder


async def test_two_auditors_exchange_heads_and_find_who_shows_each_another_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path) as trial:
        first = provision_auditor(tmp_path)
        other = second(trial, first)
        await trial.busy(1)
        async with auditor_serving(tmp_path):
            assert json.loads((await report_number(tmp_path, 1) / "report.json").read_text())["verdict"] == "clean"
            async with auditor_serving(other):  # so far both are shown the same
                report = json.loads((await report_number(other, 1) / "report.json").read_text())
            assert (report["verdict"], report["scope"]["known_heads"]) == ("clean", 2)
            # Whoever lies does not stop by itself when the other service holds another head of its log.
            monkeypatch.setattr(HeldHeads, "_compare", lambda *_: None)
            fork(Liar(trial, monkeypatch), GATEWAY)
            await trial.ask("node5 question")
            shutil.rmtree(other / "auditor/data")
            async with auditor_serving(other):
                report = json.loads((await report_number(other, 1) / "report.json").read_text())
    assert {(v["rule"], v["log"]) for v in report["violations"]} == {(1, "gateway")}, report["unchecked"]
    assert any("somebody else was shown" in v["text"] for v in report["violations"])


async def test_a_witness_shows_auditors_what_it_cosigned(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        address = provision_auditor(tmp_path)
        await trial.busy(1)
        path = tmp_path / "witness/witness.toml"
        path.write_text(f'auditors = ["{address}"]\n' + path.read_text())
        command = [sys.executable, "-m", "proxid.cli.main", "witness", "--config", str(path), "--once"]
        async with auditor_serving(tmp_path):
            assert await (await asyncio.create_subprocess_exec(*command)).wait() == 0
            heads = sorted((tmp_path / "auditor/data/heads").glob("*.head"))
            assert len(heads) == 2 and all("witness" in head.read_text() for head in heads)
            again = await asyncio.create_subprocess_exec(*command, "--json", stdout=asyncio.subprocess.PIPE)
            said = [json.loads(line) for line in (await again.communicate())[0].splitlines()]
            assert again.returncode == 0 and len(said) == 2
            # What was shown before is kept once; a log that has grown meanwhile has another head.
            grown = sum(not any(f"-{entry['size']:020}-" in head.name for head in heads) for entry in said)
            assert len(sorted((tmp_path / "auditor/data/heads").glob("*.head"))) == 2 + grown
