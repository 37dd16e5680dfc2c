"""Semantic units of a text: the noun phrases and content n-grams that name a thing (DESIGN 8.7)."""

from collections.abc import Sequence
from itertools import groupby

from proxid.classify.lexicon import lexicon

STOPWORDS = lexicon("stopwords") | lexicon("fillers")
"""Words that name no thing and end a phrase: function words, and the stock words of requests (near, famous)."""
MAX_WORDS = 4
MAX_UNITS = 12


def semantic_units(words: Sequence[str]) -> tuple[str, ...]:
    """Content n-grams of a masked, normalised text, longest first; a masked slot (`<name>`) ends a phrase."""
    found: dict[str, int] = {}
    for content, run in groupby(words, key=is_content):
        if content:
            for unit in _grams(tuple(run)):
                found.setdefault(" ".join(unit), len(unit))
    ordered = sorted(found, key=lambda unit: (-found[unit], -len(unit), unit))
    return tuple(ordered[:MAX_UNITS])


def is_content(word: str) -> bool:
    """Whether a word can be part of the name of a thing."""
    return word.isascii() and word.isalpha() and len(word) > 1 and word not in STOPWORDS


def _grams(run: tuple[str, ...]) -> list[tuple[str, ...]]:
    longest = min(len(run), MAX_WORDS)
    return [run[i : i + n] for n in range(longest, 0, -1) for i in range(len(run) - n + 1)]
