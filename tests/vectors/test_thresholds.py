"""Numbers that pages and papers print, computed again: thresholds, the totals of the tree, whom a count counts."""

from pathlib import Path

import numpy as np
import pytest

from proxid.lab.logs.synth import synth_log
from proxid.lab.release.partition.plan import partition_plan
from proxid.lab.release.published import read_published
from proxid.lab.release.registry import Job, load_method
from proxid.lab.release.zealous.plan import zealous_plan

PAGE = (Path(__file__).parents[2] / "docs/releases.md").read_text("utf-8")
ROWS = [
    [float(cell) for cell in line.replace("m = ", "").replace(", ε = ", "|").strip("| \n").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("| m = ")
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"m{row[0]:g}-epsilon{row[1]:g}")
def test_thresholds_that_the_page_compares(row: list[float]) -> None:
    """δ = 10⁻⁶, U = 500,000: ZEALOUS by both analyses (003, Theorems 1 and 2), and `partition`."""
    m, epsilon, *thresholds = int(row[0]), *row[1:]
    found = [
        zealous_plan(name, m, epsilon, 1e-6, 500_000).tau_prime for name in ("probabilistic", "indistinguishability")
    ]
    found.append(partition_plan(m, epsilon, 1e-6).t)
    assert found == pytest.approx(thresholds, abs=0.051)


def test_the_page_has_its_five_rows() -> None:
    assert len(ROWS) == 5


def test_the_tree_has_the_thesis_s_totals() -> None:
    """002 Table 4.4: 16 nodes at the first level, 553 at two, 6,076 at three, 194,505 at all."""
    _, known = synth_log(10, 3, 1)
    totals = np.cumsum(np.bincount(known.tree.depth)[1:])
    assert totals[:3].tolist() == [16, 553, 6076] and totals[-1] == 194_505


def test_clicks_count_users_where_004_counts_occurrences(tmp_path: Path) -> None:
    """60 users with three identical clicks each: 60, not 180 (004 §3.2.2 counts the latter); Δf is the same."""
    rows = [f"u{user}\tweather\t2006-03-01 10:00:0{at}\t1\thttp://a.example" for user in range(60) for at in range(3)]
    log = tmp_path / "log.tsv"
    log.write_text("\n".join(["AnonID\tQuery\tQueryTime\tItemRank\tClickURL", *rows]) + "\n")
    method = load_method("ka")
    method.run(Job(log, tmp_path / "out.tsv", method.checked({"K": 20})))
    assert read_published(tmp_path / "out.tsv").as_dict() == {("weather", "http://a.example"): 60}
