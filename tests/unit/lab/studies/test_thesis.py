"""`proxid study thesis`: small, resumable, and its figures and tables are all there."""

import csv
import json
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from proxid.cli.main import main
from proxid.errors import InputError
from proxid.lab.studies.thesis import runner
from proxid.lab.studies.thesis.beside import beside, excess, mix_verdicts
from proxid.lab.studies.thesis.cell import own_texts, release_cell
from proxid.lab.studies.thesis.chapter3 import release_without_restriction
from proxid.lab.studies.thesis.figures.cost import draw_3_4, draw_3_5
from proxid.lab.studies.thesis.figures.utility import draw_4_11
from proxid.lab.studies.thesis.mix_table import mix_rows, needed
from proxid.lab.studies.thesis.plan import Cell, Plan, Source, fingerprint
from proxid.lab.studies.thesis.processes import PUBLISHED, measured
from proxid.lab.studies.thesis.report import content, page
from proxid.lab.studies.thesis.results import Results
from proxid.lab.studies.thesis.source import load_source
from proxid.lab.studies.thesis.tables import csv_text, linkage_rows

PARTS: dict[str, Any] = {
    "beside": beside, "excess": excess, "mix": mix_verdicts, "mix_cells": mix_rows, "content": content,
    "processes": lambda results: [],
}  # fmt: skip

SMALL = ["--rows", "3000", "--users", "200", "--k", "3,10", "--levels", "1,2", "--jobs", "1"]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> tuple[Plan, Path]:
    """A finished study of four cells."""
    plan, folder = Plan(Source(rows=3000, users=200), (10,), (1,)), tmp_path_factory.mktemp("study")
    assert len(runner.run_plan(plan, folder, jobs=1)) == 4
    return plan, folder


def test_what_is_finished_is_not_run_again(study: tuple[Plan, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """With every cell there no process is started; with one missing, that one runs."""
    plan, folder = study
    monkeypatch.setattr(runner, "_pool", None)
    kept = runner.run_plan(plan, folder, jobs=1)
    assert [result["cell"]["mode"] for result in kept] == ["thesis", "thesis3", "mix", "mix"]
    (folder / "cells" / "mix-k10-l1.json").unlink()
    with pytest.raises(TypeError):
        runner.run_plan(plan, folder, jobs=1)
    monkeypatch.undo()
    done: list[str] = []
    again = runner.run_plan(plan, folder, jobs=1, done=lambda cell, left: done.append(cell.name))
    assert done == ["mix-k10-l1"]
    assert again[2]["attacks"] == kept[2]["attacks"]  # the same seed gives the same cell


def test_tables_and_verdicts(study: tuple[Plan, Path]) -> None:
    plan, folder = study
    results = Results.of(plan, runner.run_plan(plan, folder, jobs=1))
    assert mix_verdicts(results)["records_over_bound"] == {"outsider": 0, "members": 0}
    assert mix_verdicts(results)["verdicts"]["different"] == 0
    rows = list(csv.DictReader(csv_text(linkage_rows(results)).splitlines()))
    assert {row["mode"] for row in rows} == {"thesis", "thesis3", "mix"}
    assert {row["what"] for row in beside(results)} >= {"utility lost, ℓ = 1", "best de-anonymiser, lowest k"}
    over = {row["mode"]: row["informed_over_claimed"] for row in excess(results)}
    assert over["thesis"] > 1
    assert "42.03" in page(results, {name: found(results) for name, found in PARTS.items()}, [])
    figure = draw_4_11(results, folder / "figures")
    assert [path.suffix for path in figure] == [".png", ".svg"]
    assert all(path.stat().st_size > 1000 for path in figure)


def test_delta_costs_no_time_and_decides_how_far_k_grows(study: tuple[Plan, Path]) -> None:
    """Figures 3.4 and 3.5: only where users lie together does a category's k grow, and further with δ."""
    plan, folder = study
    results = Results.of(plan, runner.run_plan(plan, folder, jobs=1))
    rows = results.get(Cell("thesis3", 10, 1), "chapter3", "growth")
    by_user = {row["delta"]: row["mean_k"] for row in rows if row["order"] == "user"}
    by_time = {row["mean_k"] for row in rows if row["order"] == "time"}
    assert by_user[3.0] > by_user[1.1] > 10 and min(by_time) >= 10
    assert min(by_user.values()) > min(by_time)
    files = [*draw_3_4(results, folder / "figures"), *draw_3_5(results, folder / "figures")]
    assert all(path.stat().st_size > 1000 for path in files)


def test_records_under_their_owner_are_not_why_de_anonymisers_find_so_much(study: tuple[Plan, Path]) -> None:
    plan, folder = study
    results = Results.of(plan, runner.run_plan(plan, folder, jobs=1))
    found = results.get(Cell("thesis3", 10, 1), "chapter3")
    assert found["matches"] > 0
    assert found["best_without_own"] > 0.0189, "what the thesis prints for k = 3"
    (said,) = [
        row["remark"] for row in beside(results) if row["what"] == "records left under their own owner, k growing"
    ]
    assert "own issuer" in said


def test_own_texts_are_texts_that_two_people_ask() -> None:
    """None is published under its owner, but under somebody else who asked it too."""
    batch, known = load_source(Source(rows=4000, users=200))
    shared, _ = release_cell(batch, known, Cell("thesis", 3, 13), 1)
    assert not (shared.released.user == shared.owner).any()
    assert own_texts(shared) > 0
    names = [f"{known.query[q]} {u}" for q, u in zip(batch.query.tolist(), batch.user.tolist(), strict=True)]
    alone, _ = release_cell(replace(batch, query=known.query.encode(names)), known, Cell("thesis", 3, 13), 1)
    assert own_texts(alone) == 0


@pytest.mark.slow
def test_processes_of_chapter_3_have_times_and_memory() -> None:
    rows = {row["process"]: row for row in measured(1)}
    assert set(rows) == set(PUBLISHED)
    assert all(row["us"] > 0 for row in rows.values())
    assert rows["classifier"]["us"] > rows["profiler"]["us"], "as in the thesis"
    assert rows["deanon3"]["kib"] >= rows["deanon1"]["kib"]


@pytest.mark.slow
def test_the_table_of_mode_mix(study: tuple[Plan, Path]) -> None:
    """A row a cell; every test has a verdict, and what is undecided says how many records it takes."""
    plan, folder = study
    (row,) = mix_rows(Results.of(plan, runner.run_plan(plan, folder, jobs=1)))
    assert row["equal"] + row["undecided"] + row["different"] == plan.tests
    assert (row["over_outsider"], row["over_members"]) == (0, 0)
    assert row["needed"] > row["records"]


def test_a_cell_of_which_nothing_was_released_is_a_row_of_no_records(study: tuple[Plan, Path]) -> None:
    """As a k over what a small log holds: the adversaries say why there is nothing to guess."""
    plan, folder = study
    results = Results.of(plan, deepcopy(runner.run_plan(plan, folder, jobs=1)))
    for cell, result in results.cells.items():
        if cell.mode == "mix":
            result["attacks"] = {name: {"reason": "nothing was released"} for name in result["attacks"]}
    (row,) = mix_rows(results)
    assert (row["records"], row["equal"], row["z"], row["over_outsider"]) == (0, 0, None, 0)
    found = {name: part(results) for name, part in PARTS.items()}
    assert "| 10 | 1 | 0 | 0 | 0 | 0 |" in page(results, found, [])


def test_needed_records_decide() -> None:
    """With so many records the interval and two standard deviations fit into a tenth: width falls with the root."""
    test = {"bound": 0.02, "expected": 0.1, "records": 1000}
    width = NormalDist().inv_cdf(1 - 0.01 / 300 / 2)
    half = test["bound"] * (test["records"] / needed(test, 300)) ** 0.5
    assert half * (1 + 2 / width) == pytest.approx(0.01, rel=0.001)


@pytest.mark.slow
def test_command_runs_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "study"
    assert main(["study", "thesis", "--out", str(out), *SMALL, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["mix"]["verdicts"]["different"] == 0
    assert found["mix"]["records_over_bound"] == {"outsider": 0, "members": 0}
    names = {path.stem for path in (out / "figures").glob("*.png")}
    numbers = ["3.4", "3.5", "3.6", "3.7", "3.8", *(f"4.{i}" for i in range(6, 20))]
    assert names == {*(f"figure-{number}" for number in numbers), "beyond-excess", "beyond-mix"}
    assert {path.stem for path in (out / "figures").glob("*.svg")} == names


@pytest.mark.slow
def test_command_resumes(tmp_path: Path) -> None:
    out = tmp_path / "study"
    assert main(["study", "thesis", "--out", str(out), *SMALL, "--json"]) == 0
    kept = {path.name: path.stat().st_mtime_ns for path in (out / "cells").glob("*.json")}
    (out / "cells" / "mix-k3-l2.json").unlink()
    assert main(["study", "thesis", "--out", str(out), *SMALL, "--json"]) == 0
    again = {path.name: path.stat().st_mtime_ns for path in (out / "cells").glob("*.json")}
    assert {name for name in kept if kept[name] != again[name]} == {"mix-k3-l2.json"}


def test_a_cell_of_another_study_is_not_taken(tmp_path: Path) -> None:
    plan = Plan(Source(rows=1000, users=50), (3,), (1,), ("thesis",))
    cell, digest = plan.cells()[0], plan.source.digest
    mark = fingerprint(plan, digest, cell)
    (tmp_path / "cells").mkdir()
    path = tmp_path / "cells" / f"{cell.name}.json"
    path.write_text(json.dumps({"fingerprint": mark, "cell": {}}))
    assert runner.finished(tmp_path, cell, mark) is not None
    other = Plan(Source(rows=1000, users=50, seed=2), (3,), (1,), ("thesis",))
    assert runner.finished(tmp_path, cell, fingerprint(other, other.source.digest, cell)) is None
    path.write_text("{")
    with pytest.raises(InputError, match="cannot be read"):
        runner.finished(tmp_path, cell, mark)


def test_plans_are_checked() -> None:
    for wrong in ({"ks": ()}, {"ks": (1,)}, {"levels": (-1,)}, {"modes": ()}):
        with pytest.raises(InputError):
            Plan(Source(), **wrong)
    assert len(Plan(Source()).cells()) == 3 * 25 + 5
    assert Plan(Source()).tests == 12 * 25


def test_a_missing_log_cannot_be_studied(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        runner.run_plan(Plan(Source(file=str(tmp_path / "none.tsv")), (3,), (1,)), tmp_path, jobs=1)


def test_chapter_3_without_restriction_releases_all_but_k_minus_one_a_node() -> None:
    """Of one user's records all leave under their owner: the case that figure 3.6 calls A(NR)."""
    node = np.array([0] * 20 + [7] * 9, np.int32)
    user, origin = release_without_restriction(np.full(29, 4, np.int32), node, 5, seed=1)
    assert len(user) == (20 - 4) + (9 - 4)
    assert len(set(origin.tolist())) == len(origin)
    assert (user == 4).all()
    assert Cell("thesis3", 5, 1).name == "thesis3-k5-l1"
