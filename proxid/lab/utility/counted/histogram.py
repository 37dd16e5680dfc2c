"""How close published counts are to the original ones (003 §2.3.2, §7.2, §8.1).

Histograms are `{item: count}`. Top-j items are those with the largest original counts, ties by item. Relative
frequencies are shares of a histogram's total.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from heapq import nsmallest
from typing import Any

Item = tuple[str, ...]
Histogram = Mapping[Item, float]


@dataclass(frozen=True)
class Original:
    """An original histogram, sorted once: its `largest` most frequent items, its total."""

    counts: Histogram
    top: list[Item]
    total: float

    @classmethod
    def of(cls, counts: Histogram, largest: int = 1000) -> "Original":
        """Of a histogram."""
        return cls(counts, nsmallest(largest, counts, key=lambda item: (-counts[item], item)), total(counts))


def top_coverage(original: Original, released: Histogram, j: int) -> float:
    """The share of the top-j items that are published (003 §7.2)."""
    top = original.top[:j]
    return sum(item in released for item in top) / len(top) if top else math.nan


def top_l1(original: Original, released: Histogram, j: int) -> float:
    """The mean difference of relative frequencies over the top-j items; an unpublished item has frequency 0."""
    top, p, q = original.top[:j], original.total, total(released)
    if not top:
        return math.nan
    return sum(abs(original.counts[i] / p - max(0.0, released.get(i, 0.0)) / q) for i in top) / len(top)


def top_kl(original: Original, released: Histogram, j: int) -> float:
    """KL divergence (nats) of the top-j items' frequencies among themselves, original from released.

    003 does not say what an unpublished item's frequency is; it counts as half a user here, so that the divergence
    stays finite. NaN where none of the top-j is published: halves alone would be a flat distribution that nobody
    published.
    """
    top = original.top[:j]
    if not any(released.get(item, 0.0) > 0 for item in top):
        return math.nan
    true, noisy = [original.counts[item] for item in top], [max(0.5, released.get(item, 0.0)) for item in top]
    p, q = sum(true), sum(noisy)
    return math.fsum(a / p * math.log((a / p) / (b / q)) for a, b in zip(true, noisy, strict=True) if a > 0)


def mean_count_difference(original: Original, released: Histogram) -> float:
    """The mean difference to the original counts after scaling the released ones to the same total (003 figure 5)."""
    if not original.counts:
        return math.nan
    scale = original.total / total(released)
    wrong = sum(abs(original.counts.get(i, 0.0) - scale * max(0.0, n)) for i, n in released.items())
    missing = original.total - sum(original.counts.get(item, 0.0) for item in released)
    return (wrong + missing) / len(original.counts)


def total(histogram: Histogram) -> float:
    """The sum of counts, 1 for an empty histogram; a noisy count below 0 is none."""
    return math.fsum(max(0.0, count) for count in histogram.values()) or 1.0


def histogram_utility(
    original: Original, released: Histogram, tops: tuple[int, ...] = (10, 100, 1000)
) -> dict[str, Any]:
    """All measures of this module by name, the top-j ones for every j that the original has."""
    found: dict[str, Any] = {
        "items": len(released),
        "items_share": len(released) / len(original.counts) if original.counts else math.nan,
        "total_count": total(released) if released else 0.0,
        "mean_count_difference": mean_count_difference(original, released),
    }
    for j in (j for j in tops if j <= len(original.top)):
        found[f"top_{j}"] = {
            "coverage": top_coverage(original, released, j),
            "l1": top_l1(original, released, j),
            "kl": top_kl(original, released, j),
        }
    return found
