"""The path of a general query: an IAB head of at most four levels, then WordNet hypernyms down to a noun of the query.

The head comes from the subjects network; a lower IAB level also from its name in the text. The tail is the chain of
hypernyms from the tier-1's anchor (data/anchors.tsv: "taco" under Food & Drink is the dish) to the most specific noun
that has a sense below it. Names never get into a path: nouns are looked for in the masked text.
"""

from collections.abc import Sequence
from functools import cache, lru_cache
from math import exp

import numpy as np

from proxid.classify.feature_sum import Network
from proxid.classify.lexicon import lexicon, mapping
from proxid.classify.ontology import MAX_LEVELS, Ontology
from proxid.classify.weights import Doubles
from proxid.ontology import wordnet
from proxid.ontology.morphology import noun_base

NO_TOPIC = ("NONE",)
HEAD = 4
NONE_ODDS = 0.4
SURE_ODDS = 0.8
"""Probability from which a topic is sure."""
NODE_ODDS = 0.5
"""Probability, given the tier-1, from which a lower IAB level is named."""
LONGEST = 3
SENSES = 3
"""Rarer senses of a noun are not looked at: they are mostly accidents ("bowl", the bowling ball)."""


class Categories:
    """Files queries under the shipped taxonomy."""

    def __init__(self, network: Network, iab: Ontology) -> None:
        self.network, self._iab = network, iab
        self.tops = network.classes["top"]
        self._nodes = [tuple(name.split("/")) for name in network.classes["node"]]
        first = len(self.tops)
        self._below = {top: first + np.flatnonzero([node[0] == top for node in self._nodes]) for top in self.tops}

    def odds(self, words: Sequence[str]) -> Doubles:
        """A query's probability of each tier-1."""
        return softmax(self.network.scores([words])[0][0, : len(self.tops)])

    def top(self, odds: Doubles) -> str:
        """The tier-1 of a query; none only where that is likely, since a query without a topic is lost to everybody."""
        best = int(odds.argmax())
        if self.tops[best] == NO_TOPIC[0] and odds[best] < NONE_ODDS:
            best = int(np.argsort(odds)[-2])
        return self.tops[best]

    def sure(self, scores: Doubles) -> bool:
        """Whether the network's outputs for a query say surely that it has a topic."""
        odds = softmax(scores[: len(self.tops)])
        best = int(odds.argmax())
        return bool(odds[best] >= SURE_ODDS) and self.tops[best] != NO_TOPIC[0]

    def path(self, words: Sequence[str], masked: Sequence[str]) -> tuple[str, ...]:
        """Category path of a query from its words, the tail from the words of its masked text."""
        return self.filed(self.network.scores([words])[0][0], masked)

    def filed(self, scores: Doubles, masked: Sequence[str]) -> tuple[str, ...]:
        """Category path of a query from the network's outputs, the tail from the words of its masked text."""
        top = self.top(softmax(scores[: len(self.tops)]))
        if top == NO_TOPIC[0]:
            return NO_TOPIC
        head = self._head(top, scores, masked)
        return (*head, *tail(top, masked))[:MAX_LEVELS]

    def _head(self, top: str, scores: Doubles, masked: Sequence[str]) -> tuple[str, ...]:
        best: tuple[str, ...] = (top,)
        below = self._below[top]
        if below.size:
            # Few numbers: plain arithmetic is faster than arrays.
            odds = scores.take(below).tolist()
            highest = max(odds)
            if 1 / sum(exp(score - highest) for score in odds) >= NODE_ODDS:
                best = self._nodes[below[odds.index(highest)] - len(self.tops)]
        for path in self._iab.named_in(masked, LONGEST):
            if path[: len(best)] == best and len(path) > len(best) and path[-1] != top:
                return path[:HEAD]
        return best[:HEAD]


def softmax(scores: Doubles) -> Doubles:
    """Scores of one text as probabilities."""
    powers: Doubles = np.exp(scores - np.maximum.reduce(scores))
    powers /= np.add.reduce(powers)
    return powers


@cache
def _anchors(top: str) -> frozenset[int]:
    net = wordnet.load()
    found = []
    for name in mapping("anchors").get(top, "").split():
        lemma, _, number = name.rpartition(".n.")
        senses = net.senses(lemma)
        if int(number) <= len(senses):
            found.append(int(senses[int(number) - 1]))
    return frozenset(found)


@cache
def _longest() -> dict[str, int]:
    """Words of the longest label of WordNet that begins with a word, for labels of several words."""
    net = wordnet.load()
    result: dict[str, int] = {}
    for label in (*net.row, *net.exceptions):
        first, *others = label.split("_")
        if others:
            result[first] = max(result.get(first, 0), 1 + len(others))
    return result


def tail(top: str, words: Sequence[str]) -> tuple[str, ...]:
    """Hypernyms from below an anchor of the tier-1 down to the query's most specific fitting noun; may be empty."""
    net, longest, stopwords = wordnet.load(), _longest(), lexicon("stopwords")
    best: tuple[str, ...] = ()
    # Words that can begin a phrase, with the most words that it can have; none without an anchor to end at.
    firsts = [
        (i, longest.get(word, 1)) for i, word in enumerate(words) if word.isalpha() and word not in stopwords
    ] if _anchors(top) else []  # fmt: skip
    for n in range(min(LONGEST, len(words)), 0, -1):
        for i, most in firsts:
            if most < n or i + n > len(words) or words[i + n - 1] in stopwords:
                continue
            base = noun_base(net, "_".join(words[i : i + n]))
            if base is not None:
                chain = _chain(base, top)
                if len(chain) > len(best):
                    best = chain
        if best:
            return best
    return best


@lru_cache(maxsize=20_000)
def _chain(lemma: str, top: str) -> tuple[str, ...]:
    """Names from below an anchor to the first sense of a lemma that has one above it; only lemmas are remembered."""
    net, anchors = wordnet.load(), _anchors(top)
    for sense in net.senses(lemma).tolist()[:SENSES]:
        chain = [sense]
        while chain[-1] not in anchors:
            parents = [p for p in net.parents(chain[-1]).tolist() if p not in chain]
            if not parents:
                break
            chain.append(next((p for p in parents if _under(p, top)), parents[0]))
        if chain[-1] in anchors and _offensive().isdisjoint(chain):
            return tuple(net.label(concept) for concept in reversed(chain[:-1] or chain))
    return ()


@cache
def _offensive() -> frozenset[int]:
    """Senses that WordNet's own definitions call offensive."""
    net = wordnet.load()
    return frozenset(net.concept(name) for name in lexicon("offensive") if net.senses(name.rpartition(".n.")[0]).size)


@lru_cache(maxsize=200_000)
def _under(concept: int, top: str) -> bool:
    """Whether a concept is an anchor of the tier-1 or has one above it."""
    if concept in _anchors(top):
        return True
    return any(_under(parent, top) for parent in wordnet.load().parents(concept).tolist())
