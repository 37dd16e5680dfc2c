"""Query suggestion as an application of released sessions and clicks (004 §4, equations 10 and 11).

A query-flow graph has an edge q -> q' with the count of q' coming after q in a session; a click graph gives every query
a vector of clicked URLs. P(q, q') = lambda cos(q, q') + (1 - lambda) e(q, q') / d(q), d the summed out-edges. For every
proper prefix of a test session the last query's five best candidates are compared with the queries that follow.
A session is evaluated when candidates exist for one of its prefixes at least.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Final

from proxid.lab.utility.counted.ranking import hits_at

Session = Sequence[str]
LAMBDA: Final = 0.5
"""004 does not print its lambda."""
TOP: Final = 5


@dataclass(slots=True)
class Suggester:
    """The two graphs of a log or a release."""

    flow: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    clicked: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    asked: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    length: dict[str, float] = field(default_factory=dict)

    def suggest(self, query: str, top: int = TOP, weight: float = LAMBDA) -> list[str]:
        """The best candidates for the query after this one, best first; none when the graphs do not know it."""
        scores: dict[str, float] = defaultdict(float)
        for other, similarity in self._similar(query).items():
            scores[other] += weight * similarity
        edges = self.flow.get(query)
        if edges:
            leaving = edges.total()
            for other, count in edges.items():
                scores[other] += (1 - weight) * count / leaving
        scores.pop(query, None)
        return sorted(scores, key=lambda other: (-scores[other], other))[:top]

    def _similar(self, query: str) -> dict[str, float]:
        products: dict[str, float] = defaultdict(float)
        for url, count in self.clicked.get(query, {}).items():
            for other in self.asked[url]:
                products[other] += count * self.clicked[other][url]
        here = self.length.get(query, 1.0)
        return {other: product / (here * self.length[other]) for other, product in products.items()}


def suggester(flow: Mapping[tuple[str, str], float], clicks: Mapping[tuple[str, str], float]) -> Suggester:
    """The graphs of counts: flow[(q, later q)], clicks[(q, URL)]; counts that noise made negative are left out."""
    graphs = Suggester()
    for (before, after), count in flow.items():
        if count > 0 and before != after:
            graphs.flow[before][after] += count  # type: ignore[assignment]
    for (query, url), count in clicks.items():
        if count > 0:
            graphs.clicked[query][url] += count  # type: ignore[assignment]
            graphs.asked[url].add(query)
    for query, urls in graphs.clicked.items():
        graphs.length[query] = math.sqrt(math.fsum(count * count for count in urls.values()))
    return graphs


def flow_of_sessions(sessions: Iterable[Session]) -> Counter[tuple[str, str]]:
    """How often a query comes after another one in a session, not only right after it."""
    flow: Counter[tuple[str, str]] = Counter()
    for session in sessions:
        flow.update({(q, later) for i, q in enumerate(session) for later in session[i + 1 :] if later != q})
    return flow


def flow_of_released(sequences: Mapping[tuple[str, ...], float]) -> Counter[tuple[str, str]]:
    """The same of published sequences.

    A release holds the subsequences of its sequences too, so pairs are counted by the sequences of two queries; a pair
    that was not published by itself has the largest count of a sequence that holds it.
    """
    flow: dict[tuple[str, str], float] = {}
    longer: dict[tuple[str, str], float] = {}
    for sequence, count in sequences.items():
        if len(sequence) == 2:
            flow[sequence[0], sequence[1]] = count
        else:
            for pair in flow_of_sessions([sequence]):
                longer[pair] = max(longer.get(pair, 0.0), count)
    return Counter(longer | flow)


@dataclass(frozen=True, slots=True)
class Evaluated:
    """P@5 and R@5 of each evaluated test session, by the session's number."""

    scores: dict[int, tuple[float, float]]

    def mean(self, sessions: Iterable[int] | None = None) -> dict[str, float]:
        """P@5, R@5 over all evaluated sessions, or over some of them, and how many they are."""
        chosen = [self.scores[s] for s in (self.scores if sessions is None else sessions)]
        pair = [fmean(score[i] for score in chosen) if chosen else math.nan for i in (0, 1)]
        return {"precision_at_5": pair[0], "recall_at_5": pair[1], "sessions": float(len(chosen))}


def evaluate(graphs: Suggester, tests: Sequence[Session], weight: float = LAMBDA) -> Evaluated:
    """Run every proper prefix of the test sessions; a session's score is the mean over its prefixes with candidates."""
    scores: dict[int, tuple[float, float]] = {}
    for number, session in enumerate(tests):
        found = [
            hits_at(set(session[end:]), candidates, TOP)
            for end in range(1, len(session))
            if (candidates := graphs.suggest(session[end - 1], TOP, weight))
        ]
        if found:
            scores[number] = (fmean(p for p, _ in found), fmean(r for _, r in found))
    return Evaluated(scores)


def compared(runs: Mapping[str, Evaluated]) -> dict[str, dict[str, dict[str, float]]]:
    """Each run on its own sessions (004 table 5), and on the sessions that all runs evaluate.

    Over different sessions the comparison selects itself: a release that only answers the easy ones looks better.
    """
    common = set.intersection(*(set(run.scores) for run in runs.values())) if runs else set()
    return {name: {"own": run.mean(), "common": run.mean(sorted(common))} for name, run in runs.items()}
