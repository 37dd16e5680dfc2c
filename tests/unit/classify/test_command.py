"""`proxid classify`: text, files, JSON lines, reasons."""

import json
from pathlib import Path

import pytest

from proxid.cli.main import main


def test_json_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "u.txt"
    path.write_text("turn off the lights\ncall maria lopez\n\n")
    assert main(["classify", "--file", str(path), "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [set(line) for line in lines] == [{"type", "confidence", "path", "masked", "slots"}] * 3
    assert lines[0]["type"] == "command"
    assert lines[1]["masked"] == "call <NAME>"
    assert lines[2]["type"] is None


def test_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["classify", "--explain", "--json", "email john dot smith at gmail dot com"]) == 0
    why = json.loads(capsys.readouterr().out)["why"]
    assert why["identifiers"][0]["kind"] == "EMAIL"
    assert set(why["types"]) == {"command", "general", "location"}


def test_prints_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["classify", "what is the capital of france"]) == 0
    assert "general" in capsys.readouterr().out


def test_an_unusable_ontology_is_exit_status_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("nothing\n")
    assert main(["classify", "--ontology", str(path), "hello"]) == 2
    assert "ontology" in capsys.readouterr().err
