"""Whether a text is English: other languages are rejected, not guessed (DESIGN 6).

Most utterances consist of ordinary English words and pass at once. The rest is judged by its letter
sequences in English and in 30 other languages written with Latin letters (profiles of the langdetect package).
"""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from proxid.classify.identifiers.gazetteer import Grades
from proxid.classify.identifiers.tables import words as table_words
from proxid.classify.identifiers.tagger import inflected, known
from proxid.classify.lexicon import lexicon
from proxid.classify.memory import WordMemory
from proxid.classify.places import Place
from proxid.classify.places import load as load_places

ENOUGH = 0.8
"""Share of ordinary English words from which a text passes without a closer look."""
MARGIN, WIDE = 25.0, 35.0
"""By how much another language must be likelier (natural logarithm) to reject a text; one of three words or less."""
LARGE, NOWHERE = 2, Place("", "", 0)
"""Grade of a place from which its name says nothing about the language of a text; grade of what is no place."""
_SHARED = frozenset(
    "a am an as be come do for has he her hers i in me no nor not off on once or she so then to up us very was who "
    "will".split()
)
"""Function words that other languages have too, or that say nothing in so short a text."""


class Language:
    """Judges texts; remembers words."""

    def __init__(self, gazetteer: dict[str, Grades]) -> None:
        self._gazetteer = gazetteer
        with (files("proxid.classify") / "data" / "languages.npz").open("rb") as stream, np.load(stream) as arrays:
            grams = bytes(arrays["grams"]).decode().split("\n")
            self._logs: NDArray[np.float32] = arrays["logs"].astype(np.float32) / 8
        self._row = {gram: i for i, gram in enumerate(grams)}
        self._floor = float(self._logs.min())
        self._foreign, self._function = lexicon("foreign_words"), lexicon("stopwords")
        self._contact, self._inner = table_words("names", "contact_verbs"), table_words("names", "inner")
        self._places = load_places()
        self._ordinary = WordMemory(self._is_ordinary, gazetteer).__getitem__
        self._score = WordMemory(self._scores, gazetteer).__getitem__

    def english(self, words: Sequence[str], unmasked: Sequence[str]) -> bool:
        """Whether words are English; those that are not in `unmasked` are names and numbers, which say little."""
        rest = [word for word in unmasked if word[0].isalpha()]
        letters = [word for word in words if word[0].isalpha() and len(word) > 1]
        if not letters or self._orders(words, rest):
            return True
        if self._greets(letters):
            return False
        # One word, or none, of its own is too little to pass by: then the letters of every word are judged too. Names
        # of large places have no language.
        rest = [word for word in rest if self._places.get(word, NOWHERE).grade < LARGE] or rest
        share = sum(map(self._ordinary, rest)) / len(letters if len(rest) < 2 else rest)
        if share >= ENOUGH:
            return True
        scores = np.sum([self._score(word) for word in letters], axis=0)
        return bool(scores[0] + (MARGIN if len(letters) > 3 else WIDE) >= scores[1:].max())

    def _orders(self, words: Sequence[str], rest: Sequence[str]) -> bool:
        """Whether all that is not masked is an English order to reach somebody: "call <NAME>", "text <NAME> now"."""
        ordered = bool(rest) and words[0] == rest[0] and rest[0] in self._contact
        return ordered and all(map(self._ordinary, rest)) and (self._foreign - self._inner).isdisjoint(words)

    def _greets(self, letters: Sequence[str]) -> bool:
        """Whether a text without an English function word consists mostly of frequent words of other languages."""
        if self._foreign.isdisjoint(letters):
            return False
        if any(word in self._function and word not in _SHARED for word in letters):
            return False
        foreign = sum(word in self._foreign for word in letters)
        return foreign >= sum(self._ordinary(word) and word not in self._foreign for word in letters)

    def _is_ordinary(self, word: str) -> bool:
        if word in self._function or "'" in word or known(self._gazetteer, word).common >= 2:
            return True
        base = inflected(self._gazetteer, word)
        return base is not None and base.common >= 2

    def _scores(self, word: str) -> NDArray[np.float32]:
        edged = f" {word} "
        grams = [edged[i : i + n] for n in (2, 3) for i in range(len(edged) - n + 1)]
        rows = [self._row[gram] for gram in grams if gram in self._row]
        score: NDArray[np.float32] = self._logs[rows].sum(axis=0) + self._floor * (len(grams) - len(rows))
        return score


@cache
def load() -> Language:
    """The shipped judge."""
    from proxid.classify.identifiers.gazetteer import load as load_gazetteer

    return Language(load_gazetteer())
