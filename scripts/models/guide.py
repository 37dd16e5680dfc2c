"""What the category network imitates: the tier-1 that the teacher's sentence vectors tell, by a linear model and by neighbours.

The linear model says what a tier-1 is about; the labelled queries nearest to a text say how texts like it were filed.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

Floats = NDArray[np.float32]
C = 10
NEIGHBOURS, SHARPNESS, SHARE = 30, 20.0, 0.4
"""Labelled queries that are asked, how fast they count less with their distance, and what they count against the linear
model; chosen by cross-validation on category_train.tsv."""
BLOCK = 1000


def odds(vectors: Floats, tops: Sequence[str], weights: Sequence[float], real: int) -> tuple[list[str], Floats]:
    """The classes, and the probability of each for every row of vectors.

    The first rows have the given tier-1 and weights; of these the first `real` are labelled queries, the others made.
    """
    count = len(tops)
    linear = LogisticRegression(C=C, max_iter=200).fit(vectors[:count], tops, sample_weight=weights)
    classes = [str(name) for name in linear.classes_]
    said = np.zeros((real, len(classes)), np.float32)
    said[np.arange(real), [classes.index(top) for top in tops[:real]]] = weights[:real]
    near = neighbours(vectors, said)
    return classes, ((1 - SHARE) * linear.predict_proba(vectors) + SHARE * near).astype(np.float32)


def neighbours(vectors: Floats, said: Floats) -> Floats:
    """Probabilities from what the nearest of the first rows say; a row is no neighbour of its own."""
    real = len(said)
    result = np.zeros((len(vectors), said.shape[1]), np.float32)
    for start in range(0, len(vectors), BLOCK):
        alike = vectors[start : start + BLOCK] @ vectors[:real].T
        own = np.arange(start, min(start + len(alike), real))
        alike[own - start, own] = -1
        near = np.argpartition(alike, -NEIGHBOURS, axis=1)[:, -NEIGHBOURS:]
        share = np.exp(SHARPNESS * (np.take_along_axis(alike, near, axis=1) - 1))
        result[start : start + BLOCK] = np.einsum("ij,ijc->ic", share, said[near])
    result /= np.maximum(result.sum(axis=1, keepdims=True), 1e-30)
    return result
