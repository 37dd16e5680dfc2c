"""Query substitution as an application of released queries and query pairs (003 §8.3, after Jones et al. 2006).

A query is cut into phrases where neighbouring words have little mutual information. A pair of subsequent queries that
differ in one phrase is evidence for replacing that phrase; a pair of whole queries for replacing the query. Candidates
are ranked by the log-likelihood ratio of the pair's counts against independence, then by count.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean
from typing import Final

from proxid.lab.utility.counted import ranking

Phrase = tuple[str, ...]
QueryCounts = Mapping[str, float]
PairCounts = Mapping[tuple[str, str], float]
Rankings = dict[str, list[str]]

LEAST_INFORMATION: Final = math.log(8)
"""Pointwise mutual information (nats) under which two neighbouring words are in different phrases."""


@dataclass(slots=True)
class Substitutions:
    """What a log, or a release, says about rephrasing."""

    words: Counter[str] = field(default_factory=Counter)
    bigrams: Counter[tuple[str, str]] = field(default_factory=Counter)
    pairs: dict[Phrase, Counter[Phrase]] = field(default_factory=lambda: defaultdict(Counter))
    followed: Counter[Phrase] = field(default_factory=Counter)
    following: Counter[Phrase] = field(default_factory=Counter)
    weight: float = 0.0

    def segment(self, query: str) -> list[Phrase]:
        """The query's phrases, in order."""
        words = query.split()
        phrases: list[list[str]] = [words[:1]] if words else []
        for left, right in pairwise(words):
            if self._information(left, right) < LEAST_INFORMATION:
                phrases.append([])
            phrases[-1].append(right)
        return [tuple(phrase) for phrase in phrases]

    def _information(self, left: str, right: str) -> float:
        both = self.bigrams[left, right]
        if not both:
            return -math.inf
        total = self.words.total()
        return math.log(both * total / (self.words[left] * self.words[right]))

    def rank(self, query: str, j: int) -> list[str]:
        """The best j substitutions of a query, best first."""
        phrases = self.segment(query)
        scores: dict[str, tuple[float, float]] = {}
        spans = {(0, len(phrases))} | {(i, i + 1) for i in range(len(phrases))}
        for start, stop in spans:
            old = sum(phrases[start:stop], ())
            for new, count in self.pairs.get(old, {}).items():
                words = [*sum(phrases[:start], ()), *new, *sum(phrases[stop:], ())]
                text = " ".join(words)
                if text != query:
                    scores[text] = max(scores.get(text, (0.0, 0.0)), (self._evidence(old, new, count), count))
        return sorted(scores, key=lambda text: (-scores[text][0], -scores[text][1], text))[:j]

    def _evidence(self, old: Phrase, new: Phrase, count: float) -> float:
        """Log-likelihood ratio of `new` following `old` more often than other phrases (0 when less often)."""
        here, elsewhere = self.followed[old], self.weight - self.followed[old]
        others = max(0.0, self.following[new] - count)
        if count * elsewhere <= others * here:
            return 0.0
        together = (count + others) / self.weight
        return 2 * (
            _log_likelihood(count, here, count / here)
            + _log_likelihood(others, elsewhere, others / elsewhere if elsewhere else 0.0)
            - _log_likelihood(count, here, together)
            - _log_likelihood(others, elsewhere, together)
        )


def learn(queries: QueryCounts, pairs: PairCounts) -> Substitutions:
    """Substitutions from counts of queries and of pairs (before, after); counts below 0 are noise and left out."""
    model = Substitutions()
    for query, count in queries.items():
        words = query.split()
        for word in words:
            model.words[word] += max(0, round(count))
        for bigram in pairwise(words):
            model.bigrams[bigram] += max(0, round(count))
    for (before, after), count in pairs.items():
        if count > 0:
            whole = (tuple(before.split()), tuple(after.split()))
            for old, new in {_changed(model.segment(before), model.segment(after)), whole}:
                _add(model, old, new, count)
    return model


def _add(model: Substitutions, old: Phrase, new: Phrase, count: float) -> None:
    if old and new and old != new:
        model.pairs[old][new] += count  # type: ignore[assignment]
        model.followed[old] += count  # type: ignore[assignment]
        model.following[new] += count  # type: ignore[assignment]
        model.weight += count


def _changed(before: list[Phrase], after: list[Phrase]) -> tuple[Phrase, Phrase]:
    """The one phrase that differs between two queries, old and new; the whole queries when more do."""
    differ = [i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b]
    if len(before) == len(after) and len(differ) == 1:
        return before[differ[0]], after[differ[0]]
    return sum(before, ()), sum(after, ())


def _log_likelihood(hits: float, draws: float, chance: float) -> float:
    chance = min(max(chance, 1e-12), 1 - 1e-12)
    return hits * math.log(chance) + (draws - hits) * math.log1p(-chance)


def rankings(model: Substitutions, queries: Iterable[str], j: int = 5) -> Rankings:
    """The best j substitutions of every query that has any: of the original log, the ground truth."""
    ranked = {query: model.rank(query, j) for query in queries}
    return {query: best for query, best in ranked.items() if best}


def substitution_utility(
    truth: Rankings, released: Substitutions, tops: tuple[int, ...] = (2, 5)
) -> dict[str, dict[str, float]]:
    """003's measures, averaged: coverage over queries with a truth, the others over those that are covered."""
    measures = {
        "precision": ranking.precision, "recall": ranking.recall, "map": ranking.mean_rank_ratio, "ndcg": ranking.ndcg,
    }  # fmt: skip
    known = [(best, released.rank(query, max(tops))) for query, best in truth.items()]
    covered = [pair for pair in known if pair[1]]
    found: dict[str, dict[str, float]] = {}
    for j in tops:
        row = {name: fmean(f(a, b, j) for a, b in covered) if covered else math.nan for name, f in measures.items()}
        row["coverage"] = fmean(ranking.coverage(a, b, j) for a, b in known) if known else math.nan
        found[f"top_{j}"] = row | {"queries": float(len(known)), "covered": float(len(covered))}
    return found
