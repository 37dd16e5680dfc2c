"""Reports one after another: numbered, signed, each naming the one before it; whoever changes one is found."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from auditor.conduct import series_of
from auditor.config import AuditorConfig
from auditor.findings import Report
from auditor.report.page import index_page, render
from auditor.report.series import JSON, NOTE, PAGE, Series, newest, verify
from proxid.cli.main import main
from proxid.crypto.ed25519 import SigningKey
from proxid.errors import InputError, NoteInvalidError
from proxid.evidence.note import Verifier
from proxid.runtime.config import load
from tests.support.report_page import NOW, config, example, part, text_of

KEY = SigningKey(bytes(range(32)))
BY = Verifier("auditor", KEY.public)


def series(folder: Path, key: SigningKey = KEY) -> Series:
    return Series(
        folder, "auditor", key, lambda report, issue, new: render(report, config(), issue.made, issue, new),
        lambda rows: index_page(config(), rows),
    )  # fmt: skip


def three(folder: Path) -> None:
    one, two, three = example(), example(before=100), example(before=200)
    two.counts["released"] += 9
    three.add(5, "main-service", 12, "RELEASED: group is smaller than k")
    for at, report in enumerate((one, two, three)):
        series(folder).add(report, NOW + at)


def test_reports_are_numbered_name_the_one_before_and_hold(tmp_path: Path) -> None:
    three(tmp_path)
    assert newest(tmp_path) == tmp_path / "000003"
    rows = json.loads((tmp_path / "index.json").read_text())
    assert [row["number"] for row in rows] == [3, 2, 1]
    assert [row["previous"] for row in rows] == [rows[1]["hash"], rows[2]["hash"], None]
    assert [row["verdict"] for row in rows] == ["violation", "clean", "clean"]
    for path in (tmp_path, tmp_path / "000003", tmp_path / "000003" / JSON):
        found = verify(path, BY)
        assert (found.number, found.hash, found.verdict, found.chained) == (3, rows[0]["hash"], "violation", 2)
    # Whoever gets one report alone can hold it to its signature.
    shutil.copytree(tmp_path / "000002", tmp_path / "sent/000002")
    assert verify(tmp_path / "sent/000002", BY).chained == 0
    assert rows[0]["hash"] in (tmp_path / "000003" / PAGE).read_text()
    assert "3 reports" in text_of((tmp_path / "index.html").read_text())


def test_it_says_what_is_new_since_the_last_report(tmp_path: Path) -> None:
    three(tmp_path)
    first, second, third = (part((tmp_path / f"00000{n}" / PAGE).read_text(), "since") for n in (1, 2, 3))
    assert "first report of its series" in first
    assert "No new violation" in second and "Requests published in groups +9" in second
    assert "New violation, check 5" in third and "group is smaller than k" in third
    # What was found before and is repeated is nothing new; evidence that was away is no report to compare with.
    again = example(before=200)
    again.add(5, "main-service", 12, "RELEASED: group is smaller than k")
    series(tmp_path).add(Report(unchecked="a log is away"), NOW + 3)
    series(tmp_path).add(again, NOW + 4)
    said = part((tmp_path / "000005" / PAGE).read_text(), "since")
    assert "No new violation" in said and "Number 3" in said


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def whitewash(path: Path) -> None:
    path.write_text(path.read_text().replace('"violation"', '"clean"', 1))


def exchange(one: Path, other: Path) -> None:
    shutil.copytree(one, other, dirs_exist_ok=True)


LIES: list[Callable[[Path], None]] = [
    lambda folder: flip(folder / "000003" / PAGE),
    lambda folder: flip(folder / "000002" / PAGE),
    lambda folder: whitewash(folder / "000003" / JSON),
    lambda folder: flip(folder / "000003" / NOTE),
    lambda folder: exchange(folder / "000001", folder / "000002"),
]  # fmt: skip


@pytest.mark.parametrize("lie", LIES, ids=["page", "older", "verdict", "note", "exchanged"])
def test_a_report_that_was_changed_does_not_hold(tmp_path: Path, lie: Callable[[Path], None]) -> None:
    three(tmp_path)
    lie(tmp_path)
    with pytest.raises(NoteInvalidError):
        verify(tmp_path / "000003", BY)


def test_only_the_auditors_own_key_and_name_will_do(tmp_path: Path) -> None:
    series(tmp_path, SigningKey(bytes(32))).add(example(), NOW)
    with pytest.raises(NoteInvalidError):
        verify(tmp_path, BY)
    with pytest.raises(InputError):
        verify(tmp_path / "nowhere", BY)


def test_a_series_that_was_rewritten_is_found_by_whoever_holds_an_older_report(tmp_path: Path) -> None:
    three(tmp_path)
    shutil.copytree(tmp_path / "000003", tmp_path / "held/000003")
    other = tmp_path / "other"
    for at in range(2):
        series(other).add(example(people=58), NOW + at)
    for name in ("000001", "000002"):
        shutil.copytree(other / name, tmp_path / "held" / name)
    with pytest.raises(NoteInvalidError, match="report 2"):
        verify(tmp_path / "held/000003", BY)


def test_verify_says_what_holds_and_whose_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(tmp_path / "trial"), "--parties", "acme", "--households", "0"]) == 0
    auditor = tmp_path / "trial/auditor"
    series_of(load(AuditorConfig, auditor / "auditor.toml"), tmp_path / "reports").add(example(), NOW)
    verifying = ["audit", "--verify", str(tmp_path / "reports")]
    capsys.readouterr()
    for whose in (["--by", str(auditor / "public.toml")], ["--config", str(auditor / "auditor.toml")]):
        assert main([*verifying, *whose, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["holds"] is True
    flip(tmp_path / "reports/000001" / PAGE)
    assert main([*verifying, "--by", str(auditor / "public.toml")]) == 1
    assert "does not hold" in capsys.readouterr().out
    assert main([*verifying, "--by", str(tmp_path / "trial/gateway/public.toml")]) == 2
    assert main(verifying) == 2 and main(["audit"]) == 2
