"""`partition` publishes at least 1.5 times the distinct items of the better ZEALOUS analysis.

The counts are those of a bounded log with Zipf(1) queries: item r has C/r users. Same m, epsilon, delta; one neighbour
relation (a user replaced) and one kind of delta (approximate, which the probabilistic one implies).
"""

import math

import numpy as np
import pytest

from proxid.lab.release.guarantee import DeltaKind, Relation
from proxid.lab.release.noise import STEPS, OpenDpNoise
from proxid.lab.release.partition.mechanism import select
from proxid.lab.release.partition.plan import partition_plan
from proxid.lab.release.zealous.mechanism import sanitise
from proxid.lab.release.zealous.plan import ANALYSES, zealous_plan

USERS, DELTA = 500_000, 1e-6


def zipf_counts(largest: int, items: int) -> np.ndarray:
    return np.maximum(1, largest // np.arange(1, items + 1))


@pytest.mark.parametrize("m", [4, 5, 20])
@pytest.mark.parametrize("epsilon", [1.0, 5.0])
def test_partition_publishes_half_as_many_again(m: int, epsilon: float) -> None:
    """Expected ratios are 1.8 and more; over 100 published items a deviation to 1.5 has chance under 1e-4 each."""
    counts = zipf_counts(200_000, 30_000)
    plans = [zealous_plan(analysis, m, epsilon, DELTA, USERS) for analysis in ANALYSES]
    published = max(len(sanitise(counts, plan, OpenDpNoise()).index) for plan in plans)
    plan = partition_plan(m, epsilon, DELTA)
    assert published > 100
    assert len(select(counts, plan, OpenDpNoise()).index) >= 1.5 * published
    for other in plans:
        assert other.guarantee.approximate() == plan.guarantee
        assert plan.guarantee.relation == Relation.REPLACE
        assert plan.guarantee.delta_kind == DeltaKind.APPROXIMATE


def test_published_counts_are_the_counts_plus_gaussian_noise() -> None:
    """Far over T nothing is cut: the mean of 20,000 counts is within 7 standard errors (1e-11)."""
    plan = partition_plan(5, 1.0, DELTA)
    kept = select(np.full(20_000, 1000), plan, OpenDpNoise())
    noise = kept.steps / STEPS - 1000
    assert len(noise) == 20_000
    assert abs(noise.mean()) < 7 * plan.scale / math.sqrt(20_000)
    assert noise.std() == pytest.approx(plan.scale, rel=7 / math.sqrt(2 * 20_000))


def test_one_users_items_are_shown_with_probability_delta_at_most() -> None:
    """Worst case of the threshold: m items of one user alone; 1 - Phi^m by the grid's own tail is at most delta."""
    for m in (1, 5, 20):
        plan = partition_plan(m, 1.0, 0.01, "gaussian")
        z = (plan.threshold / STEPS - 1) / plan.scale
        shown = -math.expm1(m * math.log1p(-0.5 * math.erfc(z / math.sqrt(2))))
        assert shown <= 0.01
