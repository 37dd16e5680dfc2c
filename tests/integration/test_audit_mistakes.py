"""Mistakes of the auditor's own keys, files and folders end in exit 2 and are named; what a service does never does."""

import asyncio
import fcntl
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from auditor.manifest import write_manifest
from auditor.report import Verdict
from proxid.crypto.hpke import OpeningKey
from proxid.errors import EvidenceForeignError, EvidenceUnreadableError
from proxid.rpc.evidence import EvidenceService
from proxid.store.evidence.encryptor import Encryptor
from proxid.store.evidence.reading import LogReader
from tests.support.house import run_command, running
from tests.support.lies import no_wait

FOREIGN, STATE, UNREADABLE = "evidence_foreign", "audit_state_damaged", "evidence_unreadable"


@pytest.fixture(scope="module")
def houses(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two houses that ran for an evening, each with an export; nobody serves any more."""
    folders = {name: tmp_path_factory.mktemp(name) for name in ("here", "there")}

    async def evening(folder: Path) -> None:
        async with running(folder) as house:
            await house.busy(1)
            config = str(folder / "auditor/auditor.toml")
            assert await run_command("audit", "--config", config, "--export", str(folder / "export")) == 0

    for folder in folders.values():
        asyncio.run(evening(folder))
    return folders


class Desk:
    """An auditor's desk: copies of its own folder and of an export, to make mistakes with."""

    def __init__(self, folder: Path, houses: dict[str, Path], capfd: pytest.CaptureFixture[str]) -> None:
        self.houses, self._capfd = houses, capfd
        self.auditor, self.export = folder / "auditor", folder / "export"
        shutil.copytree(houses["here"] / "auditor", self.auditor)
        shutil.copytree(houses["here"] / "export", self.export)
        self.error = ""

    def exported(self) -> None:
        """Take what lies in the export now for what was exported: then the services showed it so."""
        write_manifest(self.export)

    def run(self, *more: str, config: Path | None = None) -> tuple[int, str]:
        """Exit status and output of an audit of the export."""
        self._capfd.readouterr()
        path = config or self.auditor / "auditor.toml"
        status = asyncio.run(
            run_command("audit", "--config", str(path), "--from", str(self.export), "--no-pipeline", *more)
        )
        out, self.error = self._capfd.readouterr()
        return status, out

    def audit(self, *more: str, config: Path | None = None) -> tuple[int, Any]:
        """Exit status and JSON report."""
        status, out = self.run(*more, "--json", config=config)
        return status, json.loads(out.splitlines()[-1])

    def unchecked(self, *more: str, config: Path | None = None) -> Any:
        """Why it could not be checked: the one reason."""
        status, report = self.audit(*more, config=config)
        assert (status, report["verdict"], report["violations"]) == (2, "unchecked", [])
        (reason,) = report["unchecked"]
        return reason


@pytest.fixture
def desk(tmp_path: Path, houses: dict[str, Path], capfd: pytest.CaptureFixture[str]) -> Desk:
    return Desk(tmp_path, houses, capfd)


def test_an_export_is_clean_when_nothing_is_mistaken(desk: Desk) -> None:
    status, report = desk.audit()
    assert (status, report["verdict"], report["unchecked"]) == (0, "clean", [])


@pytest.mark.parametrize("state", [(), ("--no-state",)])
def test_the_opening_key_of_another_house(desk: Desk, state: tuple[str, ...]) -> None:
    shutil.copy(desk.houses["there"] / "auditor/opening.key", desk.auditor / "opening.key")
    reason = desk.unchecked(*state)
    assert reason["code"] == FOREIGN and "opening_key" in reason["text"]
    # Nothing of it is kept: with the right key the next audit is clean.
    shutil.copy(desk.houses["here"] / "auditor/opening.key", desk.auditor / "opening.key")
    assert desk.audit()[0] == 0


def test_the_configuration_of_another_house(desk: Desk) -> None:
    reason = desk.unchecked("--no-state", config=desk.houses["there"] / "auditor/auditor.toml")
    assert reason["code"] == FOREIGN and reason["text"].count("signed with another key") == 2


def test_exchanged_log_folders(desk: Desk) -> None:
    (desk.export / "gateway").rename(desk.export / "aside")
    (desk.export / "main-service").rename(desk.export / "gateway")
    (desk.export / "aside").rename(desk.export / "main-service")
    reason = desk.unchecked()
    assert reason["code"] == UNREADABLE and str(desk.export / "gateway") in reason["text"]
    desk.exported()
    reason = desk.unchecked()
    assert reason["code"] == FOREIGN and reason["text"].count("head of the other log") == 2


@pytest.mark.parametrize("of_another", [False, True])
def test_keys_that_are_none_of_the_export(desk: Desk, of_another: bool) -> None:
    theirs = (desk.houses["there"] / "export/keys.json").read_text()
    (desk.export / "keys.json").write_text(theirs if of_another else "{}")
    reason = desk.unchecked()
    assert reason["code"] == UNREADABLE and str(desk.export / "keys.json") in reason["text"]
    desk.exported()
    reason = desk.unchecked()
    assert reason["code"] == FOREIGN and "keys.json" in reason["text"]


def test_one_key_that_is_missing_is_a_violation(desk: Desk) -> None:
    keys = json.loads((desk.export / "keys.json").read_text())
    keys.pop(sorted(keys)[0])
    (desk.export / "keys.json").write_text(json.dumps(keys))
    assert desk.unchecked()["code"] == UNREADABLE
    desk.exported()
    status, report = desk.audit()
    assert status == 1 and 2 in {violation["rule"] for violation in report["violations"]}


def test_one_log_folder_in_the_place_of_both_is_a_violation(desk: Desk) -> None:
    shutil.rmtree(desk.export / "gateway")
    shutil.copytree(desk.export / "main-service", desk.export / "gateway")
    assert desk.unchecked()["code"] == UNREADABLE
    desk.exported()
    status, report = desk.audit()
    assert status == 1 and "newest head: checkpoint is of another log" in {v["text"] for v in report["violations"]}


def flipped(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


def test_a_bit_in_a_leaf_names_the_leaf(desk: Desk) -> None:
    path = desk.export / "main-service/leaves"
    at, data = 0, path.read_bytes()
    for _ in range(4):
        at += 4 + int.from_bytes(data[at : at + 4], "big")
    flipped(path, at + 4 + 20)  # in the salt of leaf 5
    assert desk.unchecked()["text"].startswith(f"{path}: is not the file that was exported")
    desk.exported()
    status, report = desk.audit()
    named = [(v["log"], v["leaf"]) for v in report["violations"] if v["text"].startswith("leaf hash is not")]
    assert status == 1 and named == [("main-service", 5)]


def test_a_bit_in_a_part_names_leaf_and_part(desk: Desk) -> None:
    path = desk.export / "gateway/leaves"
    flipped(path, 4 + int.from_bytes(path.read_bytes()[:4], "big") - 1)  # the last byte of leaf 1's only part
    desk.exported()
    status, report = desk.audit()
    (found,) = [v for v in report["violations"] if v["leaf"] == 1]
    assert status == 1 and (found["rule"], found["log"]) == (2, "gateway")
    assert found["text"] == "payload's part 0 is not the one that the leaf commits to: its hash differs"


def test_a_damaged_file_names_file_and_leaf(desk: Desk) -> None:
    path = desk.export / "gateway/leaves"
    path.write_bytes(path.read_bytes()[:-3])
    assert desk.unchecked()["text"].startswith(f"{path}: is not the file that was exported: its size is")
    desk.exported()
    reason = desk.unchecked()
    assert str(path) in reason["text"] and "is damaged, cut off or missing" in reason["text"]


def leaves_emptied(export: Path) -> str:
    (export / "main-service/leaves").write_bytes(b"")
    return "main-service/leaves"


def leaves_exchanged(export: Path) -> str:
    gateway, service = (export / log / "leaves" for log in ("gateway", "main-service"))
    ours = gateway.read_bytes()
    gateway.write_bytes(service.read_bytes())
    service.write_bytes(ours)
    return "gateway/leaves"


def head_emptied(export: Path) -> str:
    return _head(export, lambda head: "")


def head_of_an_absurd_size(export: Path) -> str:
    return _head(export, lambda head: "\n".join([*head.split("\n")[:1], "9" * 30, *head.split("\n")[2:]]))


def _head(export: Path, change: Callable[[str], str]) -> str:
    path = export / "gateway/heads.json"
    heads = json.loads(path.read_text())
    path.write_text(json.dumps({**heads, "latest": change(heads["latest"])}))
    return "gateway/heads.json"


@pytest.mark.parametrize("damage", [leaves_emptied, leaves_exchanged, head_emptied, head_of_an_absurd_size])
def test_a_damaged_export_accuses_no_service(desk: Desk, damage: Callable[[Path], str]) -> None:
    path = desk.export / damage(desk.export)
    for more in ((), ("--no-state",)):
        reason = desk.unchecked(*more)
        assert reason["code"] == UNREADABLE and reason["text"].startswith(f"{path}: is not the file that was exported")


def test_what_the_services_showed_in_an_export_accuses_them(desk: Desk) -> None:
    """The same changes, but exported so: then they are what a service did."""
    leaves_emptied(desk.export)
    desk.exported()
    status, report = desk.audit("--no-state")
    assert status == 1 and "log ends after leaf 0, and its signed head covers more" in {
        violation["text"] for violation in report["violations"] if violation["log"] == "main-service"
    }


@pytest.mark.parametrize("log", ["gateway", "main-service"])
def test_a_head_that_is_none_accuses_neither_service(desk: Desk, log: str) -> None:
    path = desk.export / log / "heads.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "latest": "nothing"}))
    desk.exported()
    reason = desk.unchecked()
    assert reason["code"] == UNREADABLE and f"/{log}: what is shown as the log's newest head is none" in reason["text"]


@pytest.mark.parametrize("log", ["gateway", "main-service"])
def test_a_head_that_its_service_did_not_sign_accuses_that_service_alone(desk: Desk, log: str) -> None:
    path = desk.export / log / "heads.json"
    heads = json.loads(path.read_text())
    origin, _, *rest = heads["latest"].split("\n")
    path.write_text(json.dumps({**heads, "latest": "\n".join([origin, "9" * 30, *rest])}))
    desk.exported()
    status, report = desk.audit("--no-state")
    assert status == 1 and {(v["log"], v["rule"]) for v in report["violations"]} == {(log, 1)}


async def test_a_service_that_shows_no_head_is_not_exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(tmp_path) as house:
        await house.busy(1)
        honest = LogReader.checkpoint
        gateway = "proxid/main-service/gateway"
        monkeypatch.setattr(LogReader, "checkpoint", lambda self: b"x" if self._log.name == gateway else honest(self))
        monkeypatch.setattr(EvidenceService, "_wait", no_wait)
        with pytest.raises(EvidenceUnreadableError, match="gateway: what is shown"):
            await house.audit()
        config, folder = str(tmp_path / "auditor/auditor.toml"), tmp_path / "export"
        assert await run_command("audit", "--config", config, "--export", str(folder)) == 2
        assert not (folder / "manifest.json").exists()


def removed(path: Path) -> None:
    path.unlink()


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def turned(path: Path) -> None:
    flipped(path, -1)


@pytest.mark.parametrize("name", ["state", "sets.*.db"])
@pytest.mark.parametrize("damage", [removed, emptied, turned])
def test_a_damaged_state_is_named_and_an_audit_does_not_start_over_unasked(
    desk: Desk, name: str, damage: Callable[[Path], None]
) -> None:
    assert desk.audit()[0] == 0
    (path,) = (desk.auditor / "data/audit-of-export").glob(name)
    damage(path)
    reason = desk.unchecked()
    assert reason["code"] == STATE and str(path) in reason["text"] and "--fresh" in reason["text"]
    assert desk.audit("--fresh")[0] == 0


def test_one_audit_at_a_time_goes_on_from_a_state(desk: Desk) -> None:
    assert desk.audit()[0] == 0
    folder = desk.auditor / "data/audit-of-export"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with (folder / "lock").open("a") as held:  # as an audit that runs has it
        fcntl.flock(held, fcntl.LOCK_EX)
        assert desk.unchecked()["code"] == "audit_busy"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    # What an audit leaves that was killed while it replaced the state counts for nothing.
    (folder / "sets.0123456789abcdef.db").write_bytes(b"half")
    (folder / "sets-next.db").write_bytes(b"half")
    assert desk.audit()[0] == 0
    assert len(list(folder.glob("sets*.db"))) == 1


@pytest.mark.parametrize("line", ["{}", "not JSON", '{"kind": "response", "message": "?", "planted": 1}', "[]"])
def test_a_bad_receipt_is_named_by_file_and_line(desk: Desk, tmp_path: Path, line: str) -> None:
    receipts = desk.houses["here"] / "devices/household-1/data/receipts.jsonl"
    path = tmp_path / "mine/receipts.jsonl"
    path.parent.mkdir()
    good = receipts.read_text().splitlines()
    path.write_text("\n".join([good[0], line, good[1]]) + "\n")
    assert desk.run("--receipts", str(path.parent))[0] == 2
    assert f"{path}: line 2 is no receipt" in desk.error and "planted" not in desk.error
    # A line that a crash cut off is skipped; a whole one without its end is not.
    path.write_text("\n".join([*good[:2], good[2][:-5]]))
    assert desk.audit("--fresh", "--receipts", str(path))[1]["checked"]["9"] == 2
    path.write_text("\n".join(good[:3]))
    assert desk.audit("--fresh", "--receipts", str(path))[1]["checked"]["9"] == 3


def test_files_that_are_missing_are_named(desk: Desk, tmp_path: Path) -> None:
    for option in ("--receipts", "--known"):
        assert desk.run(option, str(tmp_path / "nowhere"))[0] == 2
        assert str(tmp_path / "nowhere") in desk.error and "internal" not in desk.error
    assert desk.run("--html", str(tmp_path / "no/such/page.html"))[0] == 2 and "page.html" in desk.error


def test_a_known_head_of_another_house_accuses_nobody(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "head"
    for house, status in (("here", 0), ("there", 2)):
        heads = json.loads((desk.houses[house] / "export/gateway/heads.json").read_text())
        path.write_text(heads["latest"])
        assert desk.run("--known", str(path))[0] == status
    assert str(path) in desk.error and "signed" in desk.error


def test_places_that_cannot_be_written_are_named(desk: Desk) -> None:
    shutil.rmtree(desk.auditor / "data", ignore_errors=True)
    (desk.auditor / "data").mkdir()
    (desk.auditor / "data/audit-of-export").touch()
    assert desk.run()[0] == 2 and "output_failed" in desk.error and "audit-of-export" in desk.error


def test_what_was_not_read_is_not_shown_as_zeros(desk: Desk) -> None:
    (desk.export / "gateway/heads.json").unlink()
    status, out = desk.run()
    assert status == 2 and "heads.json" in out and "verdict: unchecked" in out and "this time" not in out


async def test_a_screener_that_gives_out_no_key_at_all_is_a_violation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path) as house:
        await house.busy(1)
        honest = EvidenceService.__init__

        def keyless(self: EvidenceService, *more: Any, **named: Any) -> None:
            honest(self, *more, **named)
            self._keys = None if self._keys is None else nothing

        monkeypatch.setattr(EvidenceService, "__init__", keyless)
        await house.halt("gateway")
        await house.serve("gateway")
        report = await house.audit()
    assert report.verdict is Verdict.VIOLATION and 2 in {v.rule for v in report.violations}


async def nothing(tags: Sequence[bytes]) -> list[bytes]:
    return [b""] * len(tags)


async def test_a_log_that_is_damaged_on_the_services_disk_is_named_with_the_leaf(tmp_path: Path) -> None:
    async with running(tmp_path) as house:
        await house.busy(1)
        await house.audit()
        path, at = tmp_path / "main-service/data/evidence/segments/000000000001/leaves", 0
        data = path.read_bytes()
        for _ in range(6):
            at += 8 + int.from_bytes(data[at : at + 4], "big")
        flipped(path, at + 20)
        with pytest.raises(EvidenceUnreadableError, match=r"main-service at .* from leaf 7 on \(log_damaged\)"):
            await house.audit()
        await house.halt("main-service")
        with pytest.raises(EvidenceUnreadableError, match=r"main-service at .* cannot be reached"):
            await house.audit()


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
    async with running(tmp_path) as house:
        await house.busy(1)
        report = await house.audit()
    assert report.verdict is Verdict.VIOLATION and 2 in {v.rule for v in report.violations}


async def test_both_that_seal_for_another_auditor_are_not_clean_and_a_violation_once_they_sealed_for_this_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both, lying = {"gateway", "main-service"}, set[str]()
    sealing_for_another(monkeypatch, lying)
    async with running(tmp_path / "late") as house:
        await house.busy(1)
        assert (await house.audit(state=True)).verdict is Verdict.CLEAN
        lying |= both
        for role in ("main-service", "gateway"):
            await house.halt(role)
            await house.serve(role)
        await house.ask("node5 question")
        await house.settle()
        assert (await house.audit(state=True)).verdict is Verdict.VIOLATION
    async with running(tmp_path / "ever") as house:
        await house.busy(1)
        with pytest.raises(EvidenceForeignError):
            await house.audit()
