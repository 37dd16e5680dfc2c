"""What commands say: a confirmation that nobody can give, groups by kind and number."""

import io
import json
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from auditor.record_history import RecordHistory, RecordName, Step
from proxid.cli.main import main
from proxid.errors import InputError
from proxid.protocol.record import group_name, group_number


@pytest.mark.parametrize("typed", ["", "n\n"])
def test_an_erasure_nobody_confirms_says_how_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], typed: str
) -> None:
    config = tmp_path / "device.toml"
    config.touch()
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    assert main(["device", "rights", "erase", "--config", str(config), "-u", "ann", "--json"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "nothing was erased" in err and "--yes" in err and "interrupted" not in err


def test_groups_are_named_by_kind_and_number() -> None:
    assert [group_name(group_number(kind, 12)) for kind in ("general", "location", "command")] == [
        "group 12", "location group 12", "command group 12",
    ]  # fmt: skip


def test_a_record_of_a_command_is_asked_for_by_either_number() -> None:
    raw = RecordName.parse(f"20650/{group_number('command', 3)}/1")
    assert RecordName.parse("20650/command-3/1") == raw == RecordName(20650, (1 << 41) + 3, 1)
    assert RecordName.parse("20650/3/1") == RecordName.parse("20650/general-3/1") == RecordName(20650, 3, 1)


@pytest.mark.parametrize(
    "text", ["", "1/2", "1/2/3/4", "1/-2/3", "1/other-2/3", "1/2-command/3", "1/²/3", "1/2/x", "-1/2/3"]
)
def test_what_names_no_record_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="EPOCH/GROUP/POSITION"):
        RecordName.parse(text)


def test_explain_prints_the_kind_and_json_keeps_the_number(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    raw = group_number("command", 12)

    @contextmanager
    def sources(*_: Any) -> Any:
        yield None, None, None

    for name, value in {
        "load": lambda *_: SimpleNamespace(), "trust_of": lambda *_, **__: None, "sources": sources,
    }.items():  # fmt: skip
        monkeypatch.setattr(f"auditor.commands.explain.{name}", value)
    step = Step("main-service", 7, "RELEASED", {"epoch": 1, "group": raw})
    monkeypatch.setattr(RecordHistory, "read", lambda *_: [step])
    monkeypatch.setenv("COLUMNS", "200")
    words = ["explain", f"1/{raw}/0", "--config", "auditor.toml"]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert "command group 12" in said and str(raw) not in said.replace(f"Record 1/{raw}/0", "")
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["steps"][0]["what"]["group"] == raw
