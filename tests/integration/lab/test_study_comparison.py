"""`study all`: every mechanism stands in one table on one log, and what the table says is what can be counted."""

import json
from pathlib import Path

import numpy as np
import pytest

from proxid.cli.main import main
from proxid.lab.logs import Layout, create_log, read_log
from proxid.lab.release.guarantee import Relation
from proxid.lab.release.registry import Job, load_method
from proxid.lab.release.sessions.plan import two_step_plan
from proxid.lab.studies.comparison import Plan, compare, guarantee_text, some_people
from proxid.lab.studies.entries import Entry, Kind, entries, two_step
from proxid.lab.studies.measures import profile_losses, true_pairs
from proxid.lab.studies.topical_log import ALL_TOPICS, LogShape, make_topical_log
from proxid.lab.studies.view import Original, People
from proxid.lab.utility.jsd import jensen_shannon
from proxid.ontology.wordnet import load


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(LogShape(60, 30.0, topics=ALL_TOPICS, unusual=0.1, vanity=0.02), tmp_path_factory.mktemp("study"))


def written(shape: LogShape, folder: Path) -> Path:
    batch, names = make_topical_log(load(), shape, 5)
    with create_log(folder / "log.tsv", Layout().having("category"), names) as out:
        out.write(batch)
    return folder / "log.tsv"


def test_every_paper_and_every_kind_of_release_is_in_the_table() -> None:
    every = entries(1000, 2.0)
    assert {entry.paper.rstrip("+") for entry in every} == {"Sánchez", "Erola", "Pàmies", "Götz", "Zhang"}
    assert {entry.kind for entry in every} == set(Kind)
    assert len({entry.label for entry in every}) == len(every)


@pytest.mark.parametrize(
    ("sensitivity", "epsilon", "delta", "parts"),
    [(1, 2.0, 1e-3, 1), (4, 1.0, 1e-5, 1), (2, 8.0, 1e-4, 1), (1, 2.0, 1e-4, 2)],
)
def test_the_two_step_mechanisms_get_the_same_epsilon_and_delta(
    sensitivity: int, epsilon: float, delta: float, parts: int
) -> None:
    found = two_step(sensitivity, epsilon, delta, parts)
    cost = each = two_step_plan(sensitivity, found["b"], found["K"]).guarantee
    for _ in range(parts - 1):
        cost = cost.and_then(each)
    replaced = cost.under(Relation.REPLACE)
    assert replaced.epsilon == pytest.approx(epsilon, rel=1e-6) and replaced.delta == pytest.approx(delta, rel=1e-3)


def test_every_form_stands_beside_what_the_strongest_attack_finds(tmp_path: Path) -> None:
    def chosen(users: int) -> list[Entry]:
        forms = ("kbuffer mix", "form split", "form cohort", "microaggregation k=3")
        return [entry for entry in entries(users, 2.0, k=3) if entry.label in forms]

    log = written(LogShape(250, 60.0), tmp_path)
    found = {row["mechanism"]: row for row in compare(Plan(log, tmp_path, chosen, "digest", k=3))}
    mix, split, cohort = (found[name]["attacks"] for name in ("kbuffer mix", "form split", "form cohort"))
    assert mix["em"]["owner"] > split["em"]["owner"]
    low, high = cohort["em"]["ci95"]
    error = (high - low) / 2 / 1.96
    assert abs((low + high) / 2 - 1 / 5) <= 3 * error, "1/n, within three standard errors"
    assert all({"leaf", "alias-link", "join"} <= set(attacks["links"]) for attacks in (mix, split, cohort))
    assert split["links"]["leaf"] == 0
    assert mix["best"]["claim"] == split["best"]["claim"] == 1 / 4
    assert found["form split"]["guarantee_text"] == "owner ≤ 1/5, members ≤ 1/4"
    micro = found["microaggregation k=3"]["attacks"]
    assert "links" not in micro
    assert micro["best"]["claim"] > micro["best"]["owner"] > 1 / 3


def test_a_budget_a_query_may_add_up_to_any_sum(tmp_path: Path) -> None:
    """000 §4, setting A: ε = 10 a query. Somebody who asks much has no guarantee left, and that is said."""
    rows = "".join(f"u\ttennis\t2006-03-01 10:{i:02d}:00\t\t\n" for i in range(60)) * 2
    source = tmp_path / "log.tsv"
    source.write_text("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n" + rows)
    job = Job(
        source, tmp_path / "out.tsv",
        load_method("semantic").checked({"epsilon": 10.0, "budget": "query", "ledger": str(tmp_path / "ledger")}),
    )  # fmt: skip
    outcome = load_method("semantic").run(job)
    assert outcome.records_out == 120
    assert outcome.details["ledger"]["spent"]["epsilon"] == 1200
    assert outcome.details["ledger"]["spent"]["kind"].startswith("no guarantee")


@pytest.mark.slow
def test_all_mechanisms_are_measured_on_one_log(log: Path, tmp_path: Path) -> None:
    rows = compare(Plan(log, tmp_path, lambda users: entries(users, 2.0, k=3), "digest", k=3))
    found = {row["mechanism"]: row for row in rows}
    assert set(found) == {entry.label for entry in entries(60, 2.0)} | {"the log itself"}
    assert all("guarantee_text" in row for name, row in found.items() if name != "the log itself")
    micro, semantic = found["microaggregation k=3"], found["semantic SQC2, ε/m"]
    assert micro["attacks"]["contribution"]["owner"] > 1 / 3
    assert semantic["attacks"]["best"]["owner"] == 1.0  # the person is public, what the person asked is noise
    assert semantic["people"]["true_pairs"] < micro["people"]["true_pairs"]
    assert found["k-query"]["published"]["single_issuer_texts"] == 0
    assert found["kbuffer thesis"]["tasks"]["frequent"]["coverage"] > 0.9
    for name in ("ZEALOUS probabilistic", "partition", "k_A"):
        assert "attacks" not in found[name]
    assert found["k_A"]["published"]["single_issuer_texts"] == 0
    for name in ("ZEALOUS probabilistic", "ZEALOUS indist.", "partition"):
        # A text of one person passes with a probability below delta = 1/120, for each of a few hundred texts.
        assert found[name]["published"]["single_issuer_texts"] < 0.05


def test_the_command_prints_and_writes(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "study",
        "all",
        str(log),
        "--only",
        "microaggregation",
        "--only",
        "partition",
        "--out",
        str(tmp_path),
        "--json",
    ]
    assert main(arguments) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["mechanism"] for row in found["mechanisms"]] == ["microaggregation k=3", "partition", "the log itself"]
    assert {Path(f).name for f in found["files"]} == {"all.json", "all.png", "all.svg", "all.manifest.json"}
    assert main(["study", "all", str(log), "--only", "no such thing"]) == 2


def test_profile_losses_are_those_of_the_definition(log: Path) -> None:
    batch, reader = read_log(log)
    names = reader.dictionaries
    original = Original(log, batch, names, {}, [], 2, 10)
    same = People(batch.user, batch.category, np.ones(len(batch)))
    nothing = profile_losses(original, same)
    assert nothing["jsd_1"] == pytest.approx(0) and nothing["emd"] == pytest.approx(0)
    assert nothing["people_without_release"] == 0 and true_pairs(original, same) == 1.0
    # Another assignment of the same records, against dense tables and a walk over the tree.
    rng = np.random.default_rng(1)
    other = People(rng.permutation(batch.user), batch.category, np.ones(len(batch)))
    found = profile_losses(original, other)
    users, tree = len(names.user), names.tree
    above = tree.ancestors(1)[batch.category]
    tables = [np.zeros((users, len(tree))) for _ in range(2)]
    for table, user in zip(tables, (batch.user, other.user), strict=True):
        np.add.at(table, (user, above), 1)
    assert found["jsd_1"] == pytest.approx(float(jensen_shannon(*tables).mean()))
    moved = np.zeros(users)
    for node in range(1, len(tree)):
        below = np.array([_under(tree.parent, node, c) for c in range(len(tree))])
        mass = [np.bincount(u[below[batch.category]], minlength=users) / np.bincount(u, minlength=users)
                for u in (batch.user, other.user)]  # fmt: skip
        moved += np.abs(mass[0] - mass[1])
    assert found["emd"] == pytest.approx(float(moved.mean()) / (2 * int(tree.depth.max())))
    half = People(batch.user[batch.user > 0], batch.category[batch.user > 0], np.ones(int((batch.user > 0).sum())))
    assert profile_losses(original, half)["people_without_release"] == pytest.approx(1 / users)


def _under(parent: np.ndarray, node: int, code: int) -> bool:
    while code > node:
        code = int(parent[code])
    return code == node


def test_guarantees_in_a_few_words() -> None:
    assert (
        guarantee_text({"kind": "none", "claimed": "1/10 (Pàmies-Estrems 2020)"})
        == "none (claimed 1/10 (Pàmies-Estrems 2020))"
    )
    assert guarantee_text({"kind": "differential privacy", "epsilon": 2.0, "delta": 0.0}) == "(2, 0)-DP a user"


def test_of_a_larger_log_whole_histories_are_taken(log: Path) -> None:
    batch, _ = read_log(log)
    part = some_people(batch, len(batch) // 3, seed=1)
    held, whole = np.bincount(part.user), np.bincount(batch.user)
    assert 0 < len(part) <= len(batch) // 3 and len(part) > len(batch) // 4
    assert all(held[user] == whole[user] for user in np.unique(part.user).tolist())
    assert some_people(batch, len(batch), 1) is batch and some_people(batch, None, 1) is batch
    assert len(np.unique(some_people(batch, 1, 1).user)) == 2
