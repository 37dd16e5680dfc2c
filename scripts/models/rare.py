"""Vectors of the words that words.npz lacks, for one network: inflected forms, and names that people ask about.

Training takes them as it takes the others; packing makes each a row of the network, as if its word were a feature, so that
the runtime needs neither another artefact nor another step.
"""

import re
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from proxid.classify.vectors import load as load_vectors
from scripts.models import sources, teacher
from scripts.models import words as known
from scripts.models.spacy_training import words

_WORD = re.compile(r"[a-z']{3,23}")


def vectors(texts: Iterable[str]) -> dict[str, NDArray[np.float32]]:
    """Words of the texts, of WordNet's definitions and of its instances' names that have no vector, and one for each."""
    have = load_vectors()
    more = sources.wordnet_glosses() + [name for name, _ in sources.wordnet_instances()]
    found = {word for text in (*texts, *more) for word in words(text)}
    lacking = sorted(word for word in found if _WORD.fullmatch(word) and not have.of(word).any())
    mean, directions = known.axes(teacher.vectors(known.vocabulary()).astype(np.float64))
    rows = known.reduced(teacher.vectors(lacking).astype(np.float64), mean, directions, lacking)
    return dict(zip(lacking, rows.astype(np.float32), strict=True))
