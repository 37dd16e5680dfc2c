"""A bag-of-features network trained with plain arrays: features -> hidden -> ReLU -> several heads.

Trained by Adam in a fixed order on one thread, so that the same inputs give the same bytes on the same processor.
Rows of the embedding are updated only when a batch touches them (a batch touches a tenth of them).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from proxid.classify.features import features
from proxid.classify.text import clean, tokenise
from proxid.classify.vectors import load as load_vectors

Floats = NDArray[np.float32]
BETA1, BETA2, TINY = 0.9, 0.99, 1e-8
ROW_RATE = 3.0
"""Rows of features learn faster than the rest: most of them are in few batches."""


def words(text: str) -> list[str]:
    """The words of a text as the classifier sees them."""
    cleaned = clean(text)
    return (
        [] if cleaned is None else [t.text for t in tokenise(cleaned.folded) if t.text[0].isalnum() or t.text[0] == "'"]
    )


def vocabulary(texts: Iterable[str], least: int) -> list[str]:
    """Features that occur in at least `least` texts, in alphabetical order."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(set(features(words(text))))
    return sorted(feature for feature, count in counts.items() if count >= least)


def matrix(texts: Sequence[str], vocab: Sequence[str]) -> sp.csr_matrix:
    """Feature counts over the square root of their number, one row a text."""
    index = {feature: i for i, feature in enumerate(vocab)}
    starts, columns, values = [0], [], []
    for text in texts:
        found = features(words(text))
        known = [index[f] for f in found if f in index]
        columns += known
        values += [1 / max(len(found), 1) ** 0.5] * len(known)
        starts.append(len(columns))
    rows = sp.csr_matrix(
        (np.array(values, np.float32), np.array(columns, np.int32), np.array(starts, np.int32)),
        (len(texts), len(vocab)),
    )
    rows.sum_duplicates()
    return rows


@dataclass(slots=True)
class Parameter:
    """A matrix with its Adam moments; `step` counts updates, a row's moments move only when the row does."""

    value: Floats
    mean: Floats = field(init=False)
    square: Floats = field(init=False)
    step: int = 0

    def __post_init__(self) -> None:
        self.mean, self.square = np.zeros_like(self.value), np.zeros_like(self.value)

    def update(self, gradient: Floats, rate: float, rows: NDArray[np.int32] | slice = slice(None)) -> None:
        """One Adam step on the given rows."""
        self.step += 1
        mean = BETA1 * self.mean[rows] + (1 - BETA1) * gradient
        square = BETA2 * self.square[rows] + (1 - BETA2) * gradient * gradient
        self.mean[rows], self.square[rows] = mean, square
        rate *= (1 - BETA2**self.step) ** 0.5 / (1 - BETA1**self.step)
        self.value[rows] -= rate * mean / (np.sqrt(square) + TINY)


def word_means(texts: Sequence[str]) -> Floats:
    """Sum of the word vectors of each text over the square root of its number of words."""
    vectors = load_vectors()
    known: dict[str, Floats] = {}
    result = np.zeros((len(texts), vectors.size), np.float32)
    for i, text in enumerate(texts):
        found = words(text)
        for word in found:
            if word not in known:
                known[word] = vectors.of(word)
            result[i] += known[word]
        result[i] /= max(len(found), 1) ** 0.5
    return result


@dataclass(slots=True)
class Batch:
    """Inputs of many texts: their features and their mean word vectors."""

    features: sp.csr_matrix
    means: Floats

    def __getitem__(self, rows: Any) -> "Batch":
        return Batch(self.features[rows], self.means[rows])

    @property
    def size(self) -> int:
        """Number of texts."""
        return int(self.features.shape[0])


def inputs(texts: Sequence[str], vocab: Sequence[str]) -> Batch:
    """Features and mean word vectors of texts."""
    return Batch(matrix(texts, vocab), word_means(texts))


class Network:
    """Embedding rows, a projection of word vectors, a hidden bias, and for each head a matrix and a bias."""

    def __init__(self, size: int, means: int, hidden: int, heads: dict[str, int], rng: np.random.Generator) -> None:
        self.projection = Parameter(rng.normal(0, 0.5 * means**-0.5, (means, hidden)).astype(np.float32))
        self.rows = Parameter(rng.normal(0, 0.1, (size, hidden)).astype(np.float32))
        self.bias = Parameter(np.zeros(hidden, np.float32))
        self.heads = {
            name: (
                Parameter(rng.normal(0, hidden**-0.5, (hidden, n)).astype(np.float32)),
                Parameter(np.zeros(n, np.float32)),
            )
            for name, n in heads.items()
        }

    def hidden(self, batch: Batch) -> Floats:
        """Activations after the ReLU."""
        total = batch.features @ self.rows.value + batch.means @ self.projection.value + self.bias.value
        result: Floats = np.maximum(total, 0)
        return result

    def output(self, head: str, hidden: Floats) -> Floats:
        """A head's linear output."""
        weight, bias = self.heads[head]
        result: Floats = hidden @ weight.value + bias.value
        return result

    def learn(self, batch: Batch, hidden: Floats, errors: dict[str, Floats], rate: float, decay: float) -> None:
        """One step down the gradient, given each head's gradient at its output (rows without a target are zero)."""
        back = np.zeros_like(hidden)
        for name, error in errors.items():
            weight, bias = self.heads[name]
            back += error @ weight.value.T
            weight.update(hidden.T @ error + decay * weight.value, rate)
            bias.update(error.sum(axis=0), rate)
        back *= hidden > 0
        self.projection.update(batch.means.T @ back + decay * self.projection.value, rate)
        touched, columns = np.unique(batch.features.indices, return_inverse=True)
        part = batch.features
        narrow = sp.csr_matrix((part.data, columns.astype(np.int32), part.indptr), (part.shape[0], len(touched)))
        gradient = (narrow.T @ back).astype(np.float32)
        self.rows.update(gradient + decay * self.rows.value[touched], ROW_RATE * rate, touched)
        self.bias.update(back.sum(axis=0), rate)


def softmax(scores: Floats) -> Floats:
    """Rows of scores as probabilities."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    result: Floats = powers / powers.sum(axis=1, keepdims=True)
    return result
