"""ZEALOUS, steps 3 to 6 (003 §5): from the bounded histogram to the published one.

Steps 1 and 2 are `items.bounded_histogram`, on an engine; what is here is the noise, on the counts alone.
"""

import numpy as np

from proxid.lab.release.noise import Noise, Steps
from proxid.lab.release.thresholding import Kept, laplace_over
from proxid.lab.release.zealous.plan import ZealousPlan


def sanitise(counts: Steps, plan: ZealousPlan, noise: Noise) -> Kept:
    """Drop counts below tau, add Laplace noise of scale lambda, keep what is over tau'.

    counts: users of each item (int64), of a histogram in which every user is in at most m items.
    Returns positions in `counts` and noisy counts.
    """
    frequent = np.flatnonzero(counts >= plan.tau)
    kept = laplace_over(counts[frequent], plan.threshold, plan.scale, noise)
    return Kept(frequent[kept.index], kept.steps)
