"""Forms of a release on files: who asked apart from what was asked, in rounds, with noise or not at all; cohorts."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from proxid.cli.main import main
from proxid.errors import ConfigError
from proxid.lab.attacks.in_rounds import visible_records
from proxid.lab.attacks.registry import Options, load_attack, run_attacks
from proxid.lab.load import Asked, load_release
from proxid.lab.release.forms.cohort import cohort_groups
from proxid.lab.release.forms.measured import FOUND, best_attack, excess_warning
from proxid.lab.release.registry import load_method
from proxid.lab.released_log import Release

SPLIT = ("--form", "split", "--epoch", "30min", "--bucket", "10min", "--seed", "4", "--k", "5", "--no-mask")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small log, released in each form, with the truth."""
    path = tmp_path_factory.mktemp("forms")
    assert main(["synth", "--rows", "8000", "--users", "80", "--seed", "3", "-o", str(path / "log.tsv")]) == 0
    for name, options in (
        ("split", SPLIT),
        ("none", (*SPLIT, "--content", "none")),
        ("dp", ("--form", "split", "--content", "dp")),
        ("cohort", ("--form", "cohort", "--level", "1", "--k", "5", "--seed", "4")),
    ):
        words = [str(path / "log.tsv"), "-o", str(path / f"{name}.tsv"), "--truth", str(path / f"{name}.truth")]
        assert main(["release", *words, *options]) == 0
    return path


def _released(folder: Path, name: str) -> Release:
    truth = folder / f"{name}.truth"
    return load_release(folder / "log.tsv", folder / f"{name}.tsv", Asked(), truth=truth)


def _manifest(folder: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / f"{name}.tsv.manifest.json").read_text())
    return found


def test_people_and_contents_are_apart_and_agree(folder: Path) -> None:
    release, manifest = _released(folder, "split"), _manifest(folder, "split")
    assert release.mechanism.mode == "split"
    assert release.mechanism.level == 1
    assert (release.released.user == release.owner).all()  # everybody stands under the own name
    assert (release.tree.depth[release.released.category] == 1).all()
    assert (release.released.query == release.no_text).all()
    assert len(release.released) + sum(manifest["counts"]["suppressed"].values()) == 8000
    lines = [json.loads(line) for line in (folder / "split.tsv.contents.jsonl").read_text().splitlines()]
    shown = Counter[str]()
    for line in lines:
        shown.update({path: 0 for path, _, _ in line["rows"]})
        for path, _, records in line["rows"]:
            shown[path] += records
    _, visible = visible_records(release)
    assert shown == Counter(release.tree.paths[node] for node in visible.category.tolist())
    assert shown.total() == manifest["details"]["in_rounds"]
    withheld = sum(line["withheld"] for line in lines)
    assert shown.total() + withheld == manifest["details"]["entries"]


def test_a_round_has_everybody_once_and_shows_what_enough_ask(folder: Path) -> None:
    release = _released(folder, "split")
    group, owner = release.released.group, release.owner
    rows, visible = visible_records(release)
    for number in np.unique(group[group >= 0]).tolist():
        here = group == number
        assert len(np.unique(owner[here])) == here.sum() >= 7
    below = release.tree.depth[visible.category] > 1
    paths = [release.tree.paths[node] for node in visible.category.tolist()]
    asked = [release.tree.paths[node] for node in release.original.category[release.origin[rows]].tolist()]
    numbers = group[rows].tolist()
    together = Counter(
        (number, path[: len(prefix)] == prefix and prefix)
        for number, path, prefix in zip(numbers, asked, paths, strict=True)
    )
    assert below.any()
    for number, prefix, deep in zip(numbers, paths, below.tolist(), strict=True):
        if deep:
            assert together[number, prefix] >= 1
            carried = sum(
                n == number and (path + "/").startswith(prefix + "/") for n, path in zip(numbers, asked, strict=True)
            )
            assert 4 <= carried <= 0.8 * (group == number).sum()


def test_rounds_keep_what_pairs_lose(folder: Path, tmp_path: Path) -> None:
    options = ["--level", "1", "--k", "5", "--epoch", "file", "--seed", "4", "--truth", str(tmp_path / "truth")]
    assert main(["release", str(folder / "log.tsv"), "-o", str(tmp_path / "pairs.tsv"), *options]) == 0
    pairs = load_release(folder / "log.tsv", tmp_path / "pairs.tsv", Asked(), truth=tmp_path / "truth")
    found = {name: load_attack("em")("em", release, Options()) for name, release in (
        ("pairs", pairs), ("split", _released(folder, "split")), ("cohort", _released(folder, "cohort")),
    )}  # fmt: skip
    assert found["pairs"]["right"]["ci95"][0] > found["pairs"]["claim"] + 0.1
    assert found["split"]["right"]["value"] < found["split"]["claim"] + 0.01
    assert found["split"]["over_half"]["share"] <= 0.001
    assert found["cohort"]["right"]["value"] == pytest.approx(1 / 7, abs=0.01)
    assert load_attack("leaf")("leaf", _released(folder, "split"), Options())["leaks"] == 0


def test_manifests_say_what_the_best_attack_finds_as_the_page_does() -> None:
    page = Path(__file__).parents[4] / "docs" / "results" / "privacy.md"
    printed: dict[tuple[str, int], float] = {}
    for line in page.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) > 4 and cells[0] in ("split", "pairs", "cohort") and cells[2:4] != ["0", "–"] and cells[2] == "0":
            printed.setdefault((cells[0], int(cells[1])), float(cells[3].rstrip(" %")) / 100)
    assert printed == pytest.approx(FOUND)
    options = {"k": 10, "margin": 1, "level": 1}
    pairs = best_attack("pairs", options, 1 / 11)
    assert pairs["found"] > pairs["claim"] and excess_warning(pairs)
    split = best_attack("split", options, 1 / 11)
    assert split["found"] < split["claim"] and not excess_warning(split)
    assert "found" not in best_attack("pairs", options | {"k": 3}, 1 / 4)


def test_check_tells_the_forms_apart(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, code in (("split", 0), ("cohort", 1)):  # a cohort's paths say words
        words = [str(folder / "log.tsv"), str(folder / f"{name}.tsv"), "--truth", str(folder / f"{name}.truth")]
        assert main(["attack", *words, "--check", "--json"]) == code
    report = run_attacks(_released(folder, "split"))
    assert {name for name, said in report.items() if "reason" not in said} == {"em", "leaf", "alias-link", "join"}


def test_without_contents_there_is_no_file_and_with_noise_few_people_are_told(folder: Path) -> None:
    assert not (folder / "none.tsv.contents.jsonl").exists()
    assert _manifest(folder, "none")["guarantee"]["kind"].startswith("none")
    manifest = _manifest(folder, "dp")
    assert manifest["guarantee"]["epsilon"] == 1
    assert "under about 1000" in manifest["details"]["warnings"][0]
    lines = [json.loads(line) for line in (folder / "dp.tsv.contents.jsonl").read_text().splitlines()]
    assert [line["rows"] for line in lines] == [[]]
    assert any("personal data" in said for said in _manifest(folder, "split")["guarantee"]["not_covered"])


def test_cohorts_are_fixed_and_complete() -> None:
    user = np.array([0, 0, 0, 1, 1, 2, 2, 3, 3, 3, 4], np.int32)
    rows, group = cohort_groups(user, np.zeros(11, np.int32), 2)
    members = {number: tuple(sorted(user[rows[group == number]].tolist())) for number in np.unique(group).tolist()}
    assert list(members.values()) == [(0, 3)] * 3 + [(1, 2)] * 2
    assert len(np.unique(rows)) == len(rows)


def test_a_form_of_another_mode_is_refused() -> None:
    with pytest.raises(ConfigError, match="mode mix"):
        load_method("kbuffer").checked({"form": "split", "mode": "thesis"})
    assert load_method("kbuffer").checked({"form": "split"})["level"] == 1
    assert load_method("kbuffer").checked({})["level"] == 2


def test_counting_starts_over_every_day_and_raised_records_are_counted_by_node(tmp_path: Path) -> None:
    """A text a day leaves each day; `raised_by_node` says how many records lost their node, and to which."""
    rows = [
        (f"u{p}", "tennis rules", f"2006-03-0{day} 10:00:0{p}", "Sports/Tennis") for day in (1, 2) for p in range(3)
    ]
    rows += [(f"v{p}", f"golf {p}", f"2006-03-03 10:00:0{p}", f"Sports/Golf {p}") for p in range(3)]
    rows += [(f"w{p}", f"film {p}", f"2006-03-03 11:00:0{p}", f"Arts/Film {p}") for p in range(3)]
    source = tmp_path / "log.tsv"
    lines = [f"{user}\t{text}\t{time}\t\t\t{category}\n" for user, text, time, category in rows]
    source.write_text("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\tCategory\n" + "".join(lines))

    def released(epoch: str | None = None) -> dict[str, Any]:
        asked = [] if epoch is None else ["--epoch", epoch]
        out = tmp_path / f"{epoch}.jsonl"
        made = ["release", "--k", "2", "--margin", "0", "--max-delay-records", "2", str(source), "-o", str(out), *asked]
        assert main(made) == 0
        found: dict[str, Any] = json.loads(out.with_name(out.name + ".manifest.json").read_text())
        return found

    daily, once = released(), released("file")
    assert "repeated" not in daily["counts"]["suppressed"]
    assert once["counts"]["suppressed"]["repeated"] == 3
    raised = daily["details"]["raised_by_node"]
    assert set(raised) <= {"Sports", "Arts"} and raised["Sports"] == 3
