"""The thesis's classifier, kept as the baseline: 002 §3.3.4.1, Algorithm 1.

For each query: semantic units (nouns and adjectives), identifiers removed; each unit goes to a recommendation database
that corrects its spelling; the unit with the fewest references is the most informative; the category is its category.
As printed, the references are those of the unit as written (line 6) and the category that of the corrected one (7-9).
The databases were a web search engine's; here they are WordNet's and the training splits' counts and an ontology.

How a run of keywords parts into units the thesis leaves to a tagger; its example has "european soccer", "barcelona" and
"players". The rule here: a collocation that WordNet lists is one unit; an adjective or a number is one with the unit
after it, since alone it names no thing; every other word is a unit of its own. Where the main unit has no category the
next one is asked, the fewest references first (§3.4.5: the thesis then looks for alternatives).
"""

from collections.abc import Iterator, Sequence

from proxid.classify.identifiers.gazetteer import Grades
from proxid.classify.identifiers.gazetteer import load as load_gazetteer
from proxid.classify.memory import WordMemory
from proxid.classify.named import LONGEST, NO_TOPIC, NamedCategories
from proxid.classify.ontology import Ontology
from proxid.ontology import wordnet
from proxid.ontology.morphology import noun_base
from proxid.ontology.noun_phrases import noun_phrases, part_of_speech

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
        counts = [self._references(word) for word in unit.split()]
        return min(counts) - 0.5 * (len(counts) - 1)

    def _references(self, word: str) -> int:
        known = [self._words[form].common for form in (word, word.removesuffix("s")) if form in self._words]
        return max(known, default=0)


class ThesisCategories:
    """Algorithm 1 as the category stage of a pipeline."""

    def __init__(self, ontology: Ontology) -> None:
        words = load_gazetteer()
        self.recommendation, self.entropy = Recommendations(words), Entropies(words)
        self.category = NamedCategories(ontology)

    def path(self, words: Sequence[str], masked: Sequence[str]) -> tuple[str, ...]:
        """Category of the query's main unit; `masked` are its words without identifiers."""
        del words
        for unit in sorted(self.units(masked), key=self.entropy):
            found = self._filed(self.recommendation(unit))
            if found:
                return found
        return NO_TOPIC

    def units(self, masked: Sequence[str]) -> Iterator[str]:
        """Line 2: nouns and adjectives, parted as above."""
        net = wordnet.load()
        for phrase in noun_phrases(net, " ".join(masked)):
            start = at = 0
            while at < len(phrase):
                length = _collocation(net, phrase[at:])
                at += length
                if length > 1 or at == len(phrase) or part_of_speech(net, phrase[at - 1], phrase[at]) != "modifier":
                    yield " ".join(phrase[start:at])
                    start = at

    def _filed(self, unit: str) -> tuple[str, ...]:
        """The category of a unit, of its shorter ends down to the last noun, or of its other words."""
        parts = unit.split()
        ends = [" ".join(parts[i:]) for i in range(len(parts))]
        for phrase in [*ends, *reversed(parts)]:
            found = self.category.phrase(phrase)
            if found:
                return found
        return ()


def _collocation(net: wordnet.WordNet, words: Sequence[str]) -> int:
    """How many of the first words are the longest collocation that WordNet lists, 1 without one."""
    longest = min(len(words), LONGEST)
    return next((n for n in range(longest, 1, -1) if noun_base(net, "_".join(words[:n])) is not None), 1)
