"""The guarantee audited on worst-case neighbours, and broken variants caught.

epsilon <= 1, delta >= 0.01, alpha = 1e-4, 100,000 runs to choose the event and 100,000 fresh ones to count it, for S
and S' each. A correct mechanism fails an audit with probability 2 alpha at most, if its epsilon were tight; the events
here reach no more than 97 % of it, which adds a margin of several standard deviations.
"""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from proxid.lab.attacks.epsilon_audit import clopper_pearson, epsilon_bound
from proxid.lab.release.items import bounded_histogram
from proxid.lab.release.noise import OpenDpNoise
from proxid.lab.release.partition.mechanism import select
from proxid.lab.release.partition.plan import PartitionPlan, partition_plan
from proxid.lab.release.sessions.counting import click_histogram
from proxid.lab.release.sessions.mechanism import sanitise as two_step
from proxid.lab.release.sessions.plan import TwoStepPlan, two_step_plan
from proxid.lab.release.zealous.mechanism import sanitise
from proxid.lab.release.zealous.plan import ZealousPlan, zealous_plan
from tests.support.release_neighbours import (
    HalvedNoise,
    Neighbours,
    Sanitise,
    counted_by_row,
    counts_of,
    lone_item_logs,
    repeating_user_logs,
    replaced_user_logs,
    write_rows,
)

RUNS = 100_000
EPSILON, DELTA = 1.0, 0.01


def zealous(plan: ZealousPlan) -> Sanitise:
    return lambda counts, noise: sanitise(counts, plan, noise)


def partition(plan: PartitionPlan) -> Sanitise:
    return lambda counts, noise: select(counts, plan, noise)


def clicks(plan: TwoStepPlan) -> Sanitise:
    return lambda counts, noise: two_step(counts, plan, noise)


def neighbours(logs: tuple[Path, Path], m: int) -> Neighbours:
    here, there = (counts_of(log, lambda t: bounded_histogram(t, "queries", m)) for log in logs)
    return Neighbours(here, there)


def test_clopper_pearson_against_known_limits() -> None:
    """No hit in n runs: 1 - alpha^(1/n). 10 of 100 at alpha = 0.025: 0.0490 and 0.1762 (tabled 95 % interval)."""
    assert clopper_pearson(0, 1000, 1e-4)[1] == pytest.approx(1 - 1e-4 ** (1 / 1000))
    assert clopper_pearson(10, 100, 0.025) == pytest.approx((0.0490, 0.1762), abs=5e-5)
    assert epsilon_bound(0, 0, 1000, 0.0) == -math.inf


@pytest.mark.slow
def test_zealous_counts_hold_epsilon_and_halved_noise_is_caught(tmp_path: Path) -> None:
    plan = zealous_plan("indistinguishability", 1, EPSILON, DELTA, 1000)
    pair = neighbours(replaced_user_logs(tmp_path, 1, others=30), 1)
    assert pair.audit(zealous(plan), OpenDpNoise(), DELTA, RUNS) <= EPSILON
    assert pair.audit(zealous(plan), HalvedNoise(), DELTA, RUNS) > EPSILON


@pytest.mark.parametrize("analysis", ["probabilistic", "indistinguishability"])
def test_zealous_holds_delta_and_a_threshold_one_lambda_lower_is_caught(tmp_path: Path, analysis: str) -> None:
    """S shows an item with probability delta at most, S' never; U = tau holders make U m/tau = m, the bound tight."""
    plan = zealous_plan(analysis, 1, EPSILON, DELTA, users=2)
    holders = plan.tau
    pair = neighbours(lone_item_logs(tmp_path, 1, holders), 1)
    lower = replace(plan, tau_prime=plan.tau_prime - plan.scale)
    assert pair.audit(zealous(plan), OpenDpNoise(), DELTA, RUNS) <= EPSILON
    assert pair.audit(zealous(lower), OpenDpNoise(), DELTA, RUNS) > EPSILON


@pytest.mark.slow
def test_bounding_by_row_is_caught(tmp_path: Path) -> None:
    plan = zealous_plan("indistinguishability", 1, EPSILON, DELTA, 1000)
    logs = repeating_user_logs(tmp_path, others=30, repeats=3)
    assert neighbours(logs, 1).audit(zealous(plan), OpenDpNoise(), DELTA, RUNS) <= EPSILON
    by_row = Neighbours(*(counts_of(log, counted_by_row) for log in logs))
    assert by_row.audit(zealous(plan), OpenDpNoise(), DELTA, RUNS) > EPSILON


@pytest.mark.slow
@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("analysis", ["probabilistic", "indistinguishability"])
def test_zealous_joint_events_on_m_items(tmp_path: Path, analysis: str, m: int) -> None:
    plan = zealous_plan(analysis, m, EPSILON, DELTA, 100)
    pair = neighbours(replaced_user_logs(tmp_path, m, others=round(plan.tau_prime) + 30), m)
    for swapped in (False, True):
        assert pair.audit(zealous(plan), OpenDpNoise(), DELTA, RUNS, swapped=swapped) <= EPSILON
    assert pair.audit(zealous(plan), HalvedNoise(), DELTA, RUNS) > EPSILON


@pytest.mark.slow
@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("analysis", ["probabilistic", "indistinguishability"])
def test_zealous_joint_delta_on_m_items(tmp_path: Path, analysis: str, m: int) -> None:
    first = zealous_plan(analysis, m, EPSILON, DELTA, users=2 * m)
    plan = zealous_plan(analysis, m, EPSILON, DELTA, users=first.tau, tau=first.tau)
    pair = neighbours(lone_item_logs(tmp_path, m, plan.tau), m)
    lower = replace(plan, tau_prime=plan.tau_prime - plan.scale)
    assert pair.audit(zealous(plan), OpenDpNoise(), DELTA, RUNS) <= EPSILON
    assert pair.audit(zealous(lower), OpenDpNoise(), DELTA, RUNS) > EPSILON


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
@pytest.mark.parametrize("m", [1, 2])
def test_partition_holds_epsilon_and_delta_and_broken_ones_are_caught(tmp_path: Path, noise: str, m: int) -> None:
    plan = partition_plan(m, EPSILON, DELTA, noise)
    frequent = neighbours(replaced_user_logs(tmp_path, m, others=round(plan.t) + 30), m)
    near = neighbours(replaced_user_logs(tmp_path, m, others=round(plan.t)), m)
    rare = neighbours(lone_item_logs(tmp_path, m, 1), m)
    for pair in (frequent, near, rare):
        for swapped in (False, True):
            assert pair.audit(partition(plan), OpenDpNoise(), DELTA, RUNS, swapped=swapped) <= EPSILON
    assert frequent.audit(partition(plan), HalvedNoise(), DELTA, RUNS) > EPSILON
    lower = replace(plan, t=plan.t - plan.scale)
    assert rare.audit(partition(lower), OpenDpNoise(), DELTA, RUNS) > EPSILON


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1, 2])
def test_clicks_hold_epsilon_and_delta_and_broken_ones_are_caught(tmp_path: Path, limit: int) -> None:
    """One user is added (004 Definition 1); deciding and publishing spend (ln alpha + 1/b) a count."""
    b = 4.0 * limit
    k = limit - b * math.log(2 * DELTA / limit)
    plan = two_step_plan(limit, b, k)
    epsilon, delta = plan.guarantee.epsilon, plan.guarantee.delta
    assert epsilon <= EPSILON
    assert delta == pytest.approx(DELTA)

    def pair(others: int) -> Neighbours:
        rows = [(f"other{i}-{q}", f"a{q}") for q in range(limit) for i in range(others)]
        with_user = write_rows(tmp_path / "s.parquet", [*rows, *(("victim", f"a{q}") for q in range(limit))])
        without = write_rows(tmp_path / "s_prime.parquet", rows)
        return Neighbours(*(counts_of(log, lambda t: click_histogram(t, limit)) for log in (with_user, without)))

    near, rare = pair(round(k)), pair(0)
    for found in (near, rare):
        for swapped in (False, True):
            assert found.audit(clicks(plan), OpenDpNoise(), delta, RUNS, swapped=swapped) <= epsilon
    assert near.audit(clicks(plan), HalvedNoise(), delta, RUNS) > epsilon
    lower = replace(plan, k=plan.k - plan.b)
    if limit == 1:  # with two clicks the bound's e^(d/b) for repeated ones leaves room for one lambda
        assert rare.audit(clicks(lower), OpenDpNoise(), delta, RUNS) > epsilon
