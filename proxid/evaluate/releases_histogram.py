"""How close published counts are to the original ones (003 §2.3.2, §7.2, §8.1).

Histograms are `{item: count}`. Top-j items are those with the largest original counts, ties by item. Relative
frequencies are shares of a histogram's total.
"""

import math
from collections.abc import Mapping
from heapq import nsmallest
from typing import Any

Item = tuple[str, ...]
Histogram = Mapping[Item, float]


def top_items(original: Histogram, j: int) -> list[Item]:
    """The j most frequent items, most frequent first."""
    return nsmallest(j, original, key=lambda item: (-original[item], item))


def top_coverage(original: Histogram, released: Histogram, j: int) -> float:
    """The share of the top-j items that are published (003 §7.2)."""
    top = top_items(original, j)
    return sum(item in released for item in top) / len(top) if top else math.nan


def top_l1(original: Histogram, released: Histogram, j: int) -> float:
    """The mean difference of relative frequencies over the top-j items; an unpublished item has frequency 0."""
    top, p, q = top_items(original, j), total(original), total(released)
    if not top:
        return math.nan
    return sum(abs(original[i] / p - max(0.0, released.get(i, 0.0)) / q) for i in top) / len(top)


def top_kl(original: Histogram, released: Histogram, j: int) -> float:
    """KL divergence (nats) of the top-j items' frequencies among themselves, original from released.

    003 does not say what an unpublished item's frequency is; it counts as half a user here, so that the divergence
    stays finite.
    """
    top = top_items(original, j)
    if not top:
        return math.nan
    counts = [max(0.5, released.get(item, 0.0)) for item in top]
    p, q = sum(original[item] for item in top), sum(counts)
    pairs = zip((original[item] / p for item in top), (count / q for count in counts), strict=True)
    return math.fsum(a * math.log(a / b) for a, b in pairs if a > 0)


def mean_count_difference(original: Histogram, released: Histogram) -> float:
    """The mean difference to the original counts after scaling the released ones to the same total (003 figure 5)."""
    if not original:
        return math.nan
    scale = total(original) / total(released)
    return math.fsum(abs(n - scale * max(0.0, released.get(item, 0.0))) for item, n in original.items()) / len(original)


def total(histogram: Histogram) -> float:
    """The sum of counts, 1 for an empty histogram; a noisy count below 0 is none."""
    return math.fsum(max(0.0, count) for count in histogram.values()) or 1.0


def histogram_utility(
    original: Histogram, released: Histogram, tops: tuple[int, ...] = (10, 100, 1000)
) -> dict[str, Any]:
    """All measures of this module by name, the top-j ones for every j that the original has."""
    found: dict[str, Any] = {
        "items": len(released),
        "items_share": len(released) / len(original) if original else math.nan,
        "total_count": total(released) if released else 0.0,
        "mean_count_difference": mean_count_difference(original, released),
    }
    for j in (j for j in tops if j <= len(original)):
        found[f"top_{j}"] = {
            "coverage": top_coverage(original, released, j),
            "l1": top_l1(original, released, j),
            "kl": top_kl(original, released, j),
        }
    return found
