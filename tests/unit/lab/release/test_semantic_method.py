"""The methods semantic, nsqc and hbdp on a small file: what leaves, what the manifest says, what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest

from proxid.errors import BudgetError, ConfigError, InputError
from proxid.lab.concepts import ConceptMapper
from proxid.lab.logs.files import read_log
from proxid.lab.release.registry import Job, load_method
from proxid.lab.release.semantic import budget as budgets
from proxid.lab.release.semantic.hbdp import bound_user, discrete_laplace, noisy_histogram, sensitivity
from proxid.lab.release.semantic.hbdp_method import release as release_hbdp
from proxid.lab.release.semantic.method import release
from proxid.lab.release.semantic.quality import Criterion
from proxid.lab.release.semantic.reconstruct import TEMPLATES, from_templates, put_back
from proxid.lab.utility.jsd import jensen_shannon
from proxid.ontology.wordnet import load

LOG = """AnonID\tQuery\tQueryTime\tItemRank\tClickURL
1\tbest treatments for severe asthma\t2006-03-01 10:00:00\t1\thttp://x.example
1\ttennis\t2006-03-01 10:01:00\t\t
1\tjohn smith 12 elm street\t2006-03-01 10:02:00\t\t
2\tchess tournament and lung cancer\t2006-03-01 11:00:00\t\t
2\tastronomy\t2006-03-01 11:00:30\t\t
3\tqwxz\t2006-03-01 11:00:30\t\t
"""


def job(tmp_path: Path, method: str = "semantic", more: str = "", **options: object) -> Job:
    source = tmp_path / "log.tsv"
    source.write_text(LOG + more)
    options.setdefault("ledger", str(tmp_path / "ledger.json"))
    return Job(source, tmp_path / "out.tsv", load_method(method).checked(options), truth=tmp_path / "truth.tsv")


def test_every_phrase_in_the_domains_is_replaced_and_nothing_else_leaves(tmp_path: Path) -> None:
    asked = job(tmp_path, epsilon=0.01)
    outcome = release(asked, Criterion.SQC2, np.random.default_rng(1).bytes)
    batch, log = read_log(asked.output)
    users = [log.dictionaries.user[u] for u in batch.user.tolist()]
    assert sorted(users) == ["1", "1", "2", "2", "2"]
    assert outcome.records_out == 5
    assert outcome.suppressed == {"no concept in the domains": 2, "over the budget": 0}
    text = asked.output.read_text()
    assert all(
        secret not in text for secret in ("elm", "john", "x.example", "2006", "qwxz", "severe", "treatments for")
    )
    assert outcome.guarantee["kind"] == "differential privacy" and outcome.guarantee["epsilon"] == 0.01
    assert all(log.dictionaries.category[c] for c in batch.category.tolist())


def test_truth_names_the_record_each_output_came_from(tmp_path: Path) -> None:
    asked = job(tmp_path, epsilon=1.0)
    release(asked, Criterion.SQC1, np.random.default_rng(1).bytes)
    batch, log = read_log(asked.output)
    rows = [int(line.split("\t")[1]) for line in (asked.truth or Path()).read_text().splitlines()]
    assert sorted(rows) == [0, 1, 3, 3, 4]
    names = [log.dictionaries.user[u] for u in batch.user.tolist()]
    assert all(name == ("1" if row < 3 else "2") for name, row in zip(names, rows, strict=True))


def test_at_a_large_budget_concepts_come_back(tmp_path: Path) -> None:
    asked = job(tmp_path, epsilon=40.0, budget="query")
    outcome = release(asked, Criterion.NSQC, np.random.default_rng(1).bytes)
    text = asked.output.read_text()
    assert all(word in text for word in ("asthma", "tennis", "lung cancer", "astronomy"))
    assert outcome.guarantee["epsilon"] is None and outcome.guarantee["epsilon_per_query"] == 40.0


def test_the_papers_reconstruction_says_that_it_gives_no_guarantee(tmp_path: Path) -> None:
    asked = job(tmp_path, epsilon=1.0, reconstruct="put-back")
    outcome = release(asked, Criterion.SQC2, np.random.default_rng(1).bytes)
    assert outcome.guarantee["kind"] == "none"
    assert "severe" in asked.output.read_text()  # the leak that takes the guarantee away


@pytest.mark.parametrize(
    ("query", "concepts", "expected"),
    [
        ("the new Apple phones", ["tablet.n.01"], "the new apple tablets"),
        (
            "stores offering the new Apple phones",
            ["market.n.01", "tablet.n.01"],
            "markets offering the new apple tablets",
        ),
        ("history of art", ["geology.n.01"], "geology of"),  # "art" is mapped too, but was withheld
        ("treatment of zzkj", ["cure.n.01"], "remedy of"),  # what has no concept does not return
        ("field hockey", ["chess.n.02"], "chess"),
    ],
)
def test_put_back_restores_the_query_around_the_new_concepts(query: str, concepts: list[str], expected: str) -> None:
    wordnet = load()
    phrases = ConceptMapper(wordnet, range(len(wordnet)))(query)
    replaced = list(zip(phrases, map(wordnet.concept, concepts), strict=False))
    assert put_back(wordnet, query, replaced) == expected


def test_templates_do_not_look_at_the_original() -> None:
    wordnet = load()
    texts = from_templates(wordnet, [wordnet.concept("asthma.n.01")] * 4000, np.random.default_rng(2).bytes)
    assert set(texts) == {t.format("asthma") for t in TEMPLATES}


def test_a_seed_is_refused(tmp_path: Path) -> None:
    for method in ("semantic", "nsqc", "hbdp"):
        asked = job(tmp_path, method)
        seeded = Job(asked.source, asked.output, asked.options, seed=1)
        with pytest.raises(ConfigError):
            load_method(method).run(seeded)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, float("nan"), float("inf")])
def test_an_epsilon_without_guarantee_is_refused(tmp_path: Path, epsilon: float) -> None:
    for name, options in (("semantic", {}), ("semantic", {"budget": "stream"}), ("nsqc", {}), ("hbdp", {})):
        asked = job(tmp_path, name, epsilon=epsilon, **options)
        with pytest.raises(ConfigError):
            load_method(name).run(asked)
        assert not asked.output.exists()


def test_streaming_spends_over_releases_and_then_refuses(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    counts = []
    for day in range(3):
        asked = job(
            tmp_path, more=f"3\tday {day}\t\t\t\n", epsilon=1.0, budget="stream", max_queries=4, state=str(state)
        )
        outcome = release(asked, Criterion.SQC2, np.random.default_rng(1).bytes)
        counts.append((outcome.records_out, outcome.suppressed["over the budget"]))
    # User 1 has 2 phrases a release, user 2 has 3; 4 each in all.
    assert counts == [(5, 0), (3, 2), (0, 5)]
    assert state.stat().st_mode & 0o077 == 0
    assert json.loads(state.read_text())["spent"] == {"1": 4, "2": 4}
    with pytest.raises(InputError):  # the counts would mean another price
        budgets.load_stream_budget(state, 2.0, 4)
    state.write_text("{")
    with pytest.raises(InputError):
        budgets.load_stream_budget(state, 1.0, 4)


def test_a_users_phrases_share_the_budget() -> None:
    user = np.array([0, 1, 1, 1, 2, 2])
    each = budgets.per_user(user, 1.5)
    np.testing.assert_allclose(np.bincount(user, each), [1.5, 1.5, 1.5])
    np.testing.assert_allclose(budgets.per_query(user, 1.5), 1.5)


def test_hbdp_noise_is_the_discrete_laplace_that_costs_epsilon() -> None:
    # Pearson's statistic against P(k) = (1-a)/(1+a) a^|k|, a = e^(-epsilon/2M); the tails beyond 20 are one cell each.
    # Laurent & Massart: P(chi2_d >= d + 2 sqrt(d x) + 2x) <= e^-x, with e^-x = 1e-9.
    epsilon, maximum, n = 1.5, 3, 100_000
    values = discrete_laplace(epsilon, maximum)(np.zeros(n, np.int64))
    a = np.exp(-epsilon / (2 * maximum))
    k = np.arange(-20, 21)
    expected = n * np.r_[a**21 / (1 + a), (1 - a) / (1 + a) * a ** np.abs(k), a**21 / (1 + a)]
    seen = np.r_[(values < -20).sum(), [(values == x).sum() for x in k], (values > 20).sum()]
    d, x = len(expected) - 1, 9 * np.log(10)
    bound = d + 2 * np.sqrt(d * x) + 2 * x
    assert ((seen - expected) ** 2 / expected).sum() < bound
    # Half the noise is told apart: the test has power.
    half = discrete_laplace(2 * epsilon, maximum)(np.zeros(n, np.int64))
    seen = np.r_[(half < -20).sum(), [(half == x).sum() for x in k], (half > 20).sum()]
    assert ((seen - expected) ** 2 / expected).sum() > bound


def test_the_paper_s_sensitivity_would_lose_less_than_hbdp_does() -> None:
    """000 has M where it takes 2M to replace a user: what HBDP loses at D = P is not that the paper loses more."""
    counts = np.random.default_rng(1).poisson(5.0, (400, 19))
    lost = []
    for epsilon in (2.0, 4.0):  # twice ε is half the noise, M for 2M
        noisy = discrete_laplace(epsilon, 20)(counts.ravel()).reshape(counts.shape)
        lost.append(jensen_shannon(counts.astype(float), np.maximum(noisy, 0).astype(float)).mean())
    # Means over 400 people of values that spread by about 0.1: they stay apart by many standard errors.
    assert lost[1] < lost[0] - 0.02


def test_hbdp_adds_noise_of_scale_2m_over_epsilon_and_bounds_users() -> None:
    # Discrete Laplace with scale s: P(k) = (1-a)/(1+a) a^|k|, a = e^(-1/s); var = 2a/(1-a)^2. With n = 200,000
    # samples the mean square errs by more than 6 standard errors with probability < 1e-8 (kurtosis 6).
    assert sensitivity(7) == 14
    noise = discrete_laplace(2.0, 7)
    values = noise(np.zeros(200_000, np.int64)).astype(float)
    a = np.exp(-2.0 / 14)
    variance = 2 * a / (1 - a) ** 2
    assert abs((values**2).mean() / variance - 1) < 6 * np.sqrt(5.2 / 200_000)
    assert (noisy_histogram(np.array([3, 3]), 10, noise) >= 0).all()
    kept = bound_user(np.arange(50), 7, np.random.default_rng(1).bytes)
    assert len(set(kept.tolist())) == 7
    with pytest.raises(ConfigError):
        discrete_laplace(1.0, 0)


def test_hbdp_writes_counts_of_every_user(tmp_path: Path) -> None:
    asked = job(tmp_path, "hbdp", epsilon=700.0, max_queries=2)
    outcome = release_hbdp(asked, np.random.default_rng(1).bytes)
    assert (outcome.details["bins"], outcome.details["sensitivity"]) == (1476, 4)
    assert outcome.suppressed["over max_queries"] == 1
    lines = [line.split("\t") for line in asked.output.read_text().splitlines()[1:]]
    assert {(u, c) for u, c, _, n in lines if n == "1"} >= {("1", "asthma.n.01"), ("1", "tennis.n.01")}


def test_releases_of_one_log_add_up_and_are_refused_past_its_budget(tmp_path: Path) -> None:
    def again(method: str, **options: object) -> dict[str, float]:
        asked = job(tmp_path, method, budget_epsilon=3.0, budget_relation="replace", **options)
        spent: dict[str, float] = load_method(method).run(asked).details["ledger"]["spent"]
        return spent

    assert again("semantic", epsilon=1.0)["epsilon"] == 1.0
    assert again("hbdp", epsilon=0.5)["epsilon"] == 1.5
    # Epsilon a query costs the user with most noun phrases (3) three times epsilon.
    assert again("nsqc", epsilon=0.5, budget="query")["epsilon"] == 3.0
    with pytest.raises(BudgetError):
        again("semantic", epsilon=0.1)
