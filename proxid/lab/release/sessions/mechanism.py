"""The two-step noise of 004 (§3.2.1 steps 4 and 5; §3.2.2 steps 2 and 3): decide with one draw, publish with another.

The counts that passed are a biased sample of noisy counts, so a published one gets noise anew: Lap(C, b), unbiased.
"""

from proxid.lab.release.noise import STEPS, Noise, Steps
from proxid.lab.release.sessions.plan import TwoStepPlan
from proxid.lab.release.thresholding import Kept, laplace_over


def sanitise(counts: Steps, plan: TwoStepPlan, noise: Noise) -> Kept:
    """Which counts are over K after noise, and the same counts with fresh noise, in grid steps."""
    decided = laplace_over(counts, plan.threshold, plan.b, noise)
    fresh = noise.laplace(len(decided.index), plan.b * STEPS)
    return Kept(decided.index, counts[decided.index] * STEPS + fresh)
