"""Google's exports: what was said, when, and nothing else; fixtures are written after the fields that exports have."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from proxid.errors import InputError
from proxid.lab.imports import History, read_takeout
from tests.support.exports import GOOGLE, MARK, SAID_TO_GOOGLE, google_export


def imported(source: Path, folder: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    history = History("ann", folder)
    read_takeout(source, history)
    report = history.write(folder / "me.jsonl")
    return [json.loads(line) for line in (folder / "me.jsonl").read_text().splitlines()], report


@pytest.mark.parametrize(
    "name", ["MyActivity.json", "My Activity.json", "MeineAktivitäten.json", "MeineAktivita\u0308ten.json"]
)
@pytest.mark.parametrize("mark", [b"", MARK])
def test_utterances_in_order_of_time(tmp_path: Path, name: str, mark: bytes) -> None:
    """Two languages, five forms of times, with a byte order mark and without, in a folder as it is unpacked."""
    file = tmp_path / "Takeout/My Activity/Assistant" / name
    file.parent.mkdir(parents=True)
    file.write_bytes(mark + google_export(GOOGLE))
    lines, report = imported(tmp_path / "Takeout", tmp_path)
    assert [(line["query"], line["time"]) for line in lines] == SAID_TO_GOOGLE
    assert {line["user"] for line in lines} == {"ann"} and {*lines[0]} == {"user", "query", "time"}
    assert report == {
        "kept": 5,
        "skipped": {},
        "files": 1,
        "first": SAID_TO_GOOGLE[0][1],
        "last": SAID_TO_GOOGLE[-1][1],
    }
    assert (tmp_path / "me.jsonl").stat().st_mode & 0o777 == 0o600


def test_what_is_left_out_is_counted_by_reason(tmp_path: Path) -> None:
    others = [
        {"title": "Used Assistant", "time": "2018-04-16T11:42:52.739Z"},
        {"title": "Gave feedback", "header": "Gemini Apps", "time": "2018-04-16T11:42:52.739Z"},
        {"title": "Did something unheard of", "time": "2018-04-16T11:42:52.739Z"},
        {"title": "Said nothing dated"},
        {"title": "Said half past", "time": "half past two"},
        {"title": "Said  ", "time": "2018-04-16T11:42:52.739Z"},
        {"title": "Said hello", "products": ["YouTube"], "header": "YouTube", "time": "2018-04-16T11:42:52.739Z"},
        {"titleUrl": "https://maps.google.com/?q=home", "time": "2018-04-16T11:42:52.739Z"},
        {"titleUrl": "https://[", "title": 5, "time": 7},
        "no record", GOOGLE[0],
    ]  # fmt: skip
    for part in ("a", "b"):  # exports overlap
        (tmp_path / part).mkdir()
        (tmp_path / part / "MyActivity.json").write_bytes(google_export([GOOGLE[0]] + (others if part == "a" else [])))
    lines, report = imported(tmp_path, tmp_path)
    assert [line["query"] for line in lines] == [SAID_TO_GOOGLE[0][0]]
    assert report["skipped"] == {
        "no utterance": 5, "unknown verb": 1, "time unreadable": 2, "another product": 1, "no record": 1, "twice": 2,
    }  # fmt: skip


def test_of_a_zip_nothing_is_unpacked(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    with zipfile.ZipFile(tmp_path / "in/takeout-001.zip", "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("Takeout/My Activity/Assistant/MyActivity.json", google_export(GOOGLE[:1]))
        made.writestr("Takeout/My Activity/Assistant/MyActivity.html", "<html>")
    with zipfile.ZipFile(tmp_path / "in/takeout-002.zip", "w") as made:
        made.writestr("Takeout/Meine Aktivitäten/Gemini-Apps/MeineAktivitäten.json", google_export(GOOGLE[3:4]))
    out = tmp_path / "out"
    out.mkdir()
    lines, report = imported(tmp_path / "in", out)
    assert ([line["query"] for line in lines], report["files"]) == ([SAID_TO_GOOGLE[0][0], SAID_TO_GOOGLE[4][0]], 2)
    assert [path.name for path in out.iterdir()] == ["me.jsonl"]


def zipped(path: Path, name: str, data: bytes, **changed: int) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr(name, data)
        for field, value in changed.items():  # as the directory at the end says it
            setattr(made.filelist[0], field, value)
    return path


BOMB = b"[" + b" " * (8 << 20) + b"]"


@pytest.mark.parametrize(
    ("name", "data", "changed", "said"),
    [
        ("MyActivity.json", BOMB, {}, "packed too tightly"),
        ("MyActivity.json", BOMB, {"file_size": 1000}, "packed too tightly|damaged"),
        ("../MyActivity.json", b"[]", {}, "leads out"),
        ("a/..\\..\\MyActivity.json", b"[]", {}, "leads out"),
        ("/etc/MyActivity.json", b"[]", {}, "leads out"),
        ("MyActivity.json", b"[]", {"CRC": 1}, "damaged"),
        ("MyActivity.json", b'[{"products": ["Assistant"], "title": "Said my secret', {}, "no whole JSON"),
        ("MyActivity.json", b'[{"title": "\xff"}]', {}, "no whole JSON"),
        ("Search.json", b"[]", {}, "choose My Activity"),
    ],
)
def test_an_archive_that_does_harm_or_is_damaged_is_refused_whole(
    tmp_path: Path, name: str, data: bytes, changed: dict[str, int], said: str
) -> None:
    source = zipped(tmp_path / "takeout.zip", name, data, **changed)
    with pytest.raises(InputError, match=said) as caught:
        imported(source, tmp_path)
    assert "secret" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["takeout.zip"]


def test_what_is_no_zip_says_so(tmp_path: Path) -> None:
    (tmp_path / "takeout.zip").write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(InputError, match="download it again"):
        imported(tmp_path / "takeout.zip", tmp_path)
