"""OpenDP's samplers and the thresholding against theory; bounds that hold except with probability 1e-9.

KS: Pr[D > t] <= 2 exp(-2 n t^2) for any distribution (Dvoretzky-Kiefer-Wolfowitz-Massart), so t = sqrt(ln(2e9)/(2n)).
Chi-square with k degrees: Pr[X >= k + 2 sqrt(kx) + 2x] <= e^-x (Laurent & Massart 2000), x = ln(1e9); the cells have
500 expected draws or more, so that the statistic is close to its limit. OpenDP takes no seed: these run on fresh noise.
"""

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxid.errors import ConfigError
from proxid.lab.release.noise import STEPS, OpenDpNoise, Steps, geometric, laplace_tail, measurement, to_grid_up
from proxid.lab.release.sessions.mechanism import sanitise as two_step
from proxid.lab.release.sessions.plan import two_step_plan
from proxid.lab.release.thresholding import gaussian_over, laplace_over

N = 200_000
LN = math.log(1e9)
NOISE = OpenDpNoise()

Reals = npt.NDArray[np.float64]


def ks_distance(draws: Steps, cdf: Reals, values: Steps) -> float:
    """The largest difference between the empirical distribution and one given at whole `values`."""
    empirical = np.searchsorted(np.sort(draws), values, side="right") / len(draws)
    return float(np.abs(empirical - cdf).max())


def ks_bound(n: int) -> float:
    return math.sqrt((math.log(2) + LN) / (2 * n))


def chi_square(draws: Steps, chances: Reals, low: int) -> tuple[float, float]:
    """The statistic over cells `low`, `low + 1`, ... and the two tails, and its bound."""
    cells = np.clip(draws - low + 1, 0, len(chances) + 1)
    found = np.bincount(cells, minlength=len(chances) + 2)
    tail = (1 - chances.sum()) / 2
    expected = len(draws) * np.array([tail, *chances, tail])
    assert expected.min() > 500
    k = len(expected) - 1
    return float(((found - expected) ** 2 / expected).sum()), k + 2 * math.sqrt(k * LN) + 2 * LN


def laplace_cdf(values: Steps, scale: float) -> Reals:
    p = math.exp(-1 / scale)
    below = np.exp(np.minimum(values, 0) / scale) / (1 + p)
    above = 1 - np.exp(-(np.maximum(values, 0) + 1) / scale) / (1 + p)
    return np.where(values < 0, below, above)


def test_laplace_on_the_grid_is_the_continuous_one_by_ks() -> None:
    lam = 4.0
    draws = NOISE.laplace(N // 2, lam * STEPS)
    values = np.arange(-40 * STEPS, 40 * STEPS, 64)
    assert ks_distance(draws, laplace_cdf(values, lam * STEPS), values) < ks_bound(len(draws))
    x = values / STEPS
    continuous = np.where(x < 0, np.exp(x / lam) / 2, 1 - np.exp(-x / lam) / 2)
    # the grid moves the distribution function by p(0)/2 = 1/(4 lam STEPS) at most
    assert ks_distance(draws, continuous, values) < ks_bound(len(draws)) + 1 / (4 * lam * STEPS)


def test_laplace_by_chi_square() -> None:
    scale = 3.0
    draws = NOISE.laplace(N // 2, scale)
    p = math.exp(-1 / scale)
    low = -9
    chances = np.array([(1 - p) / (1 + p) * p ** abs(x) for x in range(low, 10)])
    found, bound = chi_square(draws, chances, low)
    assert found < bound


def test_gaussian_by_chi_square() -> None:
    sigma = 3.0
    draws = NOISE.gaussian(N // 2, sigma)
    weights = np.array([math.exp(-x * x / (2 * sigma * sigma)) for x in range(-60, 61)])
    chances = weights / weights.sum()
    found, bound = chi_square(draws, chances[60 - 7 : 60 + 8], -7)
    assert found < bound


def test_geometric_by_chi_square() -> None:
    scale = 2.0
    draws = geometric(N // 2, scale, NOISE)
    assert draws.min() >= 0
    p = math.exp(-1 / scale)
    cells = np.minimum(draws, 9)
    expected = len(draws) * np.array([*((1 - p) * p**j for j in range(9)), p**9])
    found = float(((np.bincount(cells, minlength=10) - expected) ** 2 / expected).sum())
    assert found < 9 + 2 * math.sqrt(9 * LN) + 2 * LN


@pytest.mark.parametrize("missing", [12.0, 20.0])
def test_skipping_rare_items_draws_what_one_draw_an_item_would(missing: float) -> None:
    """Passes of 2 M items are binomial (Bernstein bound); the excess over the threshold is geometric (KS)."""
    scale, count, items = 2.0, 5, 2_000_000
    threshold = to_grid_up(count + missing)
    kept = laplace_over(np.full(items, count), threshold, scale, NOISE)
    chance = laplace_tail(threshold - count * STEPS, scale * STEPS)
    mean = items * chance
    assert abs(len(kept.index) - mean) < math.sqrt(2 * mean * (LN + 1)) + (LN + 1)
    assert len(np.unique(kept.index)) == len(kept.index)
    assert kept.steps.min() > threshold
    excess = kept.steps - threshold - 1
    values = np.arange(0, 20 * STEPS, 16)
    cdf = 1 - np.exp(-(values + 1) / (scale * STEPS))
    assert ks_distance(excess, cdf, values) < ks_bound(len(excess))


def test_skipping_spreads_passes_evenly_over_positions() -> None:
    kept = laplace_over(np.full(1_000_000, 1), to_grid_up(13.0), 2.0, NOISE)
    values = np.arange(0, 1_000_000, 1000)
    assert ks_distance(kept.index, (values + 1) / 1_000_000, values) < ks_bound(len(kept.index)) + 1e-6


@given(counts=st.lists(st.integers(1, 60), max_size=60), threshold=st.integers(-5, 80))
@settings(max_examples=60, deadline=None)
def test_thresholding_keeps_only_what_is_over(counts: list[int], threshold: int) -> None:
    array = np.array(counts, np.int64)
    for over in (laplace_over, gaussian_over):
        kept = over(array, threshold * STEPS, 1.5, NOISE)
        assert (kept.steps > threshold * STEPS).all()
        assert (np.diff(kept.index) > 0).all()
        far = 1.5 * 60  # 60 scales: e^-60
        assert set(np.flatnonzero(array > threshold + far)) <= set(kept.index.tolist())
        assert not set(np.flatnonzero(array < threshold - far)) & set(kept.index.tolist())


def test_published_counts_of_004_are_unbiased_and_laplace() -> None:
    """Step 5: the published count is Lap(C, b) whatever decided; a count that decided itself would exceed K."""
    plan = two_step_plan(1, 2.0, 20.0)
    kept = two_step(np.full(60_000, 19), plan, NOISE)
    noise = kept.steps - 19 * STEPS
    values = np.arange(-20 * STEPS, 20 * STEPS, 64)
    assert ks_distance(noise, laplace_cdf(values, 2.0 * STEPS), values) < ks_bound(len(noise))
    assert (kept.steps <= plan.threshold).any()


def test_a_scale_that_cannot_be_drawn_is_refused() -> None:
    for scale in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(ConfigError):
            measurement("laplace", scale)
