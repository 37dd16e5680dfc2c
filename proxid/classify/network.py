"""The shipped bag-of-features network: features -> hidden -> ReLU -> heads, with plain arrays (scripts/models).

A text costs one weighted sum of rows: of its known pairs and triples of words, of what its words (with their pieces)
contribute, summed once a word and remembered, and of its words' projected vectors.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proxid.classify.features import pieces
from proxid.classify.vectors import load as load_vectors

Floats = NDArray[np.float32]
REMEMBERED = 32_768
"""Words whose contribution is kept, all of them of the shipped vocabularies; the memory is emptied when it is full.
Other words may be personal: they are summed anew each time.
"""
_Triples = dict[str, int]
_Pairs = dict[str, tuple[int, _Triples | None]]


class Network:
    """One trained network; stateless but for the memory of words."""

    def __init__(self, arrays: Any, name: str, heads: Sequence[str]) -> None:
        lines = bytes(arrays[f"{name}.vocabulary"]).decode().split("\n")
        self._row = {feature: row for row, feature in enumerate(lines) if " " not in feature}
        self._after = _contexts(lines)
        self._bias: Floats = arrays[f"{name}.bias"]
        self._first, width = len(lines), len(self._bias)
        # Features, then the sums of remembered words, then their vectors; untouched rows take no memory.
        self._rows: Floats = np.empty((self._first + 2 * REMEMBERED, width), np.float32)
        scale = arrays[f"{name}.scale"].astype(np.float32)
        np.multiply(arrays[f"{name}.rows"], scale[:, None], out=self._rows[: self._first])
        self._vectors = load_vectors()
        self._projection: Floats = arrays[f"{name}.projection"].astype(np.float32)
        self._heads = {h: (arrays[f"{name}.{h}.weight"].astype(np.float32), arrays[f"{name}.{h}.bias"]) for h in heads}
        self._weight = np.concatenate([weight for weight, _ in self._heads.values()], axis=1)
        self._offset = np.concatenate([offset for _, offset in self._heads.values()])
        self.classes = {h: bytes(arrays[f"{name}.{h}.classes"]).decode().split("\n") for h in heads}
        self._words: dict[str, tuple[int, int]] = {}

    def hidden(self, words: Sequence[str]) -> Floats:
        """Activations of a text given its words."""
        return self.read(words)[0]

    def read(self, words: Sequence[str]) -> tuple[Floats, float]:
        """Activations of a text, and the share of its pairs and triples of words that training has seen."""
        if len(self._words) + len(words) > REMEMBERED:
            self._words.clear()
        rows = self._known_contexts(words)
        contexts = features = 2 * len(words) + 1
        seen = len(rows) / contexts
        vectors: list[int] = []
        others: list[Floats] = []
        for word in words:
            known = self._words.get(word) or self._remember(word)
            if known is None:
                found = [word, *pieces(word)]
                features += len(found)
                rows += self._known(found)
                others.append(self._vectors.of(word))
            else:
                place, count = known
                features += count
                rows.append(place)
                vectors.append(place + REMEMBERED)
        share = (len(words) or 1) ** -0.5
        result = self._sum(rows + vectors, [features**-0.5] * len(rows) + [share] * len(vectors))
        for vector in others:
            if vector.any():
                result += vector.dot(self._projection) * np.float32(share)
        result += self._bias
        return np.maximum(result, 0, out=result), seen

    def output(self, head: str, hidden: Floats) -> Floats:
        """A head's linear output."""
        weight, offset = self._heads[head]
        result: Floats = hidden.dot(weight)
        result += offset
        return result

    def outputs(self, hidden: Floats) -> Floats:
        """The linear outputs of all heads, one after the other."""
        result: Floats = hidden.dot(self._weight)
        result += self._offset
        return result

    def _known_contexts(self, words: Sequence[str]) -> list[int]:
        """Rows of the pairs and triples of words."""
        rows = []
        edged = ["^", *words, "$", ""]
        for pairs, second, third in zip(map(self._after.get, edged), edged[1:], edged[2:], strict=False):
            if pairs is not None:
                pair = pairs.get(second)
                if pair is not None:
                    row, triples = pair
                    if row >= 0:
                        rows.append(row)
                    if triples is not None:
                        row = triples.get(third, -1)
                        if row >= 0:
                            rows.append(row)
        return rows

    def _known(self, features: Sequence[str]) -> list[int]:
        return [row for row in map(self._row.get, features) if row is not None]

    def _sum(self, rows: list[int], shares: list[float]) -> Floats:
        if not rows:
            return np.zeros_like(self._bias)
        # One product with the shares costs less than a sum, scaled, of each kind of row.
        result: Floats = np.array(shares, np.float32).dot(self._rows.take(rows, axis=0))
        return result

    def _remember(self, word: str) -> tuple[int, int] | None:
        """Place of a word's sum, and how many features it has; None for a word that must not be remembered."""
        if word not in self._row and word not in self._vectors:
            return None
        place = self._first + len(self._words)
        found = [word, *pieces(word)]
        known = self._known(found)
        self._rows[place] = self._sum(known, [1.0] * len(known))
        self._rows[place + REMEMBERED] = self._vectors.of(word) @ self._projection
        self._words[word] = place, len(found)
        return self._words[word]


def _contexts(features: Sequence[str]) -> dict[str, _Pairs]:
    """Rows of the pairs and triples by their words; -1 for a pair that only begins triples."""
    after: dict[str, _Pairs] = {}
    for row, feature in enumerate(features):
        if " " in feature:
            first, second, *third = feature.split(" ")
            pairs = after.setdefault(first, {})
            pair, triples = pairs.get(second, (-1, None))
            if third:
                triples = {} if triples is None else triples
                triples[third[0]] = row
            else:
                pair = row
            pairs[second] = pair, triples
    return after


def softmax(scores: Floats) -> Floats:
    """Scores of one text as probabilities."""
    # The ufuncs' own reductions: the methods of arrays cost twice as much on few numbers.
    powers: Floats = np.exp(scores - np.maximum.reduce(scores))
    powers /= np.add.reduce(powers)
    return powers
