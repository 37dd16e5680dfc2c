"""A search log without categories, as AOL's came: its queries are filed whatever type a spoken request would have."""

import json
from pathlib import Path
from typing import Any

import pytest

from proxid.classify import corpora, load_default
from proxid.cli.main import main

HEAD = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Every query that the papers print, asked by four people each, as AOL TSV."""
    queries = [row["query"] for row in corpora.table("queries_printed.tsv")]
    assert len(queries) == len(set(queries)) > 50
    rows = [f"{user}\t{query}\t2006-03-01 07:17:12\t\t\n" for query in queries for user in range(1, 5)]
    (tmp_path / "aol.tsv").write_text(HEAD + "".join(rows))
    return tmp_path / "aol.tsv"


def test_what_the_papers_print_is_filed(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for method, options in (("kbuffer", ["--mode", "thesis", "--k", "2", "--level", "1"]), ("microaggregation", [])):
        out = tmp_path / f"{method}.tsv"
        assert main(["release", "--method", method, "--k", "2", *options, str(log), "-o", str(out)]) == 0
        manifest = json.loads(out.with_name(out.name + ".manifest.json").read_text())
        assert manifest["categories"]["coverage"] >= 0.95 and "warning" not in manifest["categories"]
        assert manifest["counts"]["out"] > 0.5 * manifest["counts"]["in"]
    assert "have no category" not in capsys.readouterr().err


def test_queries_are_filed_by_what_they_are_about() -> None:
    """What the thesis's own examples say: sports, not a command."""
    file = load_default().file
    for query in ("european soccer barcelona players", "novak djokovic tennis titles", "champions league final"):
        assert file(query)[0] == "Sports"
    assert file("piano")[0] == "Entertainment" and file("flu")[0] == "Medical Health"
    assert file("") == file("\u0434\u043e\u043c") == ()


def _json(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[Any, str]:
    capsys.readouterr()
    assert main(words) == 0
    printed = capsys.readouterr()
    return json.loads(printed.out), " ".join(printed.err.split())


def test_profile_and_attack_file_as_the_release_does(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    profile, said = _json(["profile", str(log), "--json"], capsys)
    assert profile["categories"]["coverage"] >= 0.95 and "warning" not in said
    assert all("Sports" in entry["percent"] for entry in profile["profiles"].values())
    assert (
        main(["release", "--mode", "thesis", "--k", "2", "--level", "1", str(log), "-o", str(tmp_path / "r.tsv")]) == 0
    )
    found, said = _json(["attack", str(log), str(tmp_path / "r.tsv"), "--attack", "rl3", "--json"], capsys)
    assert found["categories"]["coverage"] >= 0.95 and "warning" not in said


def test_a_log_that_is_mostly_not_filed_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the reason: another language, or that nothing was to be filed."""
    texts = ["weather", *["\u043f\u043e\u0433\u043e\u0434\u0430"] * 9]
    log = tmp_path / "log.tsv"
    log.write_text(HEAD + "".join(f"{user}\t{text}\t\t\t\n" for user, text in enumerate(texts)))
    words = ["release", str(log), "-o", str(tmp_path / "out.tsv"), "--json"]
    manifest, said = _json(words, capsys)
    reason = "9 of 10 records have no category: their queries are empty, unreadable or in another language"
    assert manifest["categories"] == {"coverage": 0.1, "records_without": 9, "warning": reason}
    assert reason in said
    manifest, said = _json([*words, "--no-classify"], capsys)
    assert "10 of 10 records have no category: queries were not to be filed" in said


def test_a_log_filed_by_algorithm_1_under_another_tree_is_attacked_so(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """002 chapter 3 as one command; what attacks it files as the manifest says, and says so where it cannot."""
    tree, out = tmp_path / "odp.txt", tmp_path / "r.tsv"
    tree.write_text("Top/Sports/Soccer\nTop/Sports/Tennis\nTop/Arts/Music\nTop/Recreation/Travel\n")
    how = ["--file-by", "thesis", "--ontology", str(tree)]
    release = ["release", "--mode", "thesis3", "--k", "2", "--level", "1", str(log), "-o", str(out), "--json"]
    manifest, _ = _json([*release, *how], capsys)
    assert manifest["filing"]["by"] == "thesis" and len(manifest["filing"]["ontology"]) == 64
    profile, _ = _json(["profile", str(out), "--json"], capsys)
    named = {name for one in profile["profiles"].values() for name in one["percent"]}
    assert {"Sports"} <= named <= {"Sports", "Arts", "Recreation", "NONE"}
    attack = ["attack", str(log), str(out), "--attack", "deanon1", "--json"]
    found, _ = _json([*attack, *how], capsys)
    assert found["attacks"]["deanon1"]["guessed"] > 0
    assert main(attack) == 2
    assert "--file-by thesis and --ontology" in capsys.readouterr().err
