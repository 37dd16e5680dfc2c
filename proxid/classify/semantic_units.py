"""Semantic units of a text: the noun phrases and content n-grams that name a thing (DESIGN 8.7)."""

from collections.abc import Sequence

from proxid.classify.lexicon import lexicon

STOPWORDS = lexicon("stopwords") | lexicon("fillers")
"""Words that name no thing and end a phrase: function words, and the stock words of requests (near, famous)."""
MAX_WORDS = 4
MAX_UNITS = 12


def semantic_units(words: Sequence[str]) -> tuple[str, ...]:
    """Content n-grams of a masked, normalised text, longest first; a masked slot (`<name>`) ends a phrase."""
    found: dict[str, int] = {}
    run: list[str] = []
    for word in (*words, ""):
        if is_content(word):
            run.append(word)
        elif run:
            for unit in _grams(run):
                found[" ".join(unit)] = len(unit)
            run = []
    ordered = sorted(found, key=lambda unit: (-found[unit], -len(unit), unit))
    return tuple(ordered[:MAX_UNITS])


def is_content(word: str) -> bool:
    """Whether a word can be part of the name of a thing."""
    return word not in STOPWORDS and len(word) > 1 and word.isascii() and word.isalpha()


def _grams(run: list[str]) -> list[list[str]]:
    longest = min(len(run), MAX_WORDS)
    return [run[i : i + n] for n in range(longest, 0, -1) for i in range(len(run) - n + 1)]
