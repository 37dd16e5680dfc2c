"""Utility by task, on whatever a release publishes: frequent queries and index caching, substitution and suggestion.

003 §8 and 004 §4, by the measures of `proxid.lab.releases_*`. A task is left out for a release that does not
publish the items it needs.
"""

from collections.abc import Mapping
from typing import Any

from proxid.lab.studies.counted import Counts
from proxid.lab.studies.view import Original, View
from proxid.lab.utility.counted.caching import cached_keywords, documents_of, hit_probability
from proxid.lab.utility.counted.histogram import Original as Ranked
from proxid.lab.utility.counted.histogram import histogram_utility, top_coverage
from proxid.lab.utility.counted.substitution import Substitutions, learn, rankings, substitution_utility
from proxid.lab.utility.counted.suggestion import Evaluated, evaluate, flow_of_released, suggester

TOP = 100
ASKED = 500
"""Most frequent queries that substitutions are asked for."""
MEMORY_SHARE = 0.05
"""Share of all posting lists that fits into the cache."""
POSTING_BYTES = 8


class Tasks:
    """The tasks on one log; what the original itself achieves is worked out once."""

    def __init__(self, original: Original) -> None:
        self._kinds, self._tests = original.kinds, original.tests
        self._documents = documents_of((item[0], item[1]) for item in self._kinds.get("clicks", {}))
        self._words = _first(self._kinds["keywords"])
        lists = sum(max(1, self._documents[word]) for word in self._words)
        self._memory = max(POSTING_BYTES, int(POSTING_BYTES * lists * MEMORY_SHARE))
        self._ranked = Ranked.of(self._kinds["queries"], max(TOP, ASKED))
        asked = [item[0] for item in self._ranked.top[:ASKED]]
        self._substitutions = rankings(_model(self._kinds["queries"], self._kinds.get("pairs", {})), asked)

    def measure(self, view: View) -> dict[str, Any]:
        """Every task that the release allows, by name."""
        found: dict[str, Any] = {}
        queries, words, pairs = (view.kinds.get(kind) for kind in ("queries", "keywords", "pairs"))
        top = min(TOP, len(self._ranked.top))
        if queries is not None:
            found["frequent"] = histogram_utility(self._ranked, queries, (top,))[f"top_{top}"]
        elif view.texts:
            # What clicks and sequences publish are queries too, without counts of their own.
            found["frequent"] = {"coverage": top_coverage(self._ranked, {(text,): 1.0 for text in view.texts}, top)}
        if words is not None:
            found["caching"] = self._hits(_first(words)) / max(self._hits(self._words), 1e-9)
        if queries is not None and pairs is not None:
            found["substitution"] = substitution_utility(self._substitutions, _model(queries, pairs), (5,))["top_5"]
        return found

    def _hits(self, words: Mapping[str, float]) -> float:
        return hit_probability(self._words, cached_keywords(words, self._documents, self._memory))

    def suggestions(self, view: View) -> Evaluated | None:
        """P@5 and R@5 of later sessions, None when the release has no graph to suggest from."""
        clicks = {(item[0], item[1]): count for item, count in view.kinds.get("clicks", {}).items()}
        if sequences := view.kinds.get("sequence"):
            flow: Mapping[tuple[str, str], float] = flow_of_released(sequences)
        else:
            flow = {(item[0], item[1]): count for item, count in view.kinds.get("pairs", {}).items()}
        return evaluate(suggester(flow, clicks), self._tests) if flow or clicks else None


def _first(counts: Counts) -> dict[str, float]:
    return {item[0]: count for item, count in counts.items()}


def _model(queries: Counts, pairs: Counts) -> Substitutions:
    return learn(_first(queries), {(pair[0], pair[1]): count for pair, count in pairs.items()})
