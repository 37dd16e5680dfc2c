"""A linear text model over words, word pairs and pieces of words, predicted with plain arrays.

A library's predict call costs milliseconds on one short text; a sum of rows of one matrix costs microseconds.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
PIECES = (3, 4, 5)
"""Lengths of the pieces of a word, its edges marked by `<` and `>`."""


@lru_cache(maxsize=65536)
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


class LinearModel:
    """Class scores of a text: the sum of its known features' weights."""

    def __init__(self, vocabulary: Sequence[str], weights: Floats, bias: Floats, classes: Sequence[str]) -> None:
        self.rows = {feature: row for row, feature in enumerate(vocabulary)}
        self.weights, self.bias, self.classes = weights, bias, tuple(classes)

    @classmethod
    def load(cls, arrays: Any, name: str) -> "LinearModel":
        """Read the model called `name` from an opened npz: vocabulary, int8 weights with a scale a column."""
        vocabulary = bytes(arrays[f"{name}.vocabulary"]).decode().split("\n")
        classes = bytes(arrays[f"{name}.classes"]).decode().split("\n")
        weights = arrays[f"{name}.weights"].astype(np.float32) * arrays[f"{name}.scale"]
        return cls(vocabulary, weights, arrays[f"{name}.bias"], classes)

    def scores(self, words: Sequence[str]) -> Floats:
        """Linear scores, one a class. Features weigh 1/sqrt(number of features), as in training."""
        found = features(words)
        rows = [row for row in map(self.rows.get, found) if row is not None]
        total: Floats = self.weights[rows].sum(axis=0) / np.float32(max(len(found), 1) ** 0.5) + self.bias
        return total

    def probabilities(self, words: Sequence[str]) -> Floats:
        """Softmax of the scores."""
        scores = self.scores(words)
        powers = np.exp(scores - scores.max())
        result: Floats = powers / powers.sum()
        return result
