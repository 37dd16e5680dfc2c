"""Amazon's export: what was asked after the wake word, and when; the columns that hold other people are not read."""

import json
from pathlib import Path
from typing import Any

import pytest

from proxid.errors import InputError
from proxid.lab.imports import History, read_alexa
from tests.support.exports import ALEXA, MISSING, WHEN, alexa_export

SAID = [
    "what's the weather",
    "play jazz",
    "prime costs what",
    "alexandria in egypt",
    'wie wird das wetter, sagt "bernd"',
]


def imported(data: bytes, folder: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    file = folder / "in/Additional Data/Alexa/Alexa/NLU/Intent-2-1.csv"
    file.parent.mkdir(parents=True)
    file.write_bytes(data)
    history = History("ann", folder)
    read_alexa(folder / "in", history)
    report = history.write(folder / "me.jsonl")
    return [json.loads(line) for line in (folder / "me.jsonl").read_text().splitlines()], report


def test_what_was_asked(tmp_path: Path) -> None:
    lines, report = imported(alexa_export(ALEXA), tmp_path)
    assert [line["query"] for line in lines] == SAID
    assert lines[0]["time"] == "2024-08-21T13:53:36.929000Z" and lines[-1]["time"] == "2024-08-21T13:53:40Z"
    assert report["skipped"] == {} and "Bob" not in (tmp_path / "me.jsonl").read_text()


def test_what_is_left_out_is_counted_by_reason(tmp_path: Path) -> None:
    rows = [(text, WHEN) for text in MISSING]
    rows += [("alexa", WHEN), ("Alexa, ", WHEN), ("hello", "Not Available"), ("alexa hello", WHEN), ("hello", WHEN)]
    data = alexa_export(rows) + b"x,y,z,caf\xe9,2024-08-21T13:53:36.929Z\r\nshort,row\r\n\r\n"
    lines, report = imported(data, tmp_path)
    assert [line["query"] for line in lines] == ["hello"]
    assert report["skipped"] == {
        "no utterance": 5, "wake word alone": 2, "time unreadable": 1, "twice": 1, "not UTF-8": 1, "too few fields": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (alexa_export([], ["Utterance", "When", "a", "b", "c"]), "no columns"),
        (b"", "no columns"),
        (alexa_export(ALEXA) + b"a,b,c," + b"x" * 200_000 + b",d", "line 7"),
    ],
)
def test_another_table_is_refused(tmp_path: Path, data: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        imported(data, tmp_path)
    assert not (tmp_path / "me.jsonl").exists()


def test_a_file_elsewhere_is_not_alexas(tmp_path: Path) -> None:
    (tmp_path / "Intent-2-1.csv").write_bytes(alexa_export(ALEXA))
    with pytest.raises(InputError, match="ask Amazon"):
        read_alexa(tmp_path, History("ann", tmp_path))
