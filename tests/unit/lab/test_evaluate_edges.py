"""Measures at their edges: nothing published, few clusters, parameters that no sampler can draw."""

import math

import pytest
from scipy import stats

from proxid.errors import ConfigError
from proxid.lab.intervals import student_quantile
from proxid.lab.release.noise import STEPS
from proxid.lab.release.partition.plan import NOISES, partition_plan
from proxid.lab.release.semantic.hbdp import discrete_laplace
from proxid.lab.release.sessions.plan import session_sensitivity, two_step_plan
from proxid.lab.release.zealous.plan import ANALYSES, zealous_plan
from proxid.lab.utility.counted.histogram import Original, top_kl

COUNTS = {(f"item {i}",): float(100 - i) for i in range(20)}
EXTREME = (5e-324, 1e-12, 1e-9, 1.0, 700.0, 1.7e308)
MANY = (1, 5, 2**53, 10**400)


def test_divergence_from_nothing_published_is_not_0() -> None:
    """All published at 0.5 each would look like a flat histogram: nothing can be said instead."""
    assert math.isnan(top_kl(Original.of(COUNTS), {}, 10))
    assert math.isnan(top_kl(Original.of({("a",): 3.0}), {("b",): 2.0}, 1))
    flat = {(f"item {i}",): 7.0 for i in range(20)}
    assert math.isnan(top_kl(Original.of(flat), {("another",): 3.0}, 10))
    assert math.isnan(top_kl(Original.of(COUNTS), dict.fromkeys(COUNTS, -1.0), 10))
    assert top_kl(Original.of(COUNTS), COUNTS, 10) == 0


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 10, 100, 10**6])
@pytest.mark.parametrize("probability", [0.6, 0.975, 0.9995])
def test_the_quantile_is_student_s_for_few_clusters_too(freedom: int, probability: float) -> None:
    assert student_quantile(probability, freedom) == pytest.approx(stats.t.ppf(probability, freedom), rel=1e-9)


def test_two_clusters_have_the_widest_interval() -> None:
    assert student_quantile(0.975, 1) == pytest.approx(12.706, abs=1e-3)


def typed(make) -> object:
    """What is made, or None when it is refused as a ConfigError; anything else fails the test."""
    try:
        return make()
    except ConfigError:
        return None


@pytest.mark.parametrize("epsilon", EXTREME)
@pytest.mark.parametrize("delta", [5e-324, 1e-12, 1 - 1e-16])
@pytest.mark.parametrize("m", MANY)
def test_plans_of_extreme_parameters_are_refused_or_can_be_drawn(epsilon: float, delta: float, m: int) -> None:
    plans = [typed(lambda a=a: zealous_plan(a, m, epsilon, delta, 1000)) for a in ANALYSES]
    if m <= 5:  # the exact profile is searched over m² cases
        plans += [typed(lambda n=n: partition_plan(m, epsilon, delta, n)) for n in NOISES]
    for plan in filter(None, plans):
        assert plan.guarantee.epsilon == epsilon and 0 < plan.scale * STEPS <= 2**60
        assert 0 < plan.threshold < 2**62


def test_the_least_epsilon_is_refused_by_name() -> None:
    for make in (
        lambda: zealous_plan(ANALYSES[0], 5, 5e-324, 1e-6, 10),
        lambda: zealous_plan(ANALYSES[1], 5, 5e-324, 1e-6, 10),
        lambda: partition_plan(5, 5e-324, 1e-12),
        lambda: discrete_laplace(5e-324, 100),
    ):
        with pytest.raises(ConfigError, match="epsilon"):
            make()


@pytest.mark.parametrize("b", EXTREME)
@pytest.mark.parametrize("k", EXTREME)
@pytest.mark.parametrize("limits", [(1, 3), (10**400, 3), (1, 10**6), (2**53, 4)])
def test_two_step_plans_too(b: float, k: float, limits: tuple[int, int]) -> None:
    plan = typed(lambda: two_step_plan(session_sensitivity(*limits), b, k))
    if plan is not None:
        assert math.isfinite(plan.guarantee.epsilon) and 0 < plan.threshold < 2**62 and plan.b * STEPS <= 2**60


@pytest.mark.parametrize("epsilon", EXTREME)
@pytest.mark.parametrize("maximum", MANY)
def test_histograms_too(epsilon: float, maximum: int) -> None:
    typed(lambda: discrete_laplace(epsilon, maximum))
