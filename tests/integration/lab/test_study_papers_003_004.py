"""The studies of 003 and 004 on a small synthetic log: every table and figure is there and means what it says."""

import json
import math
from pathlib import Path

import pytest

from proxid.lab.studies import sessions, sessions_report, zealous, zealous_report
from proxid.lab.studies.counted import CountedLog, counted_log, synthetic_or

SMALL = zealous.Settings(epsilon=10.0, ms=(1, 4), epsilons=(5.0, 10.0), ks=(5, 20), queries=40)


def quiet(done: int, total: int) -> None:
    assert 0 <= done <= total


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory):
    with synthetic_or(None, 6000, 400, 1) as path, counted_log(path) as counted:
        yield counted


@pytest.fixture(scope="module")
def found(log: CountedLog) -> dict:
    return zealous.run(log, SMALL, quiet)


def test_study_zealous_has_every_table_and_figure(found: dict) -> None:
    assert json.loads(json.dumps(found))
    assert found["table_2"]["tau_prime"] == pytest.approx(zealous_report.PUBLISHED["table_2"]["tau_prime"], abs=5e-5)
    assert set(found["table_3"]["distinct"]) == {"keywords", "queries", "pairs", "clicks"}
    assert found["table_4"]["keywords"] > found["table_4"]["pairs"] > 0
    assert found["figure_6"]["original"] >= max(found["figure_6"]["zealous"]["1"])
    for kind, part in found["partition"].items():
        assert part["delta"] < 1 / found["users"], kind
    assert all(0 <= value <= 1 for row in found["figures_2_3"]["keywords"]["coverage"] for value in row)


def test_distinct_items_fall_with_m(found: dict) -> None:
    assert all(found["trends"]["distinct_items_fall_with_m"].values())


def test_study_sessions_has_every_table_and_figure(log: CountedLog) -> None:
    found = sessions.run(log, sessions.Settings(k=6.0, ks=(3, 6, 12), most_tests=200), quiet)
    assert json.loads(json.dumps(found))
    published = sessions_report.PUBLISHED["table_4"]
    for row, (epsilon, delta) in zip(found["table_4"], published, strict=True):
        assert (row["epsilon"], row["delta"]) == pytest.approx((epsilon, delta), rel=5e-3)
    both = found["cost"]["both"]["epsilon"]
    assert both == pytest.approx(found["cost"]["sessions"]["epsilon"] + found["cost"]["clicks"]["epsilon"])
    assert set(found["table_5"]) == {"Original", "KA", "DP_C", "DP_S"}
    common = {run["common"]["sessions"] for run in found["table_5"].values()}
    assert len(common) == 1
    assert found["table_5"]["Original"]["own"]["sessions"] >= found["table_5"]["KA"]["own"]["sessions"]
    first = found["figures_1_2"][0]
    assert set(first["published"]) == {"KA"}  # K = 3 is under the sensitivity: nothing noisy is published
    for run in found["table_5"].values():
        assert math.isnan(run["own"]["recall_at_5"]) or 0 <= run["own"]["recall_at_5"] <= 1


@pytest.mark.slow
def test_figures_are_drawn(found: dict, tmp_path: Path) -> None:
    files = zealous_report.figures(found, tmp_path)
    assert {file.suffix for file in files} == {".png", ".svg"}
    assert all(file.stat().st_size > 1000 for file in files)
