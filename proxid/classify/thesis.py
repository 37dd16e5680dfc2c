"""The thesis's classifier, kept as the baseline: 002 §3.3.4.1, Algorithm 1.

For each query: semantic units (nouns and adjectives), identifiers removed; each unit goes to a recommendation database
that corrects its spelling; the unit with the fewest references is the most informative; the category is its category.
As printed, the references are those of the unit as written (line 6) and the category that of the corrected one (7-9).
The databases were a web search engine's; here they are WordNet's and the training splits' counts and an ontology.
"""

import math
from collections.abc import Iterator, Sequence

from proxid.classify.identifiers.gazetteer import Grades
from proxid.classify.identifiers.gazetteer import load as load_gazetteer
from proxid.classify.memory import WordMemory
from proxid.classify.named import NO_TOPIC, NamedCategories
from proxid.classify.ontology import Ontology
from proxid.ontology import wordnet
from proxid.ontology.noun_phrases import noun_phrases

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
SHORTEST = 4
"""Shorter words are not corrected: almost any of them is one letter from another word."""


class Recommendations:
    """Line 5: the correct term of a misspelled one, the commonest word one edit away; known words are correct."""

    def __init__(self, words: dict[str, Grades]) -> None:
        self._words = words
        self.word = WordMemory(self._word, words).__getitem__

    def __call__(self, unit: str) -> str:
        return " ".join(map(self.word, unit.split()))

    def _word(self, word: str) -> str:
        if len(word) < SHORTEST or word in self._words or not word.isalpha() or word.removesuffix("s") in self._words:
            return word
        known = [(self._words[near].common, near) for near in sorted(_edits(word)) if near in self._words]
        best = max(known, default=(0, word))
        return best[1] if best[0] >= 2 else word


def _edits(word: str) -> set[str]:
    """Every string one deletion, transposition, replacement or insertion away."""
    splits = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    return {
        *(a + b[1:] for a, b in splits if b),
        *(a + b[1] + b[0] + b[2:] for a, b in splits if len(b) > 1),
        *(a + c + b[1:] for a, b in splits if b for c in _LETTERS),
        *(a + c + b for a, b in splits for c in _LETTERS),
    }


class Entropies:
    """Line 6: how much is known of a unit; a phrase has at most the references of its rarest word."""

    def __init__(self, words: dict[str, Grades]) -> None:
        self._words = words

    def __call__(self, unit: str) -> float:
        counts = [self._words[word].common if word in self._words else 0 for word in unit.split()]
        return min(counts, default=math.inf) - 0.5 * (len(counts) - 1)


class ThesisCategories:
    """Algorithm 1 as the category stage of a pipeline."""

    def __init__(self, ontology: Ontology) -> None:
        words = load_gazetteer()
        self.recommendation, self.entropy = Recommendations(words), Entropies(words)
        self.category = NamedCategories(ontology)

    def path(self, words: Sequence[str], masked: Sequence[str]) -> tuple[str, ...]:
        """Category of the query's main unit; `masked` are its words without identifiers."""
        del words
        least, main = math.inf, ""
        for unit in self.units(masked):
            corrected = self.recommendation(unit)
            references = self.entropy(unit)
            if references < least:
                least, main = references, corrected
        return self._filed(main) if main else NO_TOPIC

    def units(self, masked: Sequence[str]) -> Iterator[str]:
        """Line 2: noun phrases, nouns and adjectives alone."""
        for phrase in noun_phrases(wordnet.load(), " ".join(masked)):
            yield " ".join(phrase)

    def _filed(self, unit: str) -> tuple[str, ...]:
        """The category of a unit, of its shorter ends down to the last noun, or of its other words."""
        parts = unit.split()
        ends = [" ".join(parts[i:]) for i in range(len(parts))]
        for phrase in [*ends, *reversed(parts)]:
            found = self.category.phrase(phrase)
            if found:
                return found
        return NO_TOPIC
