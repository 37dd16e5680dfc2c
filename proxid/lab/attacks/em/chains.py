"""What contents say, as chains of codes from the node down: each prefix of the category path, then the text."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from proxid.lab.logs import CategoryTree
from proxid.lab.logs.jit import Codes, Flags, Longs, Reals

Table = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Chains:
    """codes: a row a content; the node, the prefixes below it, the text; -1 behind the last. size: codes in all."""

    codes: Table
    size: int

    @property
    def below(self) -> Flags:
        """Contents that show something below the node."""
        found: Flags = self.codes[:, 1] >= 0
        return found

    def shares(self, content: Longs, count: Longs) -> Reals:
        """Of each code, its share of the records that reach its parent in the chain, over contents so often said."""
        table = self.codes[content]
        total = np.zeros(self.size)
        kept = table >= 0
        np.add.at(total, table[kept], np.broadcast_to(count[:, None], table.shape)[kept])
        share = np.ones(self.size)
        deeper = table[:, 1:] >= 0
        share[table[:, 1:][deeper]] = total[table[:, 1:][deeper]] / total[table[:, :-1][deeper]]
        return share


def chains_of(tree: CategoryTree, category: Codes, text: Codes, level: int) -> Chains:
    """Chains of contents (category, text); a node of the tree is its own code, a negative text is none.

    Contents raised above the level have one code, their own node, and perhaps a text.
    """
    category = np.maximum(category, 0).astype(np.int64)
    depth = tree.depth[category].astype(np.int64)
    deepest = int(depth.max(initial=0))
    columns = [category]
    for _ in range(deepest - level):
        columns.append(np.maximum(tree.parent[columns[-1]], 0).astype(np.int64))
    codes = np.full((len(category), max(deepest - level, 0) + 2), -1, np.int64)
    start = np.minimum(level, depth)
    for up, column in enumerate(columns):  # the ancestor `up` steps above stands at depth - up
        place = depth - up - start
        right = place >= 0
        codes[np.flatnonzero(right), place[right]] = column[right]
    return _with_texts(codes, text, depth - start + 1, len(tree))


def _with_texts(codes: Table, text: Codes, used: Longs, size: int) -> Chains:
    shown = np.flatnonzero(text >= 0)
    last = codes[shown, used[shown] - 1]
    keys, place = np.unique((last << 32) | text[shown].astype(np.int64), return_inverse=True)
    codes[shown, used[shown]] = size + place
    return Chains(codes, size + len(keys))
