"""Writes words.npz: a vector for each English word, the teacher's vector of the word alone, reduced and weighted.

The networks add the mean of these to what they learn from features, so that a word they have never seen in training
still says what it is about.
"""

import numpy as np
from numpy.typing import NDArray

from proxid.classify import corpora
from proxid.classify.feature_sum import key_of
from proxid.classify.identifiers import gazetteer
from proxid.classify.weights import pack, to_bytes
from scripts.models import sources, teacher, topics
from scripts.models.output import TRAINED
from scripts.models.spacy_training import words

Floats = NDArray[np.float64]
SIZE, LEVELS = 128, 7
RARE = 1e-3
"""Weight of a word of frequency p is RARE / (RARE + p): function words hardly count."""


def vocabulary() -> list[str]:
    """Ordinary English words, common given names, and every word of the topics and training splits, sorted."""
    known = {word for word, g in gazetteer.load().items() if g.common >= 1 or g.given >= 4 or g.surname >= 5}
    for text in [query for query, _ in topics.queries()] + [row.text for row in corpora.training()[0]]:
        known.update(words(text))
    return sorted(word for word in known if len(word) < 24)


def frequencies(vocab: list[str]) -> NDArray[np.float64]:
    """How frequent words are in the training splits and in WordNet's definitions."""
    counts = dict.fromkeys(vocab, 0)
    total = 0
    for text in [row.text for row in corpora.training()[0]] + sources.wordnet_glosses():
        for word in words(text):
            total += 1
            if word in counts:
                counts[word] += 1
    return np.array([counts[word] for word in vocab]) / total


def axes(vectors: Floats) -> tuple[Floats, Floats]:
    """Mean of the vectors, and the SIZE directions in which they differ most, with fixed signs."""
    mean = vectors.mean(axis=0)
    centred = vectors - mean
    _, found = np.linalg.eigh(centred.T @ centred)
    found = found[:, ::-1][:, :SIZE]
    found *= np.sign(found[np.abs(found).argmax(axis=0), np.arange(SIZE)])
    return mean, found


def reduced(vectors: Floats, mean: Floats, directions: Floats, vocab: list[str]) -> Floats:
    """Vectors of words on the given axes, the frequent ones short."""
    weight = RARE / (RARE + frequencies(vocab))
    result: Floats = ((vectors - mean) @ directions) * weight[:, None] * 8
    return result


def main() -> None:
    """Encode, reduce, weigh, write."""
    vocab = vocabulary()
    vectors = teacher.vectors(vocab).astype(np.float64)
    rows = reduced(vectors, *axes(vectors), vocab)
    arrays = pack([*map(key_of, vocab)], rows.astype(np.float32), LEVELS)
    (TRAINED / "words.npz").write_bytes(to_bytes(arrays))
    print(len(vocab), "words")


if __name__ == "__main__":
    main()
