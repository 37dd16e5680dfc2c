"""The release methods of 003 and 004 end to end on small logs: files, guarantees, refusals, budgets (DESIGN 13)."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from proxid.errors import BudgetError, ConfigError, InputError
from proxid.lab.logs import read_log
from proxid.lab.release.ledger import Ledger
from proxid.lab.release.published import Published, read_published, write_published
from proxid.lab.release.registry import Job, Outcome, load_method
from proxid.lab.release.sessions.method import clicks_beside

NOISY = ("zealous", "partition", "sessions", "clicks")
USERS = 80


@pytest.fixture
def log_file(tmp_path: Path) -> Path:
    """80 users ask the same two queries within a session and click; each has one query of the own; two bad rows."""
    lines = ["AnonID\tQuery\tQueryTime\tItemRank\tClickURL"]
    for user in range(USERS):
        lines += [
            f"u{user}\tweather\t2006-03-01 10:00:00\t1\thttp://weather.example",
            f"u{user}\tweather\t2006-03-01 10:00:30\t2\thttp://weather.example",
            f"u{user}\tnew york map\t2006-03-01 10:05:00\t\t",
            f"u{user}\tmine {user}\t2006-03-02 10:00:00\t1\thttp://own{user}.example",
        ]
    lines += ["\tno user\t2006-03-01 10:00:00\t\t", "u1\ttoo\tmany\tcells\there\tby\tfar\tindeed"]
    path = tmp_path / "log.tsv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def run(name: str, source: Path, output: Path, seed: int | None = None, **options: Any) -> Outcome:
    method = load_method(name)
    if name in NOISY:
        options = {"ledger": str(source.parent / "ledger.json"), **options}
    return method.run(Job(source, output, method.checked(options), seed))


@pytest.mark.parametrize("ending", ["tsv", "jsonl", "parquet", "tsv.gz"])
def test_zealous_publishes_frequent_items_and_states_its_guarantee(log_file: Path, tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"out.{ending}"
    outcome = run("zealous", log_file, out, m=2, epsilon=2.0, delta=1e-3, users=100)
    published = read_published(out).as_dict()
    # counts of 80 with noise of scale 2: over tau' (about 32) but for e^-24, within 60 of 80 but for e^-30
    assert set(published) == {("weather",), ("new york map",)}
    assert all(20 < count < 140 for count in published.values())
    assert outcome.guarantee == {
        "kind": "differential privacy", "unit": "user", "epsilon": 2.0, "delta": 1e-3,
        "delta_kind": "probabilistic", "relation": "replace",
    }  # fmt: skip
    assert outcome.records_in == 4 * USERS
    assert sum(outcome.bad_rows.values()) == 2
    details = outcome.details
    assert details["plan"]["lambda"] == 2.0
    assert details["users"] == {"value": 100, "source": "declared"}
    assert "seed" in details["seed_policy"]
    assert details["warnings"] == []
    assert details["ledger"]["spent"]["epsilon"] == 2.0
    assert json.loads(json.dumps(details)) == details


@pytest.mark.parametrize(("kind", "item"), [("keywords", ("york",)), ("pairs", ("weather", "new york map"))])
def test_zealous_publishes_keywords_and_pairs(log_file: Path, tmp_path: Path, kind: str, item: tuple[str, ...]) -> None:
    run("zealous", log_file, tmp_path / "out.tsv", items=kind, m=4, epsilon=8.0, delta=1e-3)
    assert item in read_published(tmp_path / "out.tsv").as_dict()


def test_partition_publishes_and_names_the_threshold_zealous_would_have(log_file: Path, tmp_path: Path) -> None:
    outcome = run("partition", log_file, tmp_path / "out.tsv", m=2, epsilon=2.0, delta=1e-3)
    assert {("weather",), ("new york map",)} == set(read_published(tmp_path / "out.tsv").as_dict())
    assert outcome.guarantee["delta_kind"] == "approximate"
    assert outcome.details["plan"]["threshold"] < outcome.details["plan"]["zealous_tau_prime"]
    assert outcome.details["users"]["value"] == USERS


def test_sessions_with_clicks_cost_the_sum_and_charge_it(log_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    outcome = run("sessions", log_file, out, with_clicks=True)
    assert read_published(out).items == [("weather", "new york map")]
    assert read_published(clicks_beside(out)).items[0] == ("weather", "http://weather.example")
    assert outcome.outputs == [out, clicks_beside(out)]
    assert outcome.guarantee["epsilon"] == pytest.approx(16.0)
    (account,) = Ledger(tmp_path / "ledger.json").accounts().values()
    assert account.spent().epsilon == pytest.approx(16.0)
    assert account.entries[0].mechanism == "sessions + clicks"


def test_a_release_past_the_budget_is_refused_and_leaves_nothing(log_file: Path, tmp_path: Path) -> None:
    budget = {"budget_epsilon": 10.0, "budget_delta": 1e-3, "budget_relation": "add-remove"}
    run("sessions", log_file, tmp_path / "first.tsv", **budget)
    with pytest.raises(BudgetError):
        run("clicks", log_file, tmp_path / "second.tsv")
    assert not (tmp_path / "second.tsv").exists()


def test_parts_of_users_are_paid_for_in_parallel(log_file: Path, tmp_path: Path) -> None:
    for part in range(3):
        outcome = run("clicks", log_file, tmp_path / f"{part}.tsv", part=f"{part}/3", K=12.0)
        assert outcome.details["ledger"]["spent"]["epsilon"] == pytest.approx(8.0)
    with pytest.raises(BudgetError):
        run("clicks", log_file, tmp_path / "all.tsv", K=12.0)


@pytest.mark.parametrize("name", [*NOISY, "ka", "k-query"])
def test_no_method_takes_a_seed(log_file: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="seed"):
        run(name, log_file, tmp_path / "out.tsv", seed=1)
    assert not (tmp_path / "out.tsv").exists()


def test_parameters_without_a_guarantee_are_refused_before_the_log_is_read(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere.tsv"
    for name, options in (
        ("zealous", {"delta": 0.0}),
        ("zealous", {"tau_prime": 3.0, "users": 10}),
        ("partition", {"epsilon": 0.0}),
        ("sessions", {"K": 3.0}),
        ("clicks", {"b": 0.0}),
    ):
        with pytest.raises(ConfigError):
            run(name, nowhere, tmp_path / "out.tsv", **options)
    with pytest.raises(InputError):
        run("zealous", nowhere, tmp_path / "out.tsv")


def test_a_declared_number_of_users_that_is_too_low_is_refused(log_file: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="users"):
        run("zealous", log_file, tmp_path / "out.tsv", m=2, users=USERS // 2)
    assert not Ledger(tmp_path / "ledger.json").accounts()


@pytest.mark.parametrize("ending", ["tsv", "jsonl"])
def test_an_empty_log_publishes_nothing(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"empty.{ending}"
    path.write_text("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n" if ending == "tsv" else "")
    for name in (*NOISY, "ka", "k-query"):
        ledger = {"ledger": str(tmp_path / f"{name}.json")} if name in NOISY else {}
        outcome = run(name, path, tmp_path / "out.tsv", **ledger)
        assert (outcome.records_in, outcome.records_out) == (0, 0)


def test_times_may_be_missing_and_json_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    rows = [{"user": f"u{i}", "query": "weather"} for i in range(USERS)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run("partition", path, tmp_path / "out.tsv", m=1, epsilon=2.0, delta=1e-3)
    assert read_published(tmp_path / "out.tsv").items == [("weather",)]


@pytest.mark.parametrize("ending", ["tsv", "jsonl", "parquet"])
def test_a_log_without_times_is_released_without(tmp_path: Path, ending: str) -> None:
    (tmp_path / "log.tsv").write_text("".join(f"u{n}\tweather\t\t\t\tNews/Weather\n" for n in range(24)))
    outcome = run("kbuffer", tmp_path / "log.tsv", tmp_path / f"out.{ending}", k=3, ladder=False)
    batch, _ = read_log(tmp_path / f"out.{ending}")
    assert 0 < len(batch) == outcome.records_out
    assert np.isnan(batch.time).all()


def test_a_delta_over_one_in_u_is_flagged(log_file: Path, tmp_path: Path) -> None:
    outcome = run("zealous", log_file, tmp_path / "out.tsv", delta=0.1, users=1000)
    assert any("1/U" in warning for warning in outcome.details["warnings"])


def test_noise_is_fresh_in_every_run(log_file: Path, tmp_path: Path) -> None:
    """Two items, scale 4: no pair of rounded counts is likelier than 1/64, so five equal ones have chance 64^-4."""
    found = set()
    for number in range(5):
        ledger = str(tmp_path / f"ledger{number}.json")
        run("zealous", log_file, tmp_path / "out.tsv", m=2, epsilon=1.0, delta=0.01, ledger=ledger)
        found.add(tuple(read_published(tmp_path / "out.tsv").counts.tolist()))
    assert len(found) > 1


def test_ka_counts_distinct_users_and_says_that_it_guarantees_nothing(log_file: Path, tmp_path: Path) -> None:
    outcome = run("ka", log_file, tmp_path / "out.tsv", K=USERS - 1)
    assert read_published(tmp_path / "out.tsv").as_dict() == {("weather", "http://weather.example"): USERS}
    assert outcome.guarantee["kind"] == "frequency threshold"
    run("ka", log_file, tmp_path / "out.tsv", K=USERS)
    assert len(read_published(tmp_path / "out.tsv")) == 0


def test_k_query_drops_rare_queries_and_numbers_sessions(log_file: Path, tmp_path: Path) -> None:
    outcome = run("k-query", log_file, tmp_path / "out.tsv", k=USERS)
    batch, reader = read_log(tmp_path / "out.tsv")
    texts = Counter(reader.dictionaries.query.decode(batch.query))
    assert texts == {"weather": 2 * USERS, "new york map": USERS}
    assert outcome.suppressed == {"query of fewer than k users": USERS}
    names = reader.dictionaries.user.decode(batch.user)
    assert len(set(names)) == USERS  # one session a user; the session with the rare query is gone
    assert not any(name.startswith("u") for name in names)
    assert names == [name for name in dict.fromkeys(names) for _ in range(3)]  # whole sessions, by random number


def test_published_files_are_sorted_by_what_they_show(tmp_path: Path) -> None:
    release = Published(("query", "url"), [("a", "x"), ("b\tc", "y\nz")], np.array([5, 3]))
    write_published(tmp_path / "p.tsv", release)
    assert read_published(tmp_path / "p.tsv").items == [("a", "x"), ("b c", "y z")]
    write_published(tmp_path / "p.jsonl", release)
    assert read_published(tmp_path / "p.jsonl").items == release.items
    (tmp_path / "bad.tsv").write_text("user\tquery\n1\t2\n")
    with pytest.raises(InputError):
        read_published(tmp_path / "bad.tsv")
