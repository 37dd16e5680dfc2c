"""From a query to the concepts it refers to (000 §3.4): noun phrases, stop words out, stemming, modifiers dropped.

For each noun phrase the longest suffix that names any concept decides; if no sense of it lies in scope the phrase is
discarded, since neither protecting it nor publishing it as it is would make sense.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from proxid.lab.stemming import stem
from proxid.ontology.morphology import noun_base
from proxid.ontology.noun_phrases import noun_phrases
from proxid.ontology.wordnet import WordNet

LONGEST_LABEL = 10
"""Words in a label; what is further left cannot be part of a match (and a hostile query may have 50,000 words)."""


@dataclass(frozen=True)
class MappedPhrase:
    """A noun phrase, its concept, and the modifiers that had to be dropped to find it."""

    concept: int
    phrase: tuple[str, ...]
    dropped: int


class ConceptMapper:
    """Maps queries to concepts among `scope`; a label with several senses in scope means the most frequent one."""

    def __init__(self, wordnet: WordNet, scope: Sequence[int]) -> None:
        self._wordnet = wordnet
        self._in_scope = np.zeros(len(wordnet), bool)
        self._in_scope[np.asarray(scope, np.int64)] = True
        self._of_phrase: dict[tuple[str, ...], MappedPhrase | None] = {}

    @functools.cached_property
    def _stemmed(self) -> dict[str, str]:
        """Stemmed label -> the first label in alphabetical order that has this stem."""
        index: dict[str, str] = {}
        for label in self._wordnet.lemmas:
            index.setdefault(_stem_label(label), label)
        return index

    def __call__(self, query: str) -> list[MappedPhrase]:
        """The concepts of a query in the order of its noun phrases; empty if none is in scope."""
        whole = "_".join(query.lower().split())
        if "_" in whole and (base := noun_base(self._wordnet, whole)) is not None:
            phrases: list[list[str]] = [base.split("_")]  # "history of art" is one concept, not two phrases
        else:
            phrases = noun_phrases(self._wordnet, query)
        found = (self.phrase(tuple(p)) for p in phrases)
        return [f for f in found if f is not None]

    def phrase(self, words: tuple[str, ...]) -> MappedPhrase | None:
        """The concept of one noun phrase, None if it has none in scope."""
        if words not in self._of_phrase:
            self._of_phrase[words] = self._match(words)
        return self._of_phrase[words]

    def _match(self, words: tuple[str, ...]) -> MappedPhrase | None:
        for dropped in range(max(0, len(words) - LONGEST_LABEL), len(words)):
            label = "_".join(words[dropped:])
            base = noun_base(self._wordnet, label) or self._stemmed.get(_stem_label(label))
            if base is not None:
                senses = self._wordnet.senses(base)
                senses = senses[self._in_scope[senses]]
                return MappedPhrase(int(senses[0]), words, dropped) if len(senses) else None
        return None


def _stem_label(label: str) -> str:
    return "_".join(map(stem, label.split("_")))
