"""Damage to an export or to the auditor's state is named and accuses nobody; what a service showed so accuses it."""

import fcntl
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.desk import STATE, UNREADABLE, Desk, flipped


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
