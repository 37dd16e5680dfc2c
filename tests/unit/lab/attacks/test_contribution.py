"""The contribution attack: right with the largest contribution of a cluster, and not with 1/k (DESIGN 13)."""

import json
from pathlib import Path

import numpy as np
import pytest

from proxid.cli.main import main
from proxid.lab.attacks.registry import Options, load_attack
from proxid.lab.load import Asked, load_release
from proxid.lab.release.registry import Job, load_method
from proxid.lab.utility.registry import load_metric


@pytest.fixture
def released(tmp_path: Path) -> tuple[Path, Path, Path, dict[str, float]]:
    rng = np.random.default_rng(4)
    rows = [f"u{u}\tu{u} {i}\t\t\t\tArts/{rng.integers(3)}\n" for u in range(30) for i in range(3 + 4 * (u % 5))]
    source = tmp_path / "in.tsv"
    source.write_text("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\tCategory\n" + "".join(rows))
    method = load_method("microaggregation")
    job = Job(source, tmp_path / "out.tsv", method.checked({"k": 3, "partition": "random"}), 7, truth=tmp_path / "t")
    return source, job.output, tmp_path / "t", method.run(job).guarantee["bound"]


def test_it_wins_the_largest_contribution(released: tuple[Path, Path, Path, dict[str, float]]) -> None:
    source, output, truth, bound = released
    release = load_release(source, output, Asked(), truth=truth)
    report = load_attack("contribution")("contribution", release, Options())
    found = report["same_record"]["of_attacked"]["value"]
    assert report["smallest_set"] == 3
    assert 1 / 3 < found <= bound["worst"] + 0.05  # quotas are whole numbers, so a cluster may miss its share by little
    # Written plainly: for every record of a cluster the member with most queries.
    busy = np.bincount(release.original.user)
    hits = total = 0
    logs: dict[tuple[int, ...], list[int]] = {}
    for user in np.unique(release.released.user).tolist():
        key = tuple(sorted(release.released.query[release.released.user == user].tolist()))
        logs.setdefault(key, []).append(user)
    for members in logs.values():
        best = max(members, key=lambda u: (busy[u], -u))
        rows = np.isin(release.released.user, members)
        hits += int((release.owner[rows] == best).sum())
        total += int(rows.sum())
    assert found == pytest.approx(hits / total)


def test_it_is_said_against_its_own_claim(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A cluster's log is published by every member, so that a release may have more records than the log."""
    source, output, truth = tmp_path / "in.tsv", tmp_path / "out.tsv", tmp_path / "t"
    rows = [f"u{u}\tu{u} {i}\t\t\t\tArts/{u % 3}\n" for u in range(31) for i in range(2 if u else 60)]
    source.write_text("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\tCategory\n" + "".join(rows))
    made = ["release", "--method", "microaggregation", str(source), "-o", str(output), "--truth", str(truth)]
    assert main([*made, "--seed", "1"]) == 0
    capsys.readouterr()
    assert main(["attack", str(source), str(output), "--truth", str(truth), "--check", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["mechanism"]["mode"] == "microaggregation"
    manifest = json.loads(output.with_name("out.tsv.manifest.json").read_text())
    assert report["bound"] == manifest["guarantee"]["bound"]["worst"]
    assert report["attacks"]["contribution"]["bound"] == report["bound"]
    assert report["attacks"]["rl3"] == {"reason": "does not apply to microaggregation"}


def test_srp_metric_counts_per_level(released: tuple[Path, Path, Path, dict[str, float]]) -> None:
    source, output, truth, _ = released
    metric = load_metric("srp")(load_release(source, output, Asked(), truth=truth))
    assert set(metric) == {"level_1", "level_2"}
    assert 0 < metric["level_2"] <= metric["level_1"] <= 1
