"""The exponential mechanism of 000: its distribution, its guarantee from the exact tables, broken variants caught."""

import math
from decimal import Decimal, getcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from proxid.errors import ConfigError, InputError
from proxid.lab.release.semantic.domain import Domain, build_domains
from proxid.lab.release.semantic.exponential import MAX_EPSILON, draw, probabilities, uniform_below, weights
from proxid.lab.release.semantic.mechanism import SemanticMechanism, build_mechanism
from proxid.lab.release.semantic.quality import Criterion, quality_row, quality_table, sensitivity
from proxid.lab.release.semantic.topics import EQUAL_SETTINGS, FOUR, NINETEEN, OTHER, SETTINGS, categorise
from proxid.lab.utility.jsd import jensen_shannon, profiles
from proxid.ontology.wordnet import WordNet, load

getcontext().prec = 60


@pytest.fixture(scope="module")
def wordnet() -> WordNet:
    return load()


@pytest.fixture(scope="module")
def domains(wordnet: WordNet) -> list[Domain]:
    return build_domains(wordnet, FOUR)[0]


@pytest.fixture(scope="module")
def topic(wordnet: WordNet) -> np.ndarray:
    return categorise(wordnet, NINETEEN)


def chi2_bound(degrees: int, alpha: float = 1e-9) -> float:
    """Laurent & Massart 2000, lemma 1: P(chi2_d >= d + 2 sqrt(d x) + 2x) <= e^-x, here with e^-x = alpha."""
    x = -math.log(alpha)
    return degrees + 2 * math.sqrt(degrees * x) + 2 * x


def chi2(observed: np.ndarray, expected: np.ndarray) -> tuple[float, int]:
    """Pearson's statistic and its degrees of freedom; cells expected below 20 are put together."""
    small = expected < 20
    o = np.r_[observed[~small], observed[small].sum()] if small.any() else observed
    e = np.r_[expected[~small], expected[small].sum()] if small.any() else expected
    o, e = o[e > 0], e[e > 0]
    return float(((o - e) ** 2 / e).sum()), len(o) - 1


# --- similarity and domains -------------------------------------------------------------------------------------


def ancestors(wordnet: WordNet, domain: Domain, concept: int) -> frozenset[int]:
    """S(c) written from its definition."""
    inside, found, todo = set(domain.concepts.tolist()), {concept}, [concept]
    while todo:
        for parent in wordnet.parents(todo.pop()).tolist():
            if parent in inside and parent not in found:
                found.add(parent)
                todo.append(parent)
    return frozenset(found)


@pytest.mark.parametrize("number", range(4))
def test_similarity_is_the_formula_and_min_similarity_is_exact(
    wordnet: WordNet, domains: list[Domain], number: int
) -> None:
    domain = domains[number]
    above = [ancestors(wordnet, domain, c) for c in domain.concepts.tolist()]
    least = 1.0
    for i in range(len(domain)):
        row = domain.similarities(i)
        assert row[i] == 1.0 and (row >= 0).all() and (row <= 1).all()
        least = min(least, float(row.min()))
        if i % 37 == 0:
            expected = [1 - math.log2(1 + len(above[i] ^ s) / len(above[i] | s)) for s in above]
            np.testing.assert_allclose(row, expected, atol=1e-12)
            np.testing.assert_allclose(row, [domain.similarities(x)[i] for x in range(len(domain))], atol=1e-12)
    assert domain.min_similarity == least


def test_min_similarity_of_the_broad_domain_is_no_larger_than_on_a_sample(wordnet: WordNet) -> None:
    (domain,), _ = build_domains(wordnet, SETTINGS["B"].domains)
    sampled = min(float(domain.similarities(i).min()) for i in range(0, len(domain), 997))
    assert 0 < domain.min_similarity <= sampled


def test_settings_are_the_papers(wordnet: WordNet) -> None:
    assert len(SETTINGS["A"].domains) == 4 and len(SETTINGS["A"].topics) == 19
    assert len(SETTINGS["B"].domains) == 1 and len(SETTINGS["B"].topics) == 19
    assert len(SETTINGS["C"].domains) == 1 and len(SETTINGS["C"].topics) == 4
    four, nineteen = categorise(wordnet, FOUR), categorise(wordnet, NINETEEN)
    assert (four[nineteen != OTHER] != OTHER).all()  # the 19 are specialisations of the four
    assert set(nineteen[nineteen != OTHER].tolist()) == set(range(19))


# --- the guarantee, from the tables that are sampled ------------------------------------------------------------


def log_ratio(domain: Domain, criterion: Criterion, topic: np.ndarray, epsilon: float) -> tuple[float, int, int, int]:
    """Worst ln Pr(o|c)/Pr(o|c') over all inputs c, c' and outputs o of a domain, and where it is."""
    rho = topic[domain.concepts]
    table = np.array([probabilities(quality_table(domain, criterion, i, rho), epsilon) for i in range(len(domain))])
    ratio = np.log(table.max(0)) - np.log(table.min(0))
    o = int(ratio.argmax())
    return float(ratio[o]), int(table[:, o].argmax()), int(table[:, o].argmin()), o


def exact_probability(
    domain: Domain, criterion: Criterion, topic: np.ndarray, epsilon: float, i: int, o: int
) -> Fraction:
    """Pr(o|i) as the ratio of integers that sampling uses."""
    table = quality_table(domain, criterion, i, topic[domain.concepts])
    weight = [int(w) for w in weights(table, np.array([epsilon]))[0]]
    place = int(np.flatnonzero(table.members == o)[0])
    group = int(np.searchsorted(table.start, place, side="right")) - 1
    return Fraction(weight[group], sum(w * int(n) for w, n in zip(weight, table.sizes, strict=True)))


@pytest.mark.parametrize("criterion", list(Criterion))
@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 10.0, MAX_EPSILON])
def test_no_output_tells_two_inputs_apart_by_more_than_epsilon(
    domains: list[Domain], topic: np.ndarray, criterion: Criterion, epsilon: float
) -> None:
    for domain in domains[2:]:
        _, best, worst, o = log_ratio(domain, criterion, topic, epsilon)
        pair = [exact_probability(domain, criterion, topic, epsilon, i, o) for i in (best, worst)]
        ratio = pair[0] / pair[1]
        # Integers against e^epsilon to 60 digits: no floating point decides.
        assert Decimal(ratio.numerator) <= Decimal(ratio.denominator) * Decimal(epsilon).exp()


@pytest.mark.parametrize(("criterion", "factor"), [(Criterion.SQC1, 2), (Criterion.SQC2, 2), (Criterion.NSQC, 3)])
def test_too_little_noise_is_caught(
    domains: list[Domain], topic: np.ndarray, criterion: Criterion, factor: int
) -> None:
    # Half the noise is caught for the semantic criteria. NSQC's normalisers are all equal, so that it spends
    # exactly epsilon/2: doubling its exponent gives epsilon and is no violation, three times is.
    domain = domains[2]
    epsilon = 1.0
    spent, *_ = log_ratio(domain, criterion, topic, epsilon)
    broken, *_ = log_ratio(domain, criterion, topic, factor * epsilon)
    assert epsilon / 2 <= spent + 1e-9 and spent <= epsilon < broken


@pytest.mark.parametrize("criterion", list(Criterion))
def test_a_users_budget_holds_for_the_whole_log(domains: list[Domain], topic: np.ndarray, criterion: Criterion) -> None:
    # m independent draws at epsilon/m each: the worst log ratio of the joint output is the sum of the worst ones.
    epsilon, m = 1.0, 7
    each, *_ = log_ratio(domains[2], criterion, topic, epsilon / m)
    assert m * each <= epsilon
    whole, *_ = log_ratio(domains[2], criterion, topic, epsilon)  # broken variant: epsilon for every query
    assert m * whole > epsilon


@pytest.mark.parametrize("epsilon", [0.0, -1.0, float("nan"), float("inf"), 1e-12, 41.0])
def test_parameters_without_a_guarantee_are_refused(domains: list[Domain], topic: np.ndarray, epsilon: float) -> None:
    table = quality_table(domains[2], Criterion.SQC1, 0, topic[domains[2].concepts])
    with pytest.raises(ConfigError):
        weights(table, np.array([1.0, epsilon]))


def test_the_declared_sensitivity_is_reached_and_not_passed(domains: list[Domain], topic: np.ndarray) -> None:
    domain = domains[3]
    rho = topic[domain.concepts]
    for criterion in Criterion:
        rows = np.array([quality_row(domain, criterion, i, rho) for i in range(len(domain))])
        spread = float((rows.max(0) - rows.min(0)).max())
        assert spread <= sensitivity(domain, criterion) + 1e-12
        assert spread > 0.99 * sensitivity(domain, criterion)


# --- the sampled distribution -----------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", list(Criterion))
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_samples_follow_the_exact_distribution(
    domains: list[Domain], topic: np.ndarray, criterion: Criterion, epsilon: float
) -> None:
    domain, n = domains[2], 400_000
    rng = np.random.default_rng(11)
    for i in (0, 40, 120):
        rho = topic[domain.concepts]
        table = quality_table(domain, criterion, i, rho)
        # The theory straight from the formula, in floating point.
        theory = np.exp(epsilon * quality_row(domain, criterion, i, rho) / (2 * sensitivity(domain, criterion)))
        theory /= theory.sum()
        np.testing.assert_allclose(probabilities(table, epsilon), theory, rtol=1e-9)
        seen = np.bincount(draw(table, np.full(n, epsilon), rng.bytes), minlength=len(domain))
        statistic, degrees = chi2(seen, n * theory)
        assert statistic < chi2_bound(degrees)
        # And the test has power: the same sample does not fit twice the epsilon.
        other = probabilities(table, 2 * epsilon)
        statistic, degrees = chi2(seen, n * other)
        assert statistic > chi2_bound(degrees) or criterion is Criterion.NSQC


@settings(max_examples=40, deadline=None)
@example(limit=2**63 - 1, seed=0)
@example(limit=1, seed=0)
@given(limit=st.integers(1, 2**63 - 1), seed=st.integers(0, 2**32))
def test_uniform_below_stays_below(limit: int, seed: int) -> None:
    values = uniform_below(np.full(50, limit), np.random.default_rng(seed).bytes)
    assert len(values) == 50 and values.min() >= 0 and values.max() < limit


def test_uniform_below_has_no_modulo_bias() -> None:
    n, limit = 300_000, 48  # 64 values are drawn, 16 rejected
    seen = np.bincount(uniform_below(np.full(n, limit), np.random.default_rng(5).bytes), minlength=limit)
    statistic, degrees = chi2(seen, np.full(limit, n / limit))
    assert statistic < chi2_bound(degrees)


# --- the mechanism over a log -----------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", list(Criterion))
@pytest.mark.parametrize("name", ["A", "B", "C"])
def test_profiles_are_untouched_when_domains_are_the_topics(wordnet: WordNet, criterion: Criterion, name: str) -> None:
    setting = EQUAL_SETTINGS[name]
    mechanism = build_mechanism(wordnet, setting, criterion)
    rng = np.random.default_rng(3)
    inside = np.flatnonzero(mechanism.domain_of != OTHER)
    concepts, user = rng.choice(inside, 3000), rng.integers(0, 40, 3000)
    released = mechanism.protect(concepts, np.full(3000, 0.1), rng.bytes)
    assert (released != concepts).mean() > 0.5  # it did do something
    count = len(setting.topics)
    before, after = (profiles(user, mechanism.topic_of[c].astype(np.int64), 40, count) for c in (concepts, released))
    assert (jensen_shannon(before, after) == 0).all()


def test_outputs_keep_order_and_budget_of_each_input(wordnet: WordNet) -> None:
    mechanism = build_mechanism(wordnet, SETTINGS["A"], Criterion.SQC1)
    inside = np.flatnonzero(mechanism.domain_of != OTHER)
    rng = np.random.default_rng(4)
    concepts = rng.choice(inside, 4000)
    epsilon = np.where(np.arange(4000) % 2 == 0, MAX_EPSILON, 1e-3)
    released = mechanism.protect(concepts, epsilon, rng.bytes)
    assert (mechanism.domain_of[released] == mechanism.domain_of[concepts]).all()
    same = released == concepts
    assert same[::2].mean() > 0.9 and same[1::2].mean() < 0.05


def test_a_concept_outside_is_refused(wordnet: WordNet) -> None:
    mechanism: SemanticMechanism = build_mechanism(wordnet, SETTINGS["A"], Criterion.SQC1)
    with pytest.raises(InputError):
        mechanism.protect(np.array([wordnet.concept("dog.n.01")]), np.ones(1), np.random.default_rng(0).bytes)
    assert len(mechanism.protect(np.empty(0, np.int64), np.empty(0), np.random.default_rng(0).bytes)) == 0
