"""Mistakes of the auditor's own keys, files and folders end in exit 2 and are named; what a service does never does."""

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.support.desk import FOREIGN, UNREADABLE, Desk


def test_an_export_is_clean_when_nothing_is_mistaken(desk: Desk) -> None:
    status, report = desk.audit()
    assert (status, report["verdict"], report["unchecked"]) == (0, "clean", [])


@pytest.mark.parametrize("state", [(), ("--no-state",)])
def test_the_opening_key_of_another_trial(desk: Desk, state: tuple[str, ...]) -> None:
    shutil.copy(desk.trials["there"] / "auditor/opening.key", desk.auditor / "opening.key")
    reason = desk.unchecked(*state)
    assert reason["code"] == FOREIGN and "opening_key" in reason["text"]
    # Nothing of it is kept: with the right key the next audit is clean.
    shutil.copy(desk.trials["here"] / "auditor/opening.key", desk.auditor / "opening.key")
    assert desk.audit()[0] == 0


def test_the_configuration_of_another_trial(desk: Desk) -> None:
    reason = desk.unchecked("--no-state", config=desk.trials["there"] / "auditor/auditor.toml")
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
    theirs = (desk.trials["there"] / "export/keys.json").read_text()
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


@pytest.mark.parametrize("line", ["{}", "not JSON", '{"kind": "response", "message": "?", "planted": 1}', "[]"])
def test_a_bad_receipt_is_named_by_file_and_line(desk: Desk, tmp_path: Path, line: str) -> None:
    receipts = desk.trials["here"] / "devices/household-1/data/receipts.jsonl"
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


def test_a_known_head_of_another_trial_accuses_nobody(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "head"
    for trial, status in (("here", 0), ("there", 2)):
        heads = json.loads((desk.trials[trial] / "export/gateway/heads.json").read_text())
        path.write_text(heads["latest"])
        assert desk.run("--known", str(path))[0] == status
    assert str(path) in desk.error and "signed" in desk.error


def test_places_that_cannot_be_written_are_named(desk: Desk) -> None:
    shutil.rmtree(desk.auditor / "data", ignore_errors=True)
    (desk.auditor / "data").mkdir()
    (desk.auditor / "data/audit-of-export").touch()
    assert desk.run()[0] == 2 and "output_failed" in desk.error and "audit-of-export" in desk.error


@pytest.mark.parametrize("state", [True, False])
def test_an_audit_that_finds_no_room_says_so(desk: Desk, monkeypatch: pytest.MonkeyPatch, state: bool) -> None:
    """SQLite has errors of its own for a full disk."""
    connect = sqlite3.connect

    def small(*asked: Any, **options: Any) -> sqlite3.Connection:
        made = connect(*asked, **options)
        made.execute("PRAGMA max_page_count=8")
        return made

    monkeypatch.setattr(sqlite3, "connect", small)
    assert desk.run(*(() if state else ("--no-state",)))[0] == 2
    assert "output_failed" in desk.error and ("audit-of-export" in desk.error) is state
    monkeypatch.undo()
    assert desk.run()[0] == 0


def test_what_was_not_read_is_not_shown_as_zeros(desk: Desk) -> None:
    (desk.export / "gateway/heads.json").unlink()
    status, out = desk.run()
    assert status == 2 and "heads.json" in out and "verdict: unchecked" in out and "this time" not in out
