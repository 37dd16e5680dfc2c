"""003's utility by definition: what is wrong in a release, and Theorem 3 on ZEALOUS as it is run."""

import math

import numpy as np
import pytest

from proxid.lab.release.noise import OpenDpNoise
from proxid.lab.release.zealous.mechanism import sanitise
from proxid.lab.release.zealous.plan import zealous_plan
from proxid.lab.utility.counted.accuracy import Wrong, accuracy_of_zealous, wrong

ITEMS = 40_000


def test_what_is_missed_and_what_is_published_too_much() -> None:
    counts = {"a": 100.0, "b": 61.0, "c": 60.0, "d": 45.0, "e": 39.0}
    assert wrong(counts, {"a", "c", "e"}, 50, 10) == Wrong(2, 1, 1)
    assert wrong(counts, {"a", "b"}, 50, 10).inaccuracy == 0
    assert wrong(counts, (), 50, 10) == Wrong(2, 2, 0), "the empty set is 003's baseline"
    assert wrong(counts, {"nobody asked"}, 50, 10).published == 1


@pytest.mark.parametrize("slack", [5.0, 20.0])
def test_theorem_3(slack: float) -> None:
    """Noise at least −ξ: an item of τ′ + ξ users passes with 1 − ½e^(−ξ/λ), one of τ′ every other time."""
    plan = zealous_plan("indistinguishability", 1, 0.5, 0.01, 1000)

    def passed(users: float) -> float:
        counts = np.full(ITEMS, round(users), np.int64)
        return len(sanitise(counts, plan, OpenDpNoise()).index) / ITEMS

    limit = math.ceil(plan.tau_prime)
    off = math.exp(-(limit - plan.tau_prime) / plan.scale)  # the threshold is no whole number of users
    found = passed(limit + slack)
    assert found == pytest.approx(1 - (1 - accuracy_of_zealous(slack, plan.scale)) * off, abs=0.015)
    assert found >= accuracy_of_zealous(slack, plan.scale) - 0.01
    assert passed(limit) == pytest.approx(1 - off / 2, abs=0.02)
    assert passed(plan.tau - 1) == 0
