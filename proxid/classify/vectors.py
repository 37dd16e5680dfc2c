"""Vectors of English words (`words.npz`, scripts/models/words.py), shared by the networks."""

from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


class WordVectors:
    """Rows of 8-bit numbers with a scale each; an unknown word is the zero vector."""

    def __init__(self) -> None:
        with (files("proxid.classify") / "data" / "words.npz").open("rb") as stream, np.load(stream) as arrays:
            lines = bytes(arrays["vocabulary"]).decode().split("\n")
            self._rows, self._scale = arrays["vectors"], arrays["scale"].astype(np.float32)
        self._row = {word: i for i, word in enumerate(lines)}
        self.size = int(self._rows.shape[1])
        self._zero = np.zeros(self.size, np.float32)

    def __contains__(self, word: str) -> bool:
        return word in self._row

    def of(self, word: str) -> Floats:
        """The vector of a word."""
        row = self._row.get(word)
        if row is None and word.endswith("s"):
            row = self._row.get(word.removesuffix("s").removesuffix("'"))
        if row is None:
            return self._zero
        result: Floats = self._rows[row].astype(np.float32) * self._scale[row]
        return result


@cache
def load() -> WordVectors:
    """The shipped vectors."""
    return WordVectors()
