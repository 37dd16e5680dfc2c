"""The shipped bag-of-features network: features -> hidden -> ReLU -> heads, with plain arrays (scripts/models).

The contribution of a word (itself and its pieces) is summed once and remembered, so that a text costs one addition a
word and one row for each known pair and triple of words.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proxid.classify.features import pieces
from proxid.classify.vectors import load as load_vectors

Floats = NDArray[np.float32]
REMEMBERED = 50_000
"""Words whose contribution is kept; the memory is emptied when it is full."""


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
        self._words: dict[str, tuple[Floats, int, Floats]] = {}

    def hidden(self, words: Sequence[str]) -> Floats:
        """Activations of a text given its words."""
        return self.read(words)[0]

    def read(self, words: Sequence[str]) -> tuple[Floats, float]:
        """Activations of a text, and the share of its pairs and triples of words that training has seen."""
        total, count, seen = self._context(words)
        contexts = count
        mean = self._bias
        for word in words:
            known = self._words.get(word)
            if known is None:
                known = self._remember(word)
            total = total + known[0]
            count += known[1]
            mean = mean + known[2] / np.float32(len(words) ** 0.5)
        result: Floats = np.maximum(total / np.float32(max(count, 1) ** 0.5) + mean, 0)
        return result, seen / max(contexts, 1)

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
        total: Floats = self._rows[rows].sum(axis=0)
        return total, len(found), len(rows)

    def _remember(self, word: str) -> tuple[Floats, int, Floats]:
        if len(self._words) >= REMEMBERED:
            self._words.clear()
        found = [word, *pieces(word)]
        rows = [row for row in map(self._row.get, found) if row is not None]
        known = (self._rows[rows].sum(axis=0), len(found), self._vectors.of(word) @ self._projection)
        self._words[word] = known
        return known


def softmax(scores: Floats) -> Floats:
    """Scores of one text as probabilities."""
    powers = np.exp(scores - scores.max())
    result: Floats = powers / powers.sum()
    return result
