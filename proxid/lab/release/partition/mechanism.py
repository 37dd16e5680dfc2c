"""Partition selection on a bounded histogram: noise on every item that occurs, threshold, noisy counts (DESIGN 13)."""

from proxid.lab.release.noise import Noise, Steps
from proxid.lab.release.partition.plan import PartitionPlan
from proxid.lab.release.thresholding import Kept, gaussian_over, laplace_over


def select(counts: Steps, plan: PartitionPlan, noise: Noise) -> Kept:
    """Which counts are over T after noise, and the noisy counts, in grid steps.

    counts: users of each item that occurs (int64), of a histogram in which every user is in at most m items.
    """
    over = laplace_over if plan.noise == "laplace" else gaussian_over
    return over(counts, plan.threshold, plan.scale, noise)
