"""A budget belongs to a dataset or to the records of a log, is asked before work begins, and can be looked at."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from proxid.cli.main import main
from proxid.errors import BudgetError
from proxid.lab.logs.digest import digest_of, digest_of_records
from proxid.lab.release.account import Account, Entry, Part
from proxid.lab.release.guarantee import Guarantee, Relation
from proxid.lab.release.ledger import Ledger

HEADER = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
ROWS = [f"u{i % 20}\tquery {i % 7}\t2006-03-01 07:{i // 60 % 60:02d}:{i % 60:02d}\t\t\n" for i in range(140)]
REPLACE = Relation.REPLACE
Run = Callable[..., tuple[int, str, str]]


def _parquet(path: Path) -> None:
    cells = [row.rstrip("\n").split("\t") for row in ROWS]
    times = pa.array([cell[2] for cell in cells]).cast(pa.timestamp("us"))
    pq.write_table(pa.table({"time": times, "query": [c[1] for c in cells], "user": [c[0] for c in cells]}), path)


def _jsonl(path: Path) -> None:
    cells = [row.rstrip("\n").split("\t") for row in ROWS]
    rows = [{"query": c[1], "AnonID": c[0], "time": c[2].replace(" ", "T") + "Z", "category": "a/b"} for c in cells]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def forms(folder: Path) -> list[Path]:
    """One log: CR LF, without header, shuffled, packed, as JSON lines with a category, as Parquet."""
    text, mixed = HEADER + "".join(ROWS), list(ROWS)
    Random(1).shuffle(mixed)
    (folder / "crlf.tsv").write_bytes(text.replace("\n", "\r\n").encode())
    (folder / "bare.tsv").write_text("".join(ROWS))
    (folder / "mixed.tsv").write_text(HEADER + "".join(mixed))
    (folder / "packed.tsv.gz").write_bytes(gzip.compress(text.encode()))
    _jsonl(folder / "log.jsonl")
    _parquet(folder / "log.parquet")
    return sorted(folder.iterdir())


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "plain.tsv"
    path.write_text(HEADER + "".join(ROWS))
    return path


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*words: object) -> tuple[int, str, str]:
        capsys.readouterr()
        out = ["-o", str(tmp_path / "out.tsv")] if words[0] == "release" else []
        code = main([*map(str, words), *out, "--ledger", str(tmp_path / "l.json")])
        found = capsys.readouterr()
        return code, found.out, " ".join(found.err.split())

    return call


PARTITION = ("release", "--method", "partition", "--m", 5, "--epsilon", 1, "--delta", 1e-6)


def test_the_records_are_what_a_log_is_known_by(log: Path, tmp_path: Path) -> None:
    (tmp_path / "forms").mkdir()
    expected = digest_of_records(log)
    assert {path.name: digest_of_records(path) for path in forms(tmp_path / "forms")} == {
        path.name: expected for path in (tmp_path / "forms").iterdir()
    }
    for number, other in enumerate((ROWS[:-1], [*ROWS, ROWS[0]], [ROWS[0].replace("07:00:00", "07:00:01"), *ROWS[1:]])):
        (tmp_path / f"{number}.tsv").write_text("".join(other))
        assert digest_of_records(tmp_path / f"{number}.tsv") != expected


def test_every_form_of_a_log_pays_from_one_budget(log: Path, tmp_path: Path, run: Run) -> None:
    assert run(*PARTITION, log)[0] == 0
    (tmp_path / "forms").mkdir()
    for path in forms(tmp_path / "forms"):
        code, _, said = run(*PARTITION, path)
        assert code == 2 and "budget_exceeded: the release would exceed the log's budget: epsilon 2 of 1" in said
        assert "partition queries" in said and "l.json" in said
    assert len(Ledger(tmp_path / "l.json").accounts()) == 1


def test_the_budget_is_asked_before_anything_is_counted(log: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(*PARTITION, log)[0] == 0

    def never(*_: object) -> None:
        raise AssertionError("work has begun")

    for name in ("noisy.open_engine", "semantic.hbdp_method.load", "semantic.method.load"):
        monkeypatch.setattr(f"proxid.lab.release.{name}", never)
    for method in ("partition", "zealous", "sessions", "clicks", "hbdp", "semantic", "nsqc"):
        code, _, said = run("release", "--method", method, log)
        assert (code, "budget_exceeded" in said) == (2, True), said


def test_a_dataset_has_one_budget_whatever_its_files_hold(log: Path, tmp_path: Path, run: Run) -> None:
    less = tmp_path / "less.tsv"
    less.write_text("".join(ROWS[:-1]))
    assert run(*PARTITION, "--dataset", "aol", log)[0] == 0
    assert run(*PARTITION, "--dataset", "aol", less)[0] == 2
    assert run(*PARTITION, log)[0] == 2  # the file is known by its name now
    code, _, said = run(*PARTITION, "--dataset", "another", log)
    assert code == 2 and "charged to dataset aol" in said
    assert run(*PARTITION, "--dataset", "a/b", log)[0] == 2


def test_a_log_that_gets_a_name_keeps_what_it_spent(log: Path, tmp_path: Path, run: Run) -> None:
    assert run(*PARTITION, log)[0] == 0
    assert run(*PARTITION, "--dataset", "aol", log)[0] == 2
    (tmp_path / "forms").mkdir()
    for path in forms(tmp_path / "forms"):
        assert run(*PARTITION, path)[0] == 2
    assert list(Ledger(tmp_path / "l.json").accounts()) == ["dataset:aol"]


def test_epsilon_alone_may_be_declared_and_delta_counts(log: Path, run: Run) -> None:
    """As many deltas as releases like the first one fit into epsilon: 3."""
    for _ in range(3):
        assert run(*PARTITION, "--budget-epsilon", 3, log)[0] == 0
    assert run(*PARTITION, "--budget-epsilon", 3, log)[0] == 2
    account = Account(Guarantee(3.0, 0.0, REPLACE), declared=True)
    account = account.charged(Entry("", "", Part(), Guarantee(1.0, 1e-6, REPLACE)))
    assert account.allowed().delta == pytest.approx(3e-6)
    with pytest.raises(BudgetError, match="delta"):
        account.charged(Entry("", "", Part(), Guarantee(0.1, 1e-3, REPLACE)))
    assert account.declaring(Guarantee(3.0, 1e-2, REPLACE)).allowed().delta == 1e-2
    with pytest.raises(BudgetError, match="declared once"):
        account.declaring(Guarantee(4.0, 1e-2, REPLACE))


def test_an_account_of_a_ledger_from_before_is_taken_over(log: Path, tmp_path: Path, run: Run) -> None:
    """It knew a file by its bytes: what was spent on them counts for the records."""
    cost = {"epsilon": 1.0, "delta": 1e-6, "delta_kind": "approximate", "relation": "replace"}
    entry = {"time": "2026-01-01T00:00:00+00:00", "mechanism": "old", "part": [0, 1], **cost}
    old = {"version": 1, "inputs": {digest_of(log): {"budget": cost, "declared": True, "entries": [entry]}}}
    (tmp_path / "l.json").write_text(json.dumps(old))
    code, _, said = run(*PARTITION, log)
    assert code == 2 and "charged before: old" in said
    (tmp_path / "forms").mkdir()
    for path in forms(tmp_path / "forms"):
        assert run(*PARTITION, path)[0] == 2


def budget(run: Run, *words: object) -> tuple[int, Any]:
    code, out, _ = run("budget", *words, "--json")
    return code, json.loads(out)


def test_budgets_are_shown_and_asked(log: Path, run: Run) -> None:
    assert budget(run) == (0, {"ledger": budget(run)[1]["ledger"], "accounts": {}})
    assert run(*PARTITION, "--budget-epsilon", 3, "--budget-delta", 1e-5, log)[0] == 0
    code, found = budget(run, log)
    (account,) = found["accounts"].values()
    assert code == 0 and (account["name"], account["declared"]) == ("plain.tsv", True)
    assert account["spent"] == {"epsilon": 1.0, "delta": 1e-6}
    assert account["left"] == {"epsilon": 2.0, "delta": pytest.approx(9e-6)}
    assert [entry["mechanism"] for entry in account["releases"]] == ["partition queries"]
    assert budget(run, log, "--epsilon", 2, "--delta", 1e-6)[0] == 0
    code, found = budget(run, log, "--epsilon", 2.5)
    assert code == 1 and "epsilon 3.5 of 3" in found["refused"]
    assert run("budget", "--epsilon", 1)[0] == 2
    assert run("budget", log, "--epsilon", 0)[0] == 2
    code, out, _ = run("budget", log, "--epsilon", 2.5)
    assert code == 1 and "partition queries" in out and "refused" in out and "plain.tsv" in out


def test_an_experiment_charges_nothing_and_guarantees_nothing(log: Path, tmp_path: Path, run: Run) -> None:
    for method in ("partition", "zealous", "sessions", "clicks", "hbdp", "semantic", "nsqc"):
        for _ in range(2):  # the second would be refused, were the first paid for
            code, _, said = run("release", "--method", method, "--experiment", log)
            assert code == 0 and "no guarantee" in said and "nobody's data" in said, said
            manifest = json.loads((tmp_path / "out.tsv.manifest.json").read_text())
            guarantee = manifest["guarantee"]
            assert guarantee["kind"] == "none" and "experiment" in guarantee["why"]
            assert "epsilon" not in guarantee and guarantee["if_it_were_charged"]["epsilon"] > 0
            assert "ledger" not in manifest["details"]
    assert not (tmp_path / "l.json").exists()
    assert run(*PARTITION, log)[0] == 0, "nothing was spent"


def test_a_method_without_a_budget_takes_no_experiment(log: Path, tmp_path: Path, capsys: Any) -> None:
    for method in ("kbuffer", "k-query", "microaggregation"):
        assert main(["release", "--method", method, "--experiment", str(log), "-o", str(tmp_path / "o.tsv")]) == 2
        assert f"{method} charges no budget" in " ".join(capsys.readouterr().err.split())
