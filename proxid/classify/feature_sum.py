"""The networks' numbers: features of a text -> sum of their rows -> ReLU -> heads (architecture.py: as a layer).

Features of a text are its words, its pairs and triples of words, and the pieces of its words; a feature is known by 32
bits of its hash, so that neither looking one up nor the file of weights needs its letters. A batch of texts costs a few
array operations, whatever its size, and one text the same ones.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.strings import hash_string  # type: ignore[attr-defined]
from thinc.api import NumpyOps

from proxid.classify.features import pieces
from proxid.classify.identifiers.gazetteer import load as load_gazetteer
from proxid.classify.vectors import load as load_vectors

Floats = NDArray[np.float32]
Keys = NDArray[np.uint32]
Hashes = NDArray[np.uint64]
REMEMBERED: Final = 16_384
"""Words whose contribution is kept, all of them of the shipped gazetteer; the memory is emptied when it is full.
Other words may be personal: they are summed anew each time.
"""
_FIRST, _SECOND, _LAST = map(np.uint64, (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xD6E8FEB86659FD93))
_HALF: Final = np.uint64(32)
_BEGIN, _END = (int(hash_string(mark)) for mark in "^$")
_NO_KEY: Final = np.uint32(2**32 - 1)
_OPS: Final = NumpyOps()


def joined(first: Hashes, second: Hashes) -> Hashes:
    """Hashes of pairs; a triple is the pair of a pair and a word."""
    mixed = first * _FIRST + second * _SECOND
    mixed ^= mixed >> _HALF
    mixed *= _LAST
    result: Hashes = mixed
    return result


def folded(hashes: Hashes) -> Keys:
    """The key of a feature: half of its hash, never the one that stands for none."""
    keys: Keys = np.minimum(hashes >> _HALF, np.uint64(_NO_KEY - 1)).astype(np.uint32)
    return keys


def key_of(features: Iterable[str]) -> Keys:
    """Keys of features by their names: a word, `#piece`, words with spaces between them."""
    rows = [feature.split(" ") for feature in features]
    hashes = np.array([[hash_string(p) for p in (*row, "", "")[:3]] for row in rows], np.uint64).reshape(len(rows), 3)
    lengths = np.array([*map(len, rows)])
    pairs = joined(hashes[:, 0], hashes[:, 1])
    triples = joined(pairs, hashes[:, 2])
    return folded(np.where(lengths == 1, hashes[:, 0], np.where(lengths == 2, pairs, triples)))


class _Word(NamedTuple):
    """What is remembered of a word: where its sums are, how many features it has, its hash."""

    place: int
    features: int
    hash: int


class Table:
    """Rows of features by their keys, and the word vectors' projection; stateless but for the memory of words."""

    def __init__(self, keys: Keys, rows: Floats, bias: Floats, projection: Floats) -> None:
        order = np.argsort(keys, kind="stable")
        self._keys: Keys = np.append(keys[order], _NO_KEY)
        self.rows: Floats = np.concatenate([rows[order], np.zeros((1, rows.shape[1]), np.float32)])
        self.bias, self._projection, self._vectors = bias, projection, load_vectors()
        self.width = len(bias)
        # Two rows a word: the sum of its features, its vector; untouched ones take no memory, the last is nothing.
        self._sums: Floats = np.zeros((REMEMBERED + 1, 2 * self.width), np.float32)
        self._words: dict[str, _Word] = {}
        self._public = load_gazetteer()

    def hidden(self, texts: Sequence[Sequence[str]]) -> tuple[Floats, list[float]]:
        """Activations of texts given their words, and of each the share of its pairs and triples that are known."""
        words = [word for text in texts for word in text]
        if len(self._words) + len(words) > REMEMBERED:
            self._words.clear()
        lengths = [*map(len, texts)]
        known, others = self._look_up(words)
        contexts, found = self._contexts([word.hash for word in known], lengths)
        whole = _OPS.reduce_sum(self.rows.take(contexts, axis=0), np.array(found, np.int32))
        places = [word.place for word in known]
        sums = _OPS.reduce_sum(self._sums.take([*places, REMEMBERED], axis=0), np.array(lengths, np.int32))
        whole += sums[:, : self.width]
        means = sums[:, self.width :]
        starts = [0, *np.cumsum(lengths).tolist()]
        for at, (summed, vector) in others:
            row = int(np.searchsorted(starts, at, side="right")) - 1
            whole[row] += summed
            means[row] += vector
        features = [2 * (b - a) + 1 + sum(word.features for word in known[a:b])
                    for a, b in pairwise(starts)]  # fmt: skip
        whole *= (1 / np.sqrt(np.array(features, np.float32)))[:, None]
        means *= (1 / np.sqrt(np.maximum(np.array(lengths, np.float32), 1)))[:, None]
        whole += means
        whole += self.bias
        seen = [count / (2 * length + 1) for count, length in zip(found, lengths, strict=True)]
        return np.maximum(whole, 0, out=whole), seen

    def _look_up(self, words: Sequence[str]) -> tuple[list[_Word], list[tuple[int, tuple[Floats, Floats]]]]:
        """What is known of each word, and the sums of those that must not be remembered, by their index."""
        known: list[_Word] = []
        others = []
        for at, word in enumerate(words):
            entry = self._words.get(word)
            if entry is None:
                found = [word, *pieces(word)]
                sums = self._summed(found), self._vectors.of(word) @ self._projection
                place = REMEMBERED
                if word in self._public:
                    place = len(self._words)
                    self._sums[place, : self.width], self._sums[place, self.width :] = sums
                else:
                    others.append((at, sums))
                entry = _Word(place, len(found), int(hash_string(word)))
                if place < REMEMBERED:
                    self._words[word] = entry
            known.append(entry)
        return known, others

    def _summed(self, features: Sequence[str]) -> Floats:
        """The sum of the rows of words and pieces."""
        places = self._places(folded(np.array([*map(hash_string, features)], np.uint64)))
        result: Floats = self.rows.take(places, axis=0).sum(axis=0)
        return result

    def _contexts(self, hashes: Sequence[int], lengths: Sequence[int]) -> tuple[NDArray[np.intp], list[int]]:
        """Places of the known pairs and triples of texts, one more that is nothing, and how many each text has."""
        edged: list[int] = []
        starts, at = [], 0
        for length in lengths:
            starts.append(len(edged))
            edged += [_BEGIN, *hashes[at : at + length], _END]
            at += length
        flat = np.array(edged, np.uint64)
        pairs = joined(flat[:-1], flat[1:])
        keys = np.full((len(flat), 2), _NO_KEY, np.uint32)
        keys[:-1, 0] = folded(pairs)
        keys[:-2, 1] = folded(joined(pairs[:-1], flat[2:]))
        # Across the border of two texts there is "$ ^", which is no feature.
        places = self._places(keys.ravel())
        known = places < len(self._keys) - 1
        found = np.add.reduceat(known, np.array(starts) * 2, dtype=np.int32).tolist()
        return np.append(places[known], len(self._keys) - 1), found

    def _places(self, keys: Keys) -> NDArray[np.intp]:
        """Rows of keys; the last one, which is nothing, for those that are not known."""
        places = self._keys.searchsorted(keys)
        result: NDArray[np.intp] = np.where(self._keys[places] == keys, places, len(self._keys) - 1)
        return result


def table_of(arrays: Any, name: str) -> Table:
    """A network's table from its stored arrays."""
    vocabulary = bytes(arrays[f"{name}.vocabulary"]).decode().split("\n")
    rows = arrays[f"{name}.rows"] * arrays[f"{name}.scale"].astype(np.float32)[:, None]
    return Table(key_of(vocabulary), rows, arrays[f"{name}.bias"], arrays[f"{name}.projection"].astype(np.float32))


class Network:
    """A table with its heads, as functions of words."""

    def __init__(self, arrays: Any, name: str, heads: Sequence[str]) -> None:
        self.table = table_of(arrays, name)
        weights = [arrays[f"{name}.{head}.weight"].astype(np.float32) for head in heads]
        self.weight = np.concatenate(weights, axis=1)
        self.offset = np.concatenate([arrays[f"{name}.{head}.bias"] for head in heads])
        self.classes = {head: bytes(arrays[f"{name}.{head}.classes"]).decode().split("\n") for head in heads}

    def scores(self, texts: Sequence[Sequence[str]]) -> tuple[Floats, list[float]]:
        """Linear outputs of all heads side by side, a row a text, and the known share of each text's wording."""
        hidden, seen = self.table.hidden(texts)
        result: Floats = hidden @ self.weight
        result += self.offset
        return result, seen
