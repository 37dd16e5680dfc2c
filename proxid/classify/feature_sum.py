"""The networks' numbers: features of a text -> sum of their rows -> ReLU -> heads (architecture.py: as a layer).

Features of a text are its words, its pairs and triples of words, and the pieces of its words; a feature is known by 32
bits of its hash, so that neither looking one up nor the file of weights needs its letters. A batch of texts costs a few
array operations, whatever its size, and one text the same ones.

Rows are added in the order of the text, and activations and heads are small whole numbers of a unit, so that their
product loses nothing in whatever order a processor adds: alone or in a batch, a text's outputs are the same bits. An
auditor, who runs the pipeline again, relies on it.
"""

from collections.abc import Sequence
from math import sqrt
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.strings import hash_string  # type: ignore[attr-defined]
from thinc.api import NumpyOps

from proxid.classify.features import pieces
from proxid.classify.identifiers.gazetteer import load as load_gazetteer
from proxid.classify.vectors import load as load_vectors
from proxid.classify.weights import GRID, Doubles, Floats, Packed

REMEMBERED: Final = 16_384
"""Words whose contribution is kept, all of them of the shipped gazetteer; the memory is emptied when it is full.
Other words may be personal: they are summed anew each time.
"""
_FIRST, _SECOND, _LAST = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xD6E8FEB86659FD93
_MASK, _HALF = 2**64 - 1, 32
UNIT: Final = 2.0**-7
"""What activations and heads are multiples of: products of 128 of them are whole numbers under 2 to the 24th."""
_TO_UNIT: Final = GRID / UNIT
_BEGIN, _END = (int(hash_string(mark)) for mark in "^$")
_OPS: Final = NumpyOps()


def joined(first: int, second: int) -> int:
    """Hash of a pair; a triple is the pair of a pair and a word."""
    mixed = (first * _FIRST + second * _SECOND) & _MASK
    return ((mixed ^ (mixed >> _HALF)) * _LAST) & _MASK


def key_of(feature: str) -> int:
    """The key of a feature by its name: a word, `#piece`, words with spaces between them."""
    first, *others = feature.split(" ")
    mixed = int(hash_string(first))
    for word in others:
        mixed = joined(mixed, int(hash_string(word)))
    return mixed >> _HALF


class _Word(NamedTuple):
    """What is remembered of a word: where its sums are, how many features it has, its hash."""

    place: int
    features: int
    hash: int


_Sums = tuple[Floats, Floats]


class Table:
    """Rows of features by their keys, and the word vectors' projection; stateless but for the memory of words."""

    def __init__(self, packed: Packed, bias: Floats, projection: Doubles) -> None:
        self._packed = packed
        self._bias, self._projection, self._vectors = bias, projection, load_vectors()
        self.width = len(bias)
        # Two rows a word, in units of GRID: the sum of its features, its vector; untouched ones take no memory.
        self._sums: Floats = np.zeros((REMEMBERED + 1, 2 * self.width), np.float32)
        self._words: dict[str, _Word] = {}
        self._public = load_gazetteer()

    def hidden(self, texts: Sequence[Sequence[str]]) -> tuple[Floats, list[float]]:
        """Activations of texts in units of UNIT, and of each text the share of its pairs and triples that are known.

        Rows are added one after the other, so that a sum is the same alone and in a batch.
        """
        if len(self._words) + sum(map(len, texts)) > REMEMBERED:
            self._words.clear()
        contexts, starts, places = list[int](), list[int](), list[int]()
        shares, others = list[tuple[float, float]](), list[tuple[int, _Sums]]()
        for text in texts:
            words = [self._words.get(word) or self._look_up(word, len(shares), others) for word in text]
            starts.append(len(contexts))
            contexts += phrases([word.hash for word in words])
            places += [word.place for word in words]
            features = len(contexts) - starts[-1] + sum(word.features for word in words)
            shares.append((_TO_UNIT / sqrt(features), _TO_UNIT / sqrt(len(words) or 1)))
        found_at, known = self._packed.places(contexts)
        alone = len(texts) == 1
        found = [int(np.count_nonzero(known))] if alone else np.add.reduceat(known, starts, dtype=np.int32).tolist()
        whole = _summed(self._packed.rows, found_at[known], found)
        sums = _summed(self._sums, np.array(places, np.intp), [*map(len, texts)])
        for row, (summed, vector) in others:
            sums[row, : self.width] += summed
            sums[row, self.width :] += vector
        whole += sums[:, : self.width]
        means = sums[:, self.width :]
        share = shares[0] if alone else np.array(shares, np.float32)[:, :, None].swapaxes(0, 1)
        whole *= share[0]
        means *= share[1]
        whole += means
        whole += self._bias
        np.rint(whole, out=whole)
        seen = [count / (2 * len(text) + 1) for count, text in zip(found, texts, strict=True)]
        return np.maximum(whole, 0, out=whole), seen

    def _look_up(self, word: str, row: int, others: list[tuple[int, _Sums]]) -> _Word:
        """What is known of a word that is not remembered; the sums of one that must not be are added to `others`."""
        found = [word, *pieces(word)]
        rows, known = self._packed.places([hash_string(feature) >> _HALF for feature in found])
        summed = self._packed.rows.take(rows[known], axis=0).sum(axis=0, dtype=np.float32)
        vector = np.rint(self._vectors.of(word) @ self._projection / GRID).astype(np.float32)
        if word not in self._public:
            others.append((row, (summed, vector)))
            return _Word(REMEMBERED, len(found), int(hash_string(word)))
        place = len(self._words)
        self._sums[place, : self.width], self._sums[place, self.width :] = summed, vector
        entry = self._words[word] = _Word(place, len(found), int(hash_string(word)))
        return entry


def phrases(hashes: Sequence[int]) -> list[int]:
    """Keys of the pairs and triples of a text: one of each a word, and the pair at the end."""
    keys, first = list[int](), _BEGIN
    for second, third in zip(hashes, [*hashes, _END][1:], strict=True):
        pair = joined(first, second)
        keys += (pair >> _HALF, joined(pair, third) >> _HALF)
        first = second
    keys.append(joined(first, _END) >> _HALF)
    return keys


def _summed(rows: NDArray[Any], places: NDArray[np.intp], lengths: Sequence[int]) -> Floats:
    """Sums of rows, of as many as `lengths` says for each text, added one after the other."""
    found: Floats = rows.take(places, axis=0).astype(np.float32, copy=False)
    result: Floats
    if len(lengths) == 1:
        result = np.add.reduce(found, axis=0, keepdims=True)
        return result
    if not len(found):
        return np.zeros((len(lengths), rows.shape[1]), np.float32)
    result = _OPS.reduce_sum(found, np.array(lengths, np.int32))
    return result


def on_grid(values: Doubles) -> Doubles:
    """Numbers as the nearest multiples of GRID."""
    values *= 1 / GRID
    np.rint(values, out=values)
    values *= GRID
    return values


class Network:
    """A table with its heads, as functions of words."""

    def __init__(self, arrays: Any, heads: Sequence[str]) -> None:
        projection = on_grid(arrays["projection"].astype(np.float64))
        self.table = Table(Packed.of(arrays), arrays["bias"] / np.float32(UNIT), projection)
        weights = [arrays[f"{head}.weight"].astype(np.float32) for head in heads]
        self._weight = np.rint(np.concatenate(weights, axis=1) / np.float32(UNIT))
        self._offset = np.concatenate([arrays[f"{head}.bias"].astype(np.float64) for head in heads])
        self.classes = {head: bytes(arrays[f"{head}.classes"]).decode().split("\n") for head in heads}

    def scores(self, texts: Sequence[Sequence[str]]) -> tuple[Doubles, list[float]]:
        """Linear outputs of all heads side by side, a row a text, and the known share of each text's wording."""
        hidden, seen = self.table.hidden(texts)
        result: Doubles = np.multiply(hidden @ self._weight, UNIT * UNIT, dtype=np.float64)
        result += self._offset
        return result, seen
