"""The category tree of synthetic logs: the sizes of 002 Table 4.4, one tree for all seeds.

A level's nodes hang under popular nodes of the level above (Zipf 0.7) and have a popularity of their own (Zipf 0.9):
both are guesses. In pre-order every subtree is a stretch, so a popular node under another is found by bisection.
"""

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Final

import numpy as np

from proxid.lab.logs.jit import Codes, Columns, Longs, Reals
from proxid.lab.logs.synth.words import nouns
from proxid.lab.logs.tree import CategoryTree

ADDED: Final = (16, 537, 5523, 21786, 36806, 35543, 39998, 26914, 16863, 7863, 2143, 441, 72)
"""Nodes that each level adds (002 Table 4.4)."""
TOP: Final = (
    "Arts", "Business", "Computers", "Games", "Health", "Home", "Kids", "News", "Recreation", "Reference",
    "Regional", "Science", "Shopping", "Society", "Sports", "World",
)  # fmt: skip
_SEED: Final = 20_200_117
FAVOURITE_LEVEL: Final = 3


@dataclass(frozen=True, slots=True)
class Forest:
    """The tree's shape by node code (root 0): order[p] = node at place p of the pre-order; place, size and cumulated
    popularity (cumulated[p + 1] includes place p); top = ancestor at FAVOURITE_LEVEL; words of a node's name."""

    parent: Codes
    order: Codes
    place: Codes
    size: Codes
    cumulated: Reals
    top: Codes
    name: Longs

    @property
    def arrays(self) -> Columns:
        """(parent, order, place, size, cumulated, top, name)."""
        return (self.parent, self.order, self.place, self.size, self.cumulated, self.top, self.name)


def _zipf(n: int, s: float) -> Reals:
    weights = np.arange(1, n + 1, dtype=np.float64) ** -s
    scaled: Reals = weights / weights.sum()
    return scaled


def _parents(rng: np.random.Generator) -> list[Codes]:
    """Parents of each level's nodes as positions in the level above."""
    levels = [np.zeros(ADDED[0], np.int64)]
    for above, here in pairwise(ADDED):
        weights = np.cumsum(rng.permutation(_zipf(above, 0.7)))
        levels.append(np.minimum(np.searchsorted(weights, rng.random(here), side="right"), above - 1))
    return [level.astype(np.int32) for level in levels]


def _name(tree: CategoryTree, parent: int, word: int, words: tuple[str, ...]) -> int:
    """A word whose name is free among the children of a parent, tried from `word` on."""
    before = len(tree)
    while tree.child(parent, words[word].capitalize()) < before:
        word = (word + 1) % len(words)
    return word


@cache
def _grown() -> tuple[CategoryTree, Longs]:
    """The tree and the noun that each node's name is, -1 for the root and the top level."""
    rng, tree, words = np.random.default_rng(_SEED), CategoryTree(), nouns()
    names, first = [-1], 1
    for depth, parents in enumerate(_parents(rng)):
        picks = (len(words) * rng.random(len(parents)) ** 2).astype(np.int64).tolist()
        start = 0 if depth == 0 else first - ADDED[depth - 1]
        for i, parent in enumerate(parents.tolist()):
            if depth == 0:
                tree.child(0, TOP[i])
                names.append(-1)
            else:
                names.append(_name(tree, start + parent, picks[i], words))
        first += len(parents)
    return tree, np.array(names, np.int64)


def plant(tree: CategoryTree) -> None:
    """Add all nodes to an empty tree; their codes are those of the Forest."""
    grown, _ = _grown()
    assert len(tree) == 1
    tree.copy_of(grown)


@cache
def load_forest() -> Forest:
    """The shape of the tree."""
    tree, names = _grown()
    parent, depth, count = tree.parent, tree.depth, len(tree)
    size = np.ones(count, np.int64)
    for node in range(count - 1, 0, -1):
        size[parent[node]] += size[node]
    place = _pre_order(parent, size)
    order = np.empty(count, np.int32)
    order[place] = np.arange(count)
    popularity = np.random.default_rng(_SEED + 1).permutation(_zipf(count, 0.9))
    popularity[depth < 2] = 0
    cumulated = np.concatenate([[0.0], np.cumsum(popularity[order])])
    kinds = (parent, order, place.astype(np.int32), size.astype(np.int32))
    return Forest(*kinds, cumulated, tree.ancestors(FAVOURITE_LEVEL), names)


def _pre_order(parent: Codes, size: Longs) -> Longs:
    """Place of each node when every node stands before its descendants, siblings by code."""
    place, taken = np.zeros(len(parent), np.int64), np.ones(len(parent), np.int64)
    for node in range(1, len(parent)):
        above = parent[node]
        place[node] = place[above] + taken[above]
        taken[above] += size[node]
    return place
