"""Exports are read as others read them: a public parser of Google's, and pandas the table of Amazon's."""

import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pandas
import pytest

from proxid.lab.imports import History, read_alexa, read_takeout
from proxid.loglines.times import format_time
from tests.support.exports import ALEXA, GOOGLE, MARK, MISSING, alexa_export, google_export

pytestmark = pytest.mark.peers


@pytest.mark.parametrize("mark", [b"", MARK], ids=["", "byte order mark"])
def test_times_and_texts_are_those_that_another_parser_finds(tmp_path: Path, mark: bytes) -> None:
    """Every fixture: two languages, five forms of times. What the parser cannot read, pandas does."""
    from google_takeout_parser.parse_json import _parse_json_activity

    records = [
        {"title": f"{verb}number {i}", "titleUrl": f"https://www.google.com/search?q=number+{i}",
         "time": f"20{10 + i}-0{1 + i % 9}-1{i % 10}T0{i % 10}:59:59.{i:03}Z"}
        for i, verb in enumerate(("Said ", "Searched for ", "Gesucht nach: ", ""))
    ]  # fmt: skip
    blank = [record for record in GOOGLE if " " in record["time"]]
    plain = [record for record in GOOGLE if " " not in record["time"]] + records
    file, without = tmp_path / "MyActivity.json", tmp_path / "plain.json"
    file.write_bytes(mark + google_export([*plain, *blank]))
    without.write_bytes(google_export(plain))
    history = History("ann", tmp_path)
    read_takeout(file, history)
    history.write(tmp_path / "me.jsonl")
    ours = [json.loads(line) for line in (tmp_path / "me.jsonl").read_text().splitlines()]
    theirs = [(one.time.timestamp(), one.title, one.titleUrl or "") for one in _parse_json_activity(without)]
    theirs += [(pandas.Timestamp(one["time"]).timestamp(), one["title"], one["titleUrl"]) for one in blank]
    theirs.sort()
    assert [line["time"] for line in ours] == [format_time(time) for time, _, _ in theirs]
    for line, (_, title, address) in zip(ours, theirs, strict=True):
        searched = parse_qs(urlsplit(address).query).get("q", [""])[0]
        assert line["query"] == searched or " ".join(title.split()).endswith(line["query"])


def test_what_was_said_to_alexa_is_what_pandas_reads(tmp_path: Path) -> None:
    """Every fixture, its sentinels and its byte order mark; a wake word is left out, and nothing else."""
    texts = ['play, "jazz"', "zwei\nzeilen", "größe", "plain", *MISSING]
    rows = [*ALEXA, *((text, f"2024-08-22T13:53:3{i}.929Z") for i, text in enumerate(texts))]
    file = tmp_path / "Alexa/Intent-2-1.csv"
    file.parent.mkdir()
    file.write_bytes(alexa_export(rows))
    history = History("ann", tmp_path)
    read_alexa(tmp_path, history)
    history.write(tmp_path / "me.jsonl")
    ours = [json.loads(line) for line in (tmp_path / "me.jsonl").read_text().splitlines()]
    table = pandas.read_csv(file, encoding="utf-8-sig", na_values=MISSING).dropna(subset=["Utterance text"])
    times = pandas.to_datetime(table["Utterance Creation Date"], format="mixed", utc=True)
    assert [line["time"] for line in ours] == [format_time(when.timestamp()) for when in times]
    for line, text in zip(ours, table["Utterance text"], strict=True):
        whole = " ".join(text.split())
        assert whole.endswith(line["query"])
        assert whole.removesuffix(line["query"]).strip(" ,").lower() in ("", "alexa", "echo", "amazon")
