"""Somebody's own log among synthetic people, and what an attack says of them."""

import json
from collections import Counter
from pathlib import Path

import pytest

from proxid.cli.main import main
from proxid.errors import InputError
from proxid.lab.logs import read_log
from proxid.lab.logs.synth import Shape
from proxid.lab.logs.synth.forest import load_forest
from proxid.lab.logs.synth.mixed import graft, read_own

DAY = 86_400
OWN = [("ann", "pasta recipes", 100.0), ("ann", "pasta sauce", 2 * DAY + 50.0), ("bob", "flu symptoms", 9 * DAY + 7.0)]
PATHS = {"pasta recipes": "Food/Pasta", "pasta sauce": "Food/Pasta", "flu symptoms": "Health/Flu"}


def written(path: Path, rows: list[tuple[str, str, float]] = OWN) -> Path:
    path.write_text("".join(json.dumps({"user": u, "query": q, "time": t}) + "\n" for u, q, t in rows))
    return path


def test_days_are_moved_and_the_time_of_day_stays(tmp_path: Path) -> None:
    own = read_own([written(tmp_path / "me.jsonl")], PATHS.__getitem__, Shape(100, 10, 1, days=3))
    assert own.time.tolist() == [7.0, 100.0, 2 * DAY + 50.0]  # the tenth day is the first of the log's third three
    assert own.texts == ["flu symptoms", "pasta recipes", "pasta sauce"]


def test_popular_categories_take_popular_places() -> None:
    """Children of a node go to different children, the most frequent to the most popular one."""
    forest, node_of = load_forest(), graft(Counter({"A/x": 5, "A/y": 1, "B": 2}))
    parent = forest.parent

    def weight(node: int) -> float:
        place = forest.place[node]
        return float(forest.cumulated[place + forest.size[node]] - forest.cumulated[place])

    assert parent[node_of["A"]] == parent[node_of["B"]] == 0 and weight(node_of["A"]) > weight(node_of["B"])
    assert parent[node_of["A/x"]] == parent[node_of["A/y"]] == node_of["A"]
    assert weight(node_of["A/x"]) > weight(node_of["A/y"])


@pytest.mark.parametrize("user", ["1000081", "٣"])
def test_who_could_be_a_synthetic_person_needs_a_name(tmp_path: Path, user: str) -> None:
    rows = [(user, "pasta recipes", 1.0)]
    with pytest.raises(InputError, match="give those who are mixed in a name"):
        read_own([written(tmp_path / "me.jsonl", rows)], PATHS.__getitem__, Shape(100, 10, 1))


def test_a_log_without_times_is_refused(tmp_path: Path) -> None:
    (tmp_path / "me.jsonl").write_text('{"user": "ann", "query": "pasta recipes"}\n')
    with pytest.raises(InputError, match="a time"):
        read_own([tmp_path / "me.jsonl"], PATHS.__getitem__, Shape(100, 10, 1))


def test_from_an_export_to_whether_one_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The lines of the README: import, synth, release, attack. what is found is counted."""
    me, log, out = (tmp_path / name for name in ("me.jsonl", "log.tsv", "out.tsv"))
    records = [
        {"products": ["Assistant"], "title": f"Said pasta recipe {i}", "time": f"2024-01-0{1 + i % 3}T10:00:{i:02}Z"}
        for i in range(40)
    ]
    (tmp_path / "MyActivity.json").write_text(json.dumps(records))
    assert main(["import", "takeout", str(tmp_path / "MyActivity.json"), "-u", "ann", "-o", str(me)]) == 0
    assert main(["synth", "--rows", "4000", "--users", "60", "--days", "3", "--with", str(me), "-o", str(log)]) == 0
    batch, reader = read_log(log)
    known = reader.dictionaries
    mine = batch.take(batch.user == known.user.find("ann"))
    assert len(batch) == 4040 and len(mine) == 40 and (batch.time[1:] >= batch.time[:-1]).all()
    assert set(known.query.decode(mine.query)) == {f"pasta recipe {i}" for i in range(40)}
    release = ["release", "--method", "kbuffer", "--mode", "mix", "--k", "3", "--level", "1", str(log), "-o", str(out)]
    assert main([*release, "--truth", str(tmp_path / "truth")]) == 0
    capsys.readouterr()
    attack = [
        "attack",
        str(log),
        str(out),
        "--truth",
        str(tmp_path / "truth"),
        "--attack",
        "group-next",
        "--attack",
        "em",
    ]
    assert main([*attack, "--person", "ann", "--json"]) == 0
    found = {name: row["person"] for name, row in json.loads(capsys.readouterr().out)["attacks"].items()}
    assert {row["records"] for row in found.values()} == {40}
    assert all(0 <= row["found"] <= row["attacked"] <= 40 for row in found.values())
    assert main([*attack, "--person", "nobody"]) == 2
    assert "no record of the person" in capsys.readouterr().err
