"""Intervals and the test of the theorem: exact variances, coverage, false alarms, power (DESIGN 8.4, 14)."""

from itertools import permutations, product
from math import sqrt
from statistics import NormalDist

import numpy as np
import pytest
from scipy.stats import ks_2samp

from proxid.lab.intervals import clustered_rate, cycle_test, cycle_variance, student_quantile


def all_cycles(n: int) -> list[list[int]]:
    found = []
    for order in permutations(range(1, n)):
        ring = [0, *order]
        after = dict(zip(ring, [*ring[1:], 0], strict=True))
        found.append([after[i] for i in range(n)])
    return found


@pytest.mark.parametrize("n", [3, 4, 5])
def test_variance_of_hits_bounds_every_guess_and_is_attained(n: int) -> None:
    """Over all cycles: the variance of the hits of every way to guess is under the formula; some way attains it."""
    cycles = np.array(all_cycles(n))
    bound = float(cycle_variance(np.array([n]), np.array([n]))[0])
    highest = 0.0
    for guess in product(range(n), repeat=n):
        if all(g != i for i, g in enumerate(guess)):
            hits = (cycles == np.array(guess)).sum(1)
            assert hits.mean() == pytest.approx(n / (n - 1))
            assert hits.var() <= bound + 1e-9
            highest = max(highest, float(hits.var()))
    assert highest == pytest.approx(bound)


def test_interval_of_clusters_covers() -> None:
    """Clusters of 12 that hit together: the 95 % interval covers in 95 % of trials, one that ignores clusters does not.

    Of 800 trials a coverage of 0.95 gives 760 with deviation sqrt(800·0.95·0.05) = 6.2; ±4.5 deviations are ±28. The
    normal approximation with 60 clusters may lose a little coverage, hence 0.93 as the centre of the lower bound.
    """
    random, covered, naive = np.random.default_rng(7), 0, 0
    for _ in range(800):
        rate = np.repeat(random.beta(1, 9, 60), 12)
        hits = random.random(720) < rate
        found = clustered_rate(hits, np.repeat(np.arange(60), 12))
        covered += found.low <= 0.1 <= found.high
        half = 1.96 * sqrt(0.1 * 0.9 / 720)
        naive += abs(found.value - 0.1) <= half
    assert 744 - 28 <= covered <= 788
    assert naive < covered - 30


def test_interval_without_or_with_one_cluster_claims_nothing() -> None:
    assert np.isnan(clustered_rate(np.zeros(0, bool), np.zeros(0, np.int64)).value)
    single = clustered_rate(np.array([True, False]), np.array([3, 3]))
    assert (single.low, single.high, single.clusters) == (0.0, 1.0, 1)


@pytest.mark.parametrize(("freedom", "value"), [(5, 2.5706), (10, 2.2281), (30, 2.0423), (1000, 1.9623)])
def test_student_quantile_is_the_tables(freedom: int, value: float) -> None:
    """0.975 quantiles as printed in every table of Student's t."""
    assert student_quantile(0.975, freedom) == pytest.approx(value, rel=0.01)


def guesses_in_groups(
    groups: int, n: int, seed: int, *, peek: float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Hits of a guesser on groups permuted by uniform cycles, who knows the answer with probability `peek`."""
    random = np.random.default_rng(seed)
    hits = []
    for _ in range(groups):
        cycle = list(range(n))
        for i in range(n - 1, 0, -1):
            j = int(random.integers(i))
            cycle[i], cycle[j] = cycle[j], cycle[i]
        for i in range(n):
            guess = (i + 1 + int(random.integers(n - 1))) % n
            hits.append(guess == cycle[i] or random.random() < peek)
    return np.array(hits), np.repeat(np.arange(groups), n), np.full(groups * n, n)


def test_cycles_pass_at_the_level_promised() -> None:
    """400 true nulls tested at 5 %: false alarms are at most Binomial(400, 0.05), so under 42 but once in 10^5 runs.

    P(X ≥ 42) for Binomial(400, 0.05) is under 1e-5 (mean 20, deviation 4.36; 42 is 5 deviations off).
    """
    alarms = sum(cycle_test(*guesses_in_groups(40, 6, seed), alpha=0.05).verdict == "different" for seed in range(400))
    assert alarms < 42


def test_a_guesser_who_knows_a_little_is_found() -> None:
    """Peeking at 5 % of 24,000 records of groups of 12 lifts the rate from 0.0909 to 0.136: 24 deviations."""
    found = cycle_test(*guesses_in_groups(2000, 12, 1, peek=0.05), cells=300)
    assert found.verdict == "different"
    assert found.z > 10
    fair = cycle_test(*guesses_in_groups(2000, 12, 2), cells=300)
    assert fair.verdict in ("equal", "undecided")
    assert fair.margin < 0.15


def test_verdict_is_undecided_without_enough_records() -> None:
    found = cycle_test(*guesses_in_groups(5, 12, 3), cells=300)
    assert found.verdict == "undecided"
    assert cycle_test(np.zeros(0, bool), np.zeros(0, np.int64), np.zeros(0, np.int64)) is None


def test_p_value_of_the_thesis_belongs_to_two_samples_of_50() -> None:
    """002 §4.4.3 prints D = 0.08, p = 0.9977 and no sample size; of the sizes where 0.08 is possible, 50 gives it."""
    fitting = [n for n in range(5, 400) if abs(0.08 * n - round(0.08 * n)) < 1e-9]
    found = []
    for n in fitting:
        test = ks_2samp(np.arange(n), np.arange(n) + round(0.08 * n) - 0.5, method="exact")
        assert test.statistic == pytest.approx(0.08)
        found += [n] if round(float(test.pvalue), 4) == 0.9977 else []
    assert found == [50]


def test_normal_limit_of_the_interval() -> None:
    """Independent records (clusters of one): the interval is the textbook's."""
    hits = np.arange(1000) % 4 == 0
    found = clustered_rate(hits, np.arange(1000))
    half = NormalDist().inv_cdf(0.975) * sqrt(0.25 * 0.75 / 1000)
    assert found.high - found.value == pytest.approx(half, rel=0.01)
