"""Cross-validates the network of categories: `python -m scripts.models.cross_validation [SPLIT [HALF]]`, ten minutes a half.

category_train.tsv is cut into two halves; each is held out of every text that is trained on, with whatever resembles one
of its queries, and filed by the runtime under a tier-1. Those who use the result to choose must not see report figures.
"""

import sys

import numpy as np

from proxid.classify import pipeline
from proxid.classify.categories import Categories
from proxid.classify.feature_sum import Network
from proxid.classify.ontology import Ontology
from scripts.models import subjects
from scripts.models.network import words
from scripts.models.training import packed

SEED = 100


def half(split: int, which: int) -> tuple[int, int]:
    """How many queries of a half the network trained without them files right, and how many there are."""
    rows = subjects.labelled()[0]
    part = np.random.default_rng(SEED + split).permutation(len(rows)) % 2
    held = [rows[i] for i in np.flatnonzero(part == which)]
    net, vocab, classes, paths = subjects.train(subjects.material(frozenset(text for text, _ in held)))
    arrays = packed(net, vocab, {"top": classes, "node": paths}, subjects.LEVELS)
    categories = Categories(Network(arrays, ["top", "node"]), Ontology.iab())
    reader = pipeline.load_default()
    right = 0
    for text, top in held:
        reading = reader.read(text)
        told = reading.words if reading is not None else words(text)
        right += categories.top(categories.odds(told)) == top
    return right, len(held)


def main() -> None:
    """Print the share of each half that was asked for."""
    split = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    for which in [int(sys.argv[2])] if len(sys.argv) > 2 else [0, 1]:
        right, count = half(split, which)
        print(f"split {split} half {which}: {right} of {count}, {right / count:.4f}", flush=True)


if __name__ == "__main__":
    main()
