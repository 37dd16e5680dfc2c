"""The shipped bag-of-features network: features -> hidden -> ReLU -> heads, with plain arrays (scripts/models).

The contribution of a word (itself and its pieces) is summed once and remembered in a table, so that a text costs one
sum of rows of this table and one of the rows of its known pairs and triples of words.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proxid.classify.features import pieces
from proxid.classify.vectors import load as load_vectors

Floats = NDArray[np.float32]
REMEMBERED = 32_768
"""Words whose contribution is kept; the memory, which doubles from FEW, is emptied when it is full."""
FEW = 1024


class Network:
    """One trained network; stateless but for the memory of words."""

    def __init__(self, arrays: Any, name: str, heads: Sequence[str]) -> None:
        lines = bytes(arrays[f"{name}.vocabulary"]).decode().split("\n")
        self._row = {feature: row for row, feature in enumerate(lines)}
        scale = arrays[f"{name}.scale"].astype(np.float32)
        self._rows: Floats = arrays[f"{name}.rows"].astype(np.float32) * scale[:, None]
        self._bias: Floats = arrays[f"{name}.bias"]
        self._vectors = load_vectors()
        self._projection: Floats = arrays[f"{name}.projection"].astype(np.float32)
        self._heads = {h: (arrays[f"{name}.{h}.weight"].astype(np.float32), arrays[f"{name}.{h}.bias"]) for h in heads}
        self.classes = {h: bytes(arrays[f"{name}.{h}.classes"]).decode().split("\n") for h in heads}
        self._words: dict[str, int] = {}
        self._counts: list[int] = []
        self._memory: Floats = np.zeros((FEW, 2, len(self._bias)), np.float32)

    def hidden(self, words: Sequence[str]) -> Floats:
        """Activations of a text given its words."""
        return self.read(words)[0]

    def read(self, words: Sequence[str]) -> tuple[Floats, float]:
        """Activations of a text, and the share of its pairs and triples of words that training has seen."""
        total, contexts, seen = self._context(words)
        if not words:
            return np.maximum(total / np.float32(max(contexts, 1) ** 0.5) + self._bias, 0), seen / max(contexts, 1)
        if len(self._words) + len(words) > REMEMBERED:
            self._words.clear()
            self._counts.clear()
        known = [self._words.get(word, -1) for word in words]
        if -1 in known:
            known = [self._remember(word) for word in words]
        counts = self._counts
        features = contexts + sum([counts[i] for i in known])
        rows, means = np.add.reduce(self._memory.take(known, axis=0), axis=0)
        result: Floats = (total + rows) * np.float32(features**-0.5) + means * np.float32(len(words) ** -0.5)
        result += self._bias
        return np.maximum(result, 0, out=result), seen / contexts

    def output(self, head: str, hidden: Floats) -> Floats:
        """A head's linear output."""
        weight, bias = self._heads[head]
        result: Floats = hidden @ weight + bias
        return result

    def _context(self, words: Sequence[str]) -> tuple[Floats, int, int]:
        edged = ["^", *words, "$"]
        found = [f"{a} {b}" for a, b in pairwise(edged)]
        found += [f"{a} {b} {c}" for a, b, c in zip(edged, edged[1:], edged[2:], strict=False)]
        rows = [row for row in map(self._row.get, found) if row is not None]
        return self._sum(rows), len(found), len(rows)

    def _sum(self, rows: list[int]) -> Floats:
        if not rows:
            return np.zeros(len(self._bias), np.float32)
        total: Floats = np.add.reduce(self._rows.take(rows, axis=0), axis=0)
        return total

    def _remember(self, word: str) -> int:
        place = self._words.get(word)
        if place is not None:
            return place
        place = len(self._words)
        if place == len(self._memory):
            self._memory = np.concatenate([self._memory, np.zeros_like(self._memory)])
        found = [word, *pieces(word)]
        self._memory[place, 0] = self._sum([row for row in map(self._row.get, found) if row is not None])
        self._memory[place, 1] = self._vectors.of(word) @ self._projection
        self._counts.append(len(found))
        self._words[word] = place
        return place


def softmax(scores: Floats) -> Floats:
    """Scores of one text as probabilities."""
    # The ufuncs' own reductions: the methods of arrays cost twice as much on few numbers.
    powers: Floats = np.exp(scores - np.maximum.reduce(scores))
    powers /= np.add.reduce(powers)
    return powers
