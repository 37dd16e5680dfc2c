"""The experiments of 003 on a log: ZEALOUS and k-query anonymity, by m, epsilon and k; partition beside them.

Tables 1 and 2 are computed, Tables 3 and 4 and Figures 2 to 8 measured on the log. delta is the paper's 0.001 unless
given. Where the paper does not print epsilon (Tables 3, Figures 2 and 3) the study's own is used.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np

from proxid.lab.release.items import KINDS
from proxid.lab.release.partition.mechanism import select
from proxid.lab.release.partition.plan import partition_plan
from proxid.lab.release.zealous.mechanism import sanitise
from proxid.lab.release.zealous.plan import (
    indistinguishable_delta,
    optimal_tau,
    probabilistic_delta,
    probabilistic_threshold,
    zealous_plan,
)
from proxid.lab.studies.counted import NOISE, CountedLog, Counts
from proxid.lab.utility.counted.caching import cached_keywords, documents_of, hit_probability
from proxid.lab.utility.counted.histogram import Original, histogram_utility, mean_count_difference, total
from proxid.lab.utility.counted.substitution import Substitutions, learn, rankings, substitution_utility

Progress = Callable[[int, int], None]
MS: Final = (1, 4, 8, 20, 40)
TOPS: Final = (10, 50, 100, 500, 1000)
EPSILONS: Final = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
KS: Final = (10, 20, 40, 60, 80, 100)
TABLE1: Final = tuple((scale, tau_prime) for scale in (1, 5) for tau_prime in (50, 100, 150, 200))
TABLE2_TAUS: Final = (1, 3, 5, 7, 9)


@dataclass(frozen=True)
class Settings:
    """What the study varies. memory_share: the cache holds this share of all posting lists (003: 1 GB)."""

    epsilon: float = 5.0
    delta: float = 1e-3
    ms: Sequence[int] = MS
    epsilons: Sequence[float] = EPSILONS
    ks: Sequence[int] = KS
    caching_ms: tuple[int, int] = (1, 6)
    memory_share: float = 0.05
    queries: int = 1000


def released(log: CountedLog, kind: str, m: int, epsilon: float, delta: float, method: str = "probabilistic") -> Counts:
    """One release: `method` is an analysis of ZEALOUS, or `partition`."""
    histogram = log.bounded(kind, m)
    if method == "partition":
        return histogram.kept(select(histogram.counts, partition_plan(m, epsilon, delta), NOISE))
    plan = zealous_plan(method, m, epsilon, delta, log.users)
    return histogram.kept(sanitise(histogram.counts, plan, NOISE))


def run(log: CountedLog, settings: Settings, progress: Progress) -> dict[str, Any]:
    """All tables and figures as numbers."""
    steps: list[tuple[str, Callable[[], Any]]] = [
        ("table_1", lambda: [table_1_row(*row) for row in TABLE1]),
        ("table_2", table_2),
        ("table_3", lambda: table_3(log, settings)),
        ("table_4", lambda: {kind: log.items_by_user(kind) for kind in KINDS}),
        ("figures_2_3", lambda: {kind: by_m(log, kind, settings) for kind in KINDS}),
        ("figure_4", lambda: {kind: distributions(log, kind, settings) for kind in KINDS}),
        ("figure_5", lambda: {kind: differences(log, kind, settings) for kind in KINDS}),
        ("figure_6", lambda: caching(log, settings)),
        ("figures_7_8", lambda: substitution(log, settings)),
        ("partition", lambda: {kind: side_by_side(log, kind, settings) for kind in KINDS}),
    ]
    found: dict[str, Any] = {"users": log.users, "epsilon": settings.epsilon, "delta": settings.delta}
    for number, (name, step) in enumerate(steps):
        progress(number, len(steps))
        found[name] = step()
    progress(len(steps), len(steps))
    return found | {"trends": trends(found, settings)}


def table_1_row(scale: float, tau_prime: float) -> dict[str, float]:
    """delta of both analyses for given noise and threshold (U = 500,000, m = 5, tau = 1)."""
    return {
        "lambda": scale,
        "tau_prime": tau_prime,
        "delta": probabilistic_delta(5, scale, 1, tau_prime, 500_000),
        "delta_prime": indistinguishable_delta(5, scale, tau_prime),
    }


def table_2() -> dict[str, Any]:
    """tau' by tau for m = 2, epsilon = 1, delta = 0.01 and the U = 5,000,000 that its numbers hold for."""
    found = [probabilistic_threshold(2, 1.0, 0.01, 5_000_000, tau) for tau in TABLE2_TAUS]
    return {"tau": list(TABLE2_TAUS), "tau_prime": found, "optimal_tau": optimal_tau(2, 1.0, 0.01, 5_000_000)}


def table_3(log: CountedLog, settings: Settings) -> dict[str, Any]:
    """Distinct items and total counts published, by m."""
    found: dict[str, Any] = {"m": list(settings.ms), "distinct": {}, "total": {}}
    for kind in KINDS:
        releases = [released(log, kind, m, settings.epsilon, settings.delta) for m in settings.ms]
        found["distinct"][kind] = [len(release) for release in releases]
        found["total"][kind] = [total(release) if release else 0.0 for release in releases]
    return found


def by_m(log: CountedLog, kind: str, settings: Settings) -> dict[str, Any]:
    """Top-j coverage, L1 and KL by m (Figures 2 and 3)."""
    original = Original.of(log.full(kind).as_dict(), max(TOPS))
    tops = tuple(j for j in TOPS if j <= len(original.top))
    releases = [released(log, kind, m, settings.epsilon, settings.delta) for m in settings.ms]
    rows = [histogram_utility(original, release, tops) for release in releases]
    return {
        "m": list(settings.ms),
        "j": list(tops),
        **{name: [[row[f"top_{j}"][name] for j in tops] for row in rows] for name in ("coverage", "l1", "kl")},
    }


def distributions(log: CountedLog, kind: str, settings: Settings) -> dict[str, Any]:
    """How many items have which count (Figure 4): original, k-query (k = 10), ZEALOUS (m = 1)."""
    releases = {
        "original": log.full(kind).as_dict(),
        "k-query": log.k_query(kind, 10).as_dict(),
        "zealous": released(log, kind, 1, settings.epsilon, settings.delta),
    }
    return {name: _binned(counts) for name, counts in releases.items()}


def _binned(counts: Counts) -> dict[str, list[float]]:
    """Items a count, in bins that double: the middle of a bin and the items a whole count in it."""
    values = np.array([count for count in counts.values() if count >= 0.5])
    edges = 2.0 ** np.arange(0, 24) - 0.5
    items = np.histogram(values, edges)[0]
    widths, used = np.diff(edges), items > 0
    middles = np.sqrt((edges[:-1] + 0.5) * (edges[1:] - 0.5))
    return {"count": middles[used].tolist(), "items": (items / widths)[used].tolist()}


def differences(log: CountedLog, kind: str, settings: Settings) -> dict[str, Any]:
    """The mean difference to the original counts by epsilon and by k (Figure 5, m = 1)."""
    original = Original.of(log.full(kind).as_dict(), 0)
    by_epsilon = [released(log, kind, 1, epsilon, settings.delta) for epsilon in settings.epsilons]
    return {
        "epsilon": list(settings.epsilons),
        "zealous": [mean_count_difference(original, release) for release in by_epsilon],
        "k": list(settings.ks),
        "k-query": [mean_count_difference(original, log.k_query(kind, k).as_dict()) for k in settings.ks],
    }


def _words(counts: Counts) -> dict[str, float]:
    return {item[0]: count for item, count in counts.items()}


def caching(log: CountedLog, settings: Settings) -> dict[str, Any]:
    """Hit probabilities of the index by epsilon, m and k (Figure 6)."""
    original = _words(log.full("keywords").as_dict())
    documents = documents_of((query, url) for query, url in log.full("clicks").items)
    lists = sum(max(1, documents[word]) for word in original)
    memory = max(8, int(8 * lists * settings.memory_share))

    def hits(counts: Counts) -> float:
        return hit_probability(original, cached_keywords(_words(counts), documents, memory))

    return {
        "epsilon": list(settings.epsilons),
        "zealous": {
            str(m): [hits(released(log, "keywords", m, epsilon, settings.delta)) for epsilon in settings.epsilons]
            for m in settings.caching_ms
        },
        "k": list(settings.ks),
        "k-query": [hits(log.k_query("keywords", k).as_dict()) for k in settings.ks],
        "original": hit_probability(original, cached_keywords(original, documents, memory)),
        "memory_bytes": memory,
    }


def _model(queries: Counts, pairs: Counts) -> Substitutions:
    return learn(_words(queries), {(pair[0], pair[1]): count for pair, count in pairs.items()})


def substitution(log: CountedLog, settings: Settings) -> dict[str, Any]:
    """Query substitution by epsilon and k (Figure 7, m = 1) and coverage for m = 1 and 6 (Figure 8)."""
    queries, pairs = (log.full(kind).as_dict() for kind in ("queries", "pairs"))
    asked = [item[0] for item in Original.of(queries, settings.queries).top]
    truth = rankings(_model(queries, pairs), asked)

    def measured(m: int, epsilon: float) -> dict[str, dict[str, float]]:
        parts = (released(log, kind, m, epsilon, settings.delta) for kind in ("queries", "pairs"))
        return substitution_utility(truth, _model(*parts))

    anonymous = [_model(*(log.k_query(kind, k).as_dict() for kind in ("queries", "pairs"))) for k in settings.ks]
    return {
        "epsilon": list(settings.epsilons),
        "zealous": {str(m): [measured(m, epsilon) for epsilon in settings.epsilons] for m in settings.caching_ms},
        "k": list(settings.ks),
        "k-query": [substitution_utility(truth, model) for model in anonymous],
        "queries": len(asked),
    }


def side_by_side(log: CountedLog, kind: str, settings: Settings) -> dict[str, Any]:
    """Distinct items of both analyses and of partition at delta < 1/U, approximate, replacing a user, by m."""
    delta = 0.5 / log.users
    rows = {
        method: [len(released(log, kind, m, settings.epsilon, delta, method)) for m in settings.ms]
        for method in ("probabilistic", "indistinguishability", "partition")
    }
    better = [max(pair) for pair in zip(rows["probabilistic"], rows["indistinguishability"], strict=True)]
    ratios = [p / b if b else math.nan for p, b in zip(rows["partition"], better, strict=True)]
    return {"m": list(settings.ms), "epsilon": settings.epsilon, "delta": delta, **rows, "ratio": ratios}


def trends(found: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """What 003 concludes from Table 3, checked on this log."""
    distinct, totals = found["table_3"]["distinct"], found["table_3"]["total"]
    kept = {kind: row[-1] / row[0] if row[0] else math.nan for kind, row in distinct.items()}
    peak = {kind: settings.ms[int(np.argmax(row))] for kind, row in totals.items()}
    return {
        "distinct_items_fall_with_m": {kind: _falls(row) for kind, row in distinct.items()},
        "share_of_distinct_items_kept_from_first_to_last_m": kept,
        "keywords_lose_least": kept["keywords"] >= max(v for v in kept.values() if not math.isnan(v)),
        "m_of_the_largest_total": peak,
        "items_by_user": found["table_4"],
    }


def _falls(row: Sequence[int]) -> bool:
    """Whether a row falls, up to 3 standard deviations of the noise in a difference of two counts."""
    return all(b <= a + 3 * math.sqrt(a + b) for a, b in pairwise(row))
