"""Features of a text: words, pairs and triples of words, and pieces of words (what the networks are trained on)."""

from collections.abc import Sequence
from itertools import pairwise

PIECES = (3, 4, 5)
"""Lengths of the pieces of a word, its edges marked by `<` and `>`."""


def pieces(word: str) -> tuple[str, ...]:
    """The pieces of one word, as features."""
    edged = f"<{word}>"
    return tuple("#" + edged[i : i + n] for n in PIECES for i in range(len(edged) - n + 1))


def features(words: Sequence[str]) -> list[str]:
    """Features of a text: first word, words, pairs, triples, pieces of words."""
    edged = ["^", *words, "$"]
    found = [f"{a} {b}" for a, b in pairwise(edged)]
    found += [f"{a} {b} {c}" for a, b, c in zip(edged, edged[1:], edged[2:], strict=False)]
    for word in words:
        found.append(word)
        found += pieces(word)
    return found
