"""The domain D of a query and its taxonomy τ(D) with the similarity of 000 eq. 5, bounded (DESIGN 13).

S(c) = ancestors of c within τ(D), c included; sim(a, b) = 1 − log2(1 + |S(a) △ S(b)| / |S(a) ∪ S(b)|) ∈ [0, 1].
Identical concepts have sim 1: the paper's −log2 of the same ratio is infinite there, which its equation 6 cannot use.
"""

import functools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from proxid.lab.release.semantic.topics import categorise
from proxid.ontology.wordnet import WordNet

Ints = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Domain:
    """τ(D): `concepts[i]` is the WordNet number of the domain's concept i; S(i) as rows of `above`, inverse `below`."""

    name: str
    concepts: Ints
    above_start: Ints
    above: Ints
    below_start: Ints
    below: Ints

    def __len__(self) -> int:
        return len(self.concepts)

    @functools.cached_property
    def depth(self) -> Ints:
        """|S(i)| of every concept."""
        return np.diff(self.above_start)

    def common(self, i: int) -> Ints:
        """|S(i) ∩ S(x)| for every concept x of the domain."""
        ancestors = self.above[self.above_start[i] : self.above_start[i + 1]].tolist()
        rows = [self.below[self.below_start[a] : self.below_start[a + 1]] for a in ancestors]
        return np.bincount(np.concatenate(rows), minlength=len(self))

    def similarities(self, i: int) -> Reals:
        """sim(i, x) for every concept x."""
        return similarity(self.common(i), self.depth[i] + self.depth)

    @functools.cached_property
    def min_similarity(self) -> float:
        """The least similarity of any two concepts of τ(D), exactly.

        Two concepts share at least the root, so no pair with `both` ancestors together goes below sim(1, both):
        rows are tried deepest first until that bound cannot beat what was found.
        """
        order, deepest, least = np.argsort(-self.depth, kind="stable"), int(self.depth.max()), 1.0
        for i in order.tolist():
            if float(similarity(np.array(1), self.depth[i] + deepest)) >= least:
                break
            least = min(least, float(self.similarities(i).min()))
        return least


def similarity(common: Ints, both: Ints) -> Reals:
    """sim from |S(a) ∩ S(b)| and |S(a)| + |S(b)|."""
    result: Reals = 1.0 - np.log2(1.0 + (both - 2 * common) / (both - common))
    return result


def build_domains(wordnet: WordNet, roots: tuple[str, ...]) -> tuple[list[Domain], npt.NDArray[np.int16]]:
    """The domains below `roots` and the number of every concept's domain (OTHER: none).

    A concept below two roots belongs to the nearer one alone, so that domains are disjoint and an output never
    leaves the topic of its input.
    """
    domain_of = categorise(wordnet, roots)
    return [_build(wordnet, name, domain_of == i) for i, name in enumerate(roots)], domain_of


def _build(wordnet: WordNet, name: str, member: npt.NDArray[np.bool_]) -> Domain:
    concepts = np.flatnonzero(member)
    local = np.full(len(wordnet), -1, np.int64)
    local[concepts] = np.arange(len(concepts))
    root = int(local[wordnet.concept(name)])
    parents = [[p for p in local[wordnet.parents(c)].tolist() if p >= 0] for c in concepts.tolist()]
    ancestors = _closure(parents, root)
    start = np.zeros(len(concepts) + 1, np.int64)
    np.cumsum([len(a) for a in ancestors], out=start[1:])
    above = np.concatenate([np.array(sorted(a), np.int64) for a in ancestors])
    below_start = np.zeros(len(concepts) + 1, np.int64)
    np.cumsum(np.bincount(above, minlength=len(concepts)), out=below_start[1:])
    below = np.repeat(np.arange(len(concepts)), np.diff(start))[np.argsort(above, kind="stable")]
    return Domain(name, concepts, start, above, below_start, below)


def _closure(parents: list[list[int]], root: int) -> list[frozenset[int]]:
    """S(i) of every concept, by memory from the top; the root belongs to every S."""
    known: dict[int, frozenset[int]] = {root: frozenset({root})}
    for start in range(len(parents)):
        path = [start]
        while path:
            i = path[-1]
            missing = [p for p in parents[i] if p not in known]
            if i in known or not missing:
                path.pop()
                known.setdefault(i, frozenset({i, root}).union(*(known[p] for p in parents[i])))
            else:
                path.extend(missing)
    return [known[i] for i in range(len(parents))]
