"""The auditor as a service: real services and certificates; what is presented is kept, nobody unlisted is let in."""

import datetime
import json
from dataclasses import replace
from pathlib import Path

import grpc
import pytest

from auditor.checks.c9_receipts import Presented
from auditor.serving.presented import MOST
from proxid.clients.auditing.client import AuditorClient
from proxid.errors import Code, ConfigError, OutputError, RefusedError, UpstreamError
from proxid.runtime.entry_file import EntryFile
from proxid.runtime.process.child import Child
from proxid.runtime.provision import Party, TrialOptions, import_public, init_trial
from proxid.runtime.provision.public import PublicFile
from proxid.runtime.transport.status import code_of
from proxid.wire.v1 import auditor_pb2
from tests.support.auditing import auditor_serving, calling, held, provision_auditor, report_number
from tests.support.trial import Trial, provision, run_command, running


def items(found: list[Presented]) -> list[tuple[str, bytes, bytes]]:
    return [(item.kind, item.session, item.message) for item in found]


async def refused(client: AuditorClient, *found: Presented) -> Code:
    with pytest.raises(RefusedError) as error:
        await client.present(items(list(found)))
    return error.value.remote


def kept(folder: Path) -> list[str]:
    files = (folder / "auditor/data/presented").rglob("*.jsonl")
    return [line for path in files for line in path.read_text().splitlines()]


def report_count(folder: Path) -> int:
    return len(list((folder / "auditor/data/reports").glob("0*")))


async def test_what_is_presented_is_kept_once_and_audited(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        provision_auditor(tmp_path)
        await trial.busy(1)
        receipts, acknowledgements = held(tmp_path), held(tmp_path, "parties/acme")
        assert receipts and acknowledgements
        async with auditor_serving(tmp_path), calling(tmp_path, "devices/household-1") as device:
            assert await device.present(items(receipts)) == len(receipts)
            assert await device.present(items(receipts)) == 0
            async with calling(tmp_path, "parties/acme") as acme:
                assert await acme.present(items([*acknowledgements, *acknowledgements])) == len(acknowledgements)
        assert len(kept(tmp_path)) == len(receipts) + len(acknowledgements)
        # A service that starts again knows what it has, and its first audit compares all of it.
        before = report_count(tmp_path)
        async with auditor_serving(tmp_path), calling(tmp_path, "devices/household-1") as device:
            assert await device.present(items(receipts)) == 0
            report = json.loads((await report_number(tmp_path, before + 1) / "report.json").read_text())
    assert (report["verdict"], report["violations"]) == ("clean", [])
    assert report["checked"]["9"] >= len(receipts) + len(acknowledgements)


async def test_what_is_foreign_stolen_or_malformed_is_refused_and_not_kept(tmp_path: Path) -> None:
    async with running(tmp_path / "here") as trial:
        provision_auditor(tmp_path / "here", judgements_per_hour=2)
        await trial.busy(1)
        (_, *receipts), of_globex = held(tmp_path / "here"), held(tmp_path / "here", "parties/globex")
        foreign = tmp_path / "there"
        async with running(foreign) as other:
            await other.busy(1)
            their_key, *strangers = held(foreign)
        async with auditor_serving(tmp_path / "here"):
            async with calling(tmp_path / "here", "devices/household-1") as device:
                assert await refused(device, receipts[0], strangers[0]) is Code.HEADER_MISMATCH
                assert await refused(device, their_key) is Code.SIGNATURE_INVALID
                assert await refused(device, replace(receipts[0], kind="made-up")) is Code.MESSAGE_INVALID
                assert await refused(device, replace(receipts[0], message=b"\0" * 80)) is Code.ENCODING_INVALID
                flipped = bytearray(receipts[0].message)
                flipped[-200] ^= 1
                assert await refused(device, replace(receipts[0], message=bytes(flipped))) in {
                    Code.SIGNATURE_INVALID, Code.MESSAGE_INVALID, Code.ENCODING_INVALID,
                }  # fmt: skip
                assert await refused(device, *receipts[:1] * (MOST + 1)) is Code.OVERSIZED
                # A genuine message presented as another kind, and what only a party holds.
                wrong = {"response": "consent", "consent": "response"}[receipts[0].kind]
                assert await refused(device, replace(receipts[0], kind=wrong)) is Code.HEADER_MISMATCH
                assert await refused(device, of_globex[0]) is Code.MESSAGE_INVALID
            async with calling(tmp_path / "here", "parties/acme") as acme:
                # Another party's acknowledgement shows what that one got: it may present it itself.
                assert await refused(acme, of_globex[0]) is Code.PEER_REFUSED
                assert await refused(acme, receipts[0]) is Code.MESSAGE_INVALID
            assert kept(tmp_path / "here") == []


async def test_an_auditor_without_room_is_as_one_that_is_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OutputError("receipts.jsonl: the file cannot be written")

    async with running(tmp_path) as trial:
        provision_auditor(tmp_path)
        await trial.busy(1)
        receipts = held(tmp_path)
        async with auditor_serving(tmp_path), calling(tmp_path, "devices/household-1") as device:
            with monkeypatch.context() as patched:
                patched.setattr(EntryFile, "extend", full)
                with pytest.raises(UpstreamError):
                    await device.present(items(receipts))
                request = auditor_pb2.PresentRequest(
                    items=[
                        auditor_pb2.Held(
                            kind=receipts[0].kind, session=receipts[0].session, message=receipts[0].message
                        )
                    ]
                )
                with pytest.raises(grpc.aio.AioRpcError) as error:
                    await device._stub.Present(request)
                assert code_of(error.value) is Code.EVIDENCE_UNREADABLE
            assert await device.present(items(receipts)) == len(receipts)


async def test_one_peer_fills_its_own_room_alone(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        provision_auditor(tmp_path, presented_bytes=65_536)
        await trial.busy(9)
        receipts, acknowledgements = held(tmp_path), held(tmp_path, "parties/acme")
        async with auditor_serving(tmp_path), calling(tmp_path, "devices/household-1") as device:
            new = 0
            with pytest.raises(RefusedError) as error:
                for receipt in receipts:
                    new += await device.present(items([receipt]))
            assert error.value.remote is Code.RATE_LIMITED and 0 < new < len(receipts)
            assert await device.present(items(receipts[:new])) == 0
            async with calling(tmp_path, "parties/acme") as acme:
                assert await acme.present(items(acknowledgements)) == len(acknowledgements)
    assert len(kept(tmp_path)) == new + len(acknowledgements)


async def test_a_strangers_certificate_is_refused_and_a_revoked_one(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        address = provision_auditor(tmp_path)
        await trial.busy(1)
        receipts = items(held(tmp_path))
        # Of the same CA, and nobody has told the auditor of it; of another CA.
        now = datetime.datetime.now(datetime.UTC)
        listed = (tmp_path / "auditor/trust.toml").read_text()
        init_trial(tmp_path, TrialOptions(("acme", "globex"), ("household-1", "stranger")), now)
        (tmp_path / "auditor/trust.toml").write_text(listed)
        init_trial(tmp_path / "other", TrialOptions((), ("household-1",)), now)
        async with auditor_serving(tmp_path):
            for who in ("devices/stranger", "gateway"):
                async with calling(tmp_path, who, address) as client:
                    with pytest.raises(RefusedError) as error:
                        await client.present(receipts)
                    assert error.value.remote is Code.PEER_REFUSED
            async with calling(tmp_path, "other/devices/household-1", address) as client:
                with pytest.raises(UpstreamError):
                    await client.present(receipts)
            async with calling(tmp_path, "devices/household-1") as device:
                assert await device.present(receipts[:1]) == 1
                await report_number(tmp_path, 1)
                # A household's certificate fetches no report, its operator's does; nor does it exchange heads.
                with pytest.raises(RefusedError):
                    await device.report()
            async with calling(tmp_path, "auditor", address) as operator:
                assert set(await operator.report()) == {"report.json", "report.html", "report.note"}
                with pytest.raises(RefusedError, match="has no such report"):
                    await operator.report(99)
    assert len(kept(tmp_path)) == 1


async def test_where_it_is_configured_the_services_fetch_the_newest_report(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        address = provision_auditor(tmp_path, report_to=("gateway",))
        await trial.busy(1)
        async with auditor_serving(tmp_path):
            folder = await report_number(tmp_path, 1)
            async with calling(tmp_path, "gateway", address) as gateway:
                files = await gateway.report()
            async with calling(tmp_path, "main-service", address) as service:
                with pytest.raises(RefusedError):
                    await service.report()
            out = str(tmp_path / "fetched")
            for who, status in (("gateway", 0), ("auditor", 0), ("main-service", 2)):
                words = ("report", address, "--config", str(tmp_path / who / f"{who}.toml"), "--out", out)
                assert await run_command(*words) == status
    assert files == {name: (folder / name).read_bytes() for name in files} and len(files) == 3


async def test_it_audits_on_a_schedule_and_goes_on_from_its_state(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        provision_auditor(tmp_path, every="1 s")
        await trial.busy(1)
        async with auditor_serving(tmp_path):
            first = json.loads((await report_number(tmp_path, 1) / "report.json").read_text())
            await trial.ask("node7 question")
            await trial.settle()
            last = await report_number(tmp_path, 3)
            second = json.loads((last / "report.json").read_text())
    assert (first["verdict"], second["verdict"]) == ("clean", "clean")
    assert second["scope"]["logs"]["gateway"]["read_before"] >= first["scope"]["logs"]["gateway"]["size"]
    assert await run_command("audit", "--verify", str(last), "--by", str(tmp_path / "auditor/public.toml")) == 0


def process(folder: Path) -> Child:
    child = Child("auditor", ["serve", "auditor", "--config", str(folder / "auditor/auditor.toml")], folder)
    child.start()
    child.wait_ready()
    return child


async def test_a_kill_between_presenting_and_auditing_loses_nothing(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        provision_auditor(tmp_path)
        await trial.busy(1)
        receipts = items(held(tmp_path))
        # No audit of the first process sees it: another one holds the state.
        child = process(tmp_path)
        async with calling(tmp_path, "devices/household-1") as device:
            assert await device.present(receipts) == len(receipts)
        child.kill()
        # A crash while a line is written leaves a piece of it.
        (path,) = (tmp_path / "auditor/data/presented").rglob("receipts.jsonl")
        with path.open("ab") as file:
            file.write(b'{"kind": "response", "mess')
        before = report_count(tmp_path)
        child = process(tmp_path)
        try:
            async with calling(tmp_path, "devices/household-1") as device:
                assert await device.present(receipts) == 0
            report = json.loads((await report_number(tmp_path, before + 1) / "report.json").read_text())
        finally:
            child.stop()
    assert report["counts"]["receipts.compared.response"] >= 8 and report["violations"] == []


async def test_devices_and_parties_present_what_they_hold_by_themselves(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with running(tmp_path) as trial:
        provision_auditor(tmp_path)
        await trial.busy(1)
        device, party = str(tmp_path / "devices/household-1/device.toml"), str(tmp_path / "parties/acme/party.toml")
        ask = ("device", "ask", "--config", device, "-u", "person-0", "what time is it")
        # An auditor that is away keeps nobody from an answer, and gets it the next time.
        assert await run_command(*ask) == 0
        assert "receipts were not presented" in capfd.readouterr().err
        async with auditor_serving(tmp_path):
            assert await run_command(*ask) == 0
            assert await run_command("subscribe", "--config", party) == 0
            assert "not presented" not in capfd.readouterr().err
            assert len(kept(tmp_path)) == len(held(tmp_path)) + len(held(tmp_path, "parties/acme")) > 10
            assert await run_command(*ask) == 0
            assert len(kept(tmp_path)) == len(held(tmp_path)) + len(held(tmp_path, "parties/acme"))


def test_devices_that_were_told_no_auditors_certificate_say_so(tmp_path: Path) -> None:
    provision(tmp_path)
    trust = Party.at(tmp_path / "devices/household-1")
    import_public(trust, [PublicFile.read(tmp_path / "auditor/public.toml")])  # again: nothing changes
    assert Trial(tmp_path).config("auditor").trust.certificates("auditor")
    with pytest.raises(ConfigError):
        Trial(tmp_path).config("auditor").trust.certificates("party")
