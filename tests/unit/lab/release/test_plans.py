"""Parameters that give no guarantee are refused, and the refusal says why (DESIGN 13)."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxid.errors import ConfigError
from proxid.lab.release.noise import STEPS, laplace_tail, measurement
from proxid.lab.release.partition.plan import gaussian_delta, gaussian_profile, laplace_threshold, partition_plan
from proxid.lab.release.sessions.plan import two_step_plan
from proxid.lab.release.zealous.plan import (
    indistinguishable_threshold,
    optimal_tau,
    probabilistic_delta,
    probabilistic_threshold,
    smallest_scale,
    zealous_plan,
)

EPSILON = st.floats(0.05, 10)
DELTA = st.floats(1e-12, 0.5)
M = st.integers(1, 40)
USERS = st.integers(1, 10**7)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": math.inf}, "epsilon"),
        ({"epsilon": math.nan}, "epsilon"),
        ({"delta": 0.0}, "delta"),
        ({"delta": 1.0}, "delta"),
        ({"delta": math.nan}, "delta"),
        ({"m": 0}, "m is at least 1"),
        ({"users": 0}, "users"),
        ({"tau": -1}, "tau is at least 1"),
        ({"tau_prime": 50.0}, "below"),
        ({"tau_prime": math.nan}, "below"),
        ({"analysis": "hope"}, "analysis"),
    ],
)
def test_zealous_refuses_what_guarantees_nothing(change: dict[str, object], reason: str) -> None:
    good = {"analysis": "probabilistic", "m": 5, "epsilon": 1.0, "delta": 1e-6, "users": 1000}
    with pytest.raises(ConfigError, match=reason):
        zealous_plan(**(good | change))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sensitivity", "b", "k", "reason"),
    [
        (0, 1.0, 20.0, "sensitivity"),
        (4, 0.0, 20.0, "b is"),
        (4, math.inf, 20.0, "b is"),
        (4, 1.0, 0.5, "K is at least 1"),
        (4, 1.0, 4.0, "too low"),
        (4, 9.0, 9.0, "too low"),
    ],
)
def test_two_step_noise_refuses_what_guarantees_nothing(sensitivity: int, b: float, k: float, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        two_step_plan(sensitivity, b, k)


@pytest.mark.parametrize("change", [{"epsilon": 0.0}, {"delta": 0.0}, {"delta": 1.0}, {"m": 0}, {"noise": "none"}])
def test_partition_refuses_what_guarantees_nothing(change: dict[str, object]) -> None:
    good = {"m": 5, "epsilon": 1.0, "delta": 1e-6}
    with pytest.raises(ConfigError):
        partition_plan(**(good | change))  # type: ignore[arg-type]


@given(m=M, epsilon=EPSILON)
def test_opendp_states_no_more_loss_than_the_plan_claims(m: int, epsilon: float) -> None:
    scale = smallest_scale(m, epsilon)
    loss = measurement("laplace", scale * STEPS).map(2 * m * STEPS)
    assert loss <= epsilon * (1 + 1e-12)


@given(m=M, epsilon=EPSILON, delta=DELTA, users=USERS)
def test_proposition_4_no_tau_is_better_than_the_optimal_one(m: int, epsilon: float, delta: float, users: int) -> None:
    best = optimal_tau(m, epsilon, delta, users)
    least = probabilistic_threshold(m, epsilon, delta, users, best)
    scale = smallest_scale(m, epsilon)
    for tau in {1, max(1, best - 1), best + 1, 2 * best, math.ceil(scale)}:
        # where the first condition of Theorem 2 binds, tau' grows with tau: tau = 1 may then do better
        if -scale * math.log(2 * delta * tau / (users * m)) > -scale * math.log(-2 * math.expm1(-1 / scale)):
            assert least <= probabilistic_threshold(m, epsilon, delta, users, tau) * (1 + 1e-12)


@given(m=M, epsilon=EPSILON, delta=DELTA, users=USERS)
def test_the_grid_never_passes_rare_items_more_often_than_theorem_2_allows(
    m: int, epsilon: float, delta: float, users: int
) -> None:
    plan = zealous_plan("probabilistic", m, epsilon, delta, users)
    passes = laplace_tail(plan.threshold - plan.tau * STEPS, plan.scale * STEPS)
    assert users * m / plan.tau * passes <= delta * (1 + 1e-9)
    assert probabilistic_delta(m, plan.scale, plan.tau, plan.threshold / STEPS, users) <= delta * (1 + 1e-9)


def test_tau_over_one_with_the_printed_bound_exceeds_delta() -> None:
    """DESIGN 13: with m = 2, epsilon = 0.2, delta = 1e-6, tau = 20 the bound needs max(m, tau) in place of m."""
    m, epsilon, delta, tau = 2, 0.2, 1e-6, 20
    scale = smallest_scale(m, epsilon)
    printed = m - scale * math.log(2 * delta / m)
    corrected = indistinguishable_threshold(m, epsilon, delta, tau)

    def shown(t: float) -> float:
        return m / 2 * math.exp(-(t - tau) / scale)

    assert shown(printed) > delta
    assert shown(corrected) <= delta * (1 + 1e-9)


@given(m=st.integers(1, 6), epsilon=st.floats(0.1, 5), delta=st.floats(1e-9, 0.1))
@settings(max_examples=30)
def test_partition_plans_meet_their_bound_and_no_lower_threshold_does(m: int, epsilon: float, delta: float) -> None:
    plan = partition_plan(m, epsilon, delta, "gaussian")
    assert gaussian_delta(m, epsilon, plan.scale, plan.threshold / STEPS) <= delta
    assert gaussian_delta(m, epsilon, plan.scale, max(1.0, plan.t * 0.98)) > delta
    assert partition_plan(m, epsilon, delta).t <= min(plan.t, laplace_threshold(m, epsilon, delta)) * (1 + 1e-9)


def test_gaussian_profile_against_known_values() -> None:
    """Balle & Wang 2018: mu = 1, epsilon = 1 gives Phi(-1/2) - e Phi(-3/2); at mu -> 0 nothing is lost."""
    phi = [0.5 * math.erfc(z / math.sqrt(2)) for z in (0.5, 1.5)]
    assert gaussian_profile(1.0, 1.0) == pytest.approx(phi[0] - math.e * phi[1])
    assert gaussian_profile(0.0, 0.5) == 0.0
