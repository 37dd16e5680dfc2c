"""Rankings against a ground-truth ranking: precision, recall, MAP, NDCG, coverage (003 §8.3); P@j, R@j (004 §4.3).

A ranking is a list without repetitions, best first; both are cut to the top j before they are compared.
"""

import math
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def precision(truth: Sequence[T], found: Sequence[T], j: int) -> float:
    """The share of the found top j that are in the true top j; NaN when nothing was found."""
    top = found[:j]
    return len(set(truth[:j]) & set(top)) / len(top) if top else math.nan


def recall(truth: Sequence[T], found: Sequence[T], j: int) -> float:
    """The share of the true top j that are in the found top j; NaN without a truth."""
    top = truth[:j]
    return len(set(found[:j]) & set(top)) / len(top) if top else math.nan


def mean_rank_ratio(truth: Sequence[T], found: Sequence[T], j: int) -> float:
    """003's MAP: over the true top j, true rank over assigned rank.

    The printed formula gives an absent item assigned rank 0, which would score it above all others, and sums without
    dividing; here an absent item scores 0, a ratio is 1 at most, and the sum is divided by the length of the truth.
    """
    top = truth[:j]
    ranks = {item: rank for rank, item in enumerate(found[:j])}
    scores = [min(1.0, (i + 1) / (ranks[item] + 1)) if item in ranks else 0.0 for i, item in enumerate(top)]
    return math.fsum(scores) / len(top) if top else math.nan


def ndcg(truth: Sequence[T], found: Sequence[T], j: int) -> float:
    """Discounted gain of the found top j over that of the truth; the i-th true item (from 0) has relevance j - i.

    Gain 2^relevance - 1, discount log2(1 + place), places from 1.
    """
    top = truth[:j]
    relevance = {item: j - i for i, item in enumerate(top)}

    def gain(ranking: Sequence[T]) -> float:
        return math.fsum((2 ** relevance.get(item, 0) - 1) / math.log2(2 + i) for i, item in enumerate(ranking))

    return gain(found[:j]) / gain(top) if top else math.nan


def coverage(truth: Sequence[T], found: Sequence[T], j: int) -> float:
    """How much of a top j there is at all: found over true length, 1 at most; NaN without a truth."""
    return min(1.0, len(found[:j]) / len(truth[:j])) if truth else math.nan


def hits_at(truth: set[T], found: Sequence[T], j: int = 5) -> tuple[float, float]:
    """P@j and R@j of 004 equation 11: hits in the top j over j, and over the size of the truth."""
    hits = sum(item in truth for item in found[:j])
    return hits / j, hits / len(truth) if truth else math.nan
