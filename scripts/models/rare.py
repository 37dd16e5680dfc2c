"""Vectors of the words that words.npz lacks, for one network: inflected forms, and names that people ask about.

In training they are added to the mean word vectors; afterwards each becomes a row of the network, as if its word were
a feature, so that the runtime needs neither another artefact nor another step.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from proxid.classify.features import features
from proxid.classify.vectors import load as load_vectors
from scripts.models import sources, teacher
from scripts.models import words as known
from scripts.models.network import Network, words

Floats = NDArray[np.float32]
SHARE = 3.6
"""Root of the features that a word has on average: a text's words count over the root of their number, its rows over
the root of the number of features."""
_WORD = re.compile(r"[a-z']{3,23}")


@cache
def _common() -> frozenset[str]:
    """Words of WordNet's definitions and of the names of its instances."""
    texts = sources.wordnet_glosses() + [name for name, _ in sources.wordnet_instances()]
    return frozenset(word for text in texts for word in words(text))


class Rare:
    """Words of WordNet and of some texts that words.npz has no vector for, and their vectors on its axes."""

    def __init__(self, texts: Iterable[str]) -> None:
        have = load_vectors()
        found = {w for text in texts for w in words(text)} | _common()
        self.words = sorted(w for w in found if _WORD.fullmatch(w) and not have.of(w).any())
        vocab = known.vocabulary()
        mean, directions = known.axes(teacher.vectors(vocab).astype(np.float64))
        rows = known.reduced(teacher.vectors(self.words).astype(np.float64), mean, directions, self.words)
        self._vectors: Floats = (SHARE * rows).astype(np.float32)

    def means(self, texts: Sequence[str]) -> Floats:
        """What the words add to the mean word vectors of texts."""
        index = {word: i for i, word in enumerate(self.words)}
        starts, columns, values = [0], list[int](), list[float]()
        for text in texts:
            told = words(text)
            mine = [index[word] for word in told if word in index]
            columns += mine
            values += [len(features(told)) ** -0.5] * len(mine)
            starts.append(len(columns))
        shape = len(texts), len(self.words)
        counts = sp.csr_matrix((np.array(values, np.float32), np.array(columns), np.array(starts)), shape)
        result: Floats = counts @ self._vectors
        return result

    def fold(self, net: Network, vocab: list[str]) -> list[str]:
        """Add the projected vectors to the rows of their words, new ones at the end; the vocabulary with these."""
        index = {feature: i for i, feature in enumerate(vocab)}
        add = self._vectors @ net.projection.value
        old = [i for i, word in enumerate(self.words) if word in index]
        new = [i for i, word in enumerate(self.words) if word not in index]
        net.rows.value[[index[self.words[i]] for i in old]] += add[old]
        net.rows.value = np.vstack([net.rows.value, add[new]])
        return vocab + [self.words[i] for i in new]
