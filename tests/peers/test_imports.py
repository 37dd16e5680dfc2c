"""Exports are read as others read them: a public parser of Google's, and pandas the table of Amazon's."""

import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pandas
import pytest

from proxid.lab.imports import History, read_alexa, read_takeout
from proxid.loglines.times import format_time
from tests.support.exports import GOOGLE, alexa_export, google_export

pytestmark = pytest.mark.peers


def test_times_and_texts_are_those_that_another_parser_finds(tmp_path: Path) -> None:
    from google_takeout_parser.parse_json import _parse_json_activity

    records = [record for record in GOOGLE if " " not in record["time"]]  # the parser reads no time with a blank
    records += [
        {"title": f"{verb}number {i}", "titleUrl": f"https://www.google.com/search?q=number+{i}",
         "time": f"20{10 + i}-0{1 + i % 9}-1{i % 10}T0{i % 10}:59:59.{i:03}Z"}
        for i, verb in enumerate(("Said ", "Searched for ", "Gesucht nach: ", ""))
    ]  # fmt: skip
    file = tmp_path / "MyActivity.json"
    file.write_bytes(google_export(records))
    history = History("ann", tmp_path)
    read_takeout(file, history)
    history.write(tmp_path / "me.jsonl")
    ours = [json.loads(line) for line in (tmp_path / "me.jsonl").read_text().splitlines()]
    theirs = sorted(_parse_json_activity(file), key=lambda activity: activity.time)
    assert [line["time"] for line in ours] == [format_time(activity.time.timestamp()) for activity in theirs]
    for line, activity in zip(ours, theirs, strict=True):
        title = " ".join(activity.title.split())
        searched = parse_qs(urlsplit(activity.titleUrl or "").query).get("q", [""])[0]
        assert line["query"] == searched or title.endswith(line["query"])


def test_what_was_said_to_alexa_is_what_pandas_reads(tmp_path: Path) -> None:
    texts = ['play, "jazz"', "zwei\nzeilen", "größe", "plain", "Not Available", "N/A"]
    file = tmp_path / "Alexa/Intent-2-1.csv"
    file.parent.mkdir()
    file.write_bytes(alexa_export([(text, f"2024-08-21T13:53:3{i}.929Z") for i, text in enumerate(texts)]))
    history = History("ann", tmp_path)
    read_alexa(tmp_path, history)
    history.write(tmp_path / "me.jsonl")
    ours = [json.loads(line) for line in (tmp_path / "me.jsonl").read_text().splitlines()]
    table = pandas.read_csv(file, encoding="utf-8-sig", na_values=["Not Available"]).dropna(subset=["Utterance text"])
    theirs = [" ".join(text.split()) for text in table["Utterance text"]]
    times = [when.timestamp() for when in pandas.to_datetime(table["Utterance Creation Date"])]
    assert [(line["query"], line["time"]) for line in ours] == list(zip(theirs, map(format_time, times), strict=True))
