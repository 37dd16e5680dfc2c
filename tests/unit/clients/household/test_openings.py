"""What an own history keeps of a question: enough to open it, and lines from before stay readable."""

import base64
import json
from pathlib import Path

import pytest

from proxid.cli.main import main
from proxid.clients.household.history import _KEY, OwnHistory
from proxid.clients.household.state import HouseholdState
from proxid.crypto.ed25519 import SigningKey
from proxid.jsontext import load_json
from tests.support.trial import provision


def test_a_line_of_before_is_read_and_opens_nothing(tmp_path: Path) -> None:
    own = OwnHistory(tmp_path, SigningKey.generate())
    own.start()
    line = bytes(12) + own._cipher.encrypt(bytes(12), json.dumps([1, "before"]).encode(), _KEY)
    (tmp_path / "asked").write_bytes(base64.b64encode(line) + b"\n")
    own.add(2.5, "after", b"\x01" * 64, b"opening")
    after, before = own.asked()
    assert (before.time, before.text, before.session, before.opening) == (1, "before", b"", b"")
    assert (after.time, after.text, after.session, after.opening) == (2, "after", b"\x01" * 64, b"opening")


def test_what_a_history_keeps_is_written_for_the_auditor_and_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    provision(tmp_path, people=["ann"])
    home = tmp_path / "devices/household-1"
    own = HouseholdState(home / "data").users()["ann"].history
    own.start()
    own.add(1, "a question", b"\xab" * 64, b"opening")
    judge = ["device", "judge", "--config", str(home / "device.toml"), "--opening"]
    assert main([*judge, "ab" * 6, "--out", str(tmp_path / "opened.jsonl")]) == 0
    assert load_json((tmp_path / "opened.jsonl").read_text()) == {
        "kind": "opening", "session": "ab" * 64, "message": base64.b64encode(b"opening").decode(),
    }  # fmt: skip
    assert "a question" not in capsys.readouterr().out
    for session in ("ab", "cd" * 6):  # too short, and nobody's
        assert main([*judge, session, "--out", str(tmp_path / "none")]) == 2
    assert not (tmp_path / "none").exists()
