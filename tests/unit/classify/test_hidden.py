"""Identifiers behind odd separators, drawn letters and unreadable bytes; reasons and ontologies of absurd size."""

import io
import json
import sys
import time
from pathlib import Path

import pytest

from proxid.classify import load_default
from proxid.classify.explain import LEFT_OUT, explain
from proxid.classify.ontology import Ontology
from proxid.cli.main import main
from proxid.errors import InputError


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("call 617·555·0123", "call <PHONE>"),
        ("call 617😀555 😀 0123", "call <PHONE>"),
        ("call 617\u2800555\u28000123", "call <PHONE>"),
        ("call 6*1*7*5*5*5*0*1*2*3", "call <PHONE>"),
        ("my ssn is ❶❷❸-❹❺-❻❼❽❾", "my ssn is <SSN>"),
        ("my ssn is 123|45|6789", "my ssn is <SSN>"),
        ("call 🅹🅾🅷🅽 🆂🅼🅸🆃🅷", "call <NAME>"),
        ("what is 6*7", "what is 6*7"),
        ("how much is 3*4*5", "how much is 3*4*5"),
        ("what is 5×7×20", "what is 5×7×20"),
    ],
)
def test_what_is_hidden_is_masked_and_sums_stay(text: str, masked: str) -> None:
    assert load_default().classify(text).masked == masked


@pytest.mark.parametrize("text", ["call ⠚⠕⠓⠝", "call 617\ufffd555\ufffd0123", "sm\ufffdith is here"])
def test_what_cannot_be_read_is_withheld(text: str) -> None:
    assert load_default().classify(text).masked is None


def test_bytes_that_are_no_text_withhold_their_line_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = io.TextIOWrapper(io.BytesIO(b"call jo\xffhn\nwhat is a taco\n"), encoding="utf-8", errors="strict")
    monkeypatch.setattr(sys, "stdin", lines)
    assert main(["classify", "--json"]) == 0
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first["masked"] is None and second["masked"] == "what is a taco"


def test_text_and_file_are_not_taken_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "lines.txt"
    path.write_text("what is a taco\n")
    assert main(["classify", "hello", "--file", str(path)]) == 2
    assert "not both" in capsys.readouterr().err


def test_signs_of_a_text_are_shown_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["classify", "play :smile: by the band"]) == 0
    assert ":smile:" in capsys.readouterr().out


def test_reasons_leave_out_a_bounded_number_of_words(monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline = load_default()
    odds, calls = type(pipeline.intents).odds, []

    def counted(*arguments: object) -> object:
        calls.append(time.monotonic())
        return odds(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(type(pipeline.intents), "odds", counted)
    explain(pipeline, "a " * 2000)
    assert len(calls) <= LEFT_OUT + 5


@pytest.mark.parametrize(
    "text",
    [
        'id,parent,name\n1,,"' + "x" * 200_000,
        "id,parent,name\n1,,food\n1,,drink\n",
        "id,parent,name\n1,,\n2,1,soup\n",
        "Top" + "/a" * 65 + "\n",
        "Top/Arts//Film\n",
    ],
    ids=["endless field", "an id twice", "no name", "too deep", "a level without a name"],
)
def test_an_ontology_that_is_none_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "ontology.csv"
    path.write_text(text)
    with pytest.raises(InputError):
        Ontology.load(path)


def test_an_ontology_may_begin_with_a_mark_of_its_encoding(tmp_path: Path) -> None:
    path = tmp_path / "ontology.csv"
    path.write_text("\ufeffid,parent,name\n1,,food\n2,1,soup\n", encoding="utf-8")
    assert ("food", "soup") in Ontology.load(path).paths
