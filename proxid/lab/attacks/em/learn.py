"""Expectation-maximisation over blocks: profiles from who was probably whose, and the other way round.

A profile is a tree of counts: how many records of a person are expected at each prefix. The fit of a person and a
content is the chance that the person's next record at the node says it, prefix after prefix, with the crowd's share as
prior (a hierarchical Dirichlet prior of weight ALPHA), the cell's own share left out. The attacker starts from what it
knows of people beforehand, or from nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from proxid.lab.attacks.em.blocks import Blocks
from proxid.lab.attacks.em.chains import Chains
from proxid.lab.attacks.em.kernels import EXACT, expect
from proxid.lab.attacks.registry import nothing_said
from proxid.lab.logs.jit import Codes, Longs, Reals

ALPHA = 4.0
STEPS = 12


@dataclass(frozen=True, slots=True)
class Known:
    """What the attacker knows beforehand: people and the chain codes of things that they asked, repeats included."""

    person: Codes
    code: Longs


class Learner:
    """The state of the attack: an expected number of records a cell."""

    def __init__(self, blocks: Blocks, chains: Chains, known: Known | None = None) -> None:
        self.blocks, self.chains = blocks, chains
        self.content, self.person = blocks.cells()
        self.post: Reals = np.zeros(len(self.content))
        self._index(known)
        self._room = _rooms(blocks)

    def _index(self, known: Known | None) -> None:
        """Number the (person, code) pairs; which of them every cell's prefixes are."""
        table = self.chains.codes[self.blocks.content]
        codes = [table[self.content, depth] for depth in range(table.shape[1])]
        cells = [np.flatnonzero(column >= 0) for column in codes]
        person = self.person.astype(np.int64)
        keys = [person[cell] * self.chains.size + column[cell] for cell, column in zip(cells, codes, strict=True)]
        every, place = np.unique(np.concatenate(keys), return_inverse=True)
        cuts = np.cumsum([len(part) for part in keys])[:-1]
        self._levels = list(zip(cells, codes, np.split(place.astype(np.int64), cuts), strict=True))
        self._before = np.zeros(len(every))
        if known is not None and len(every):
            asked = known.person.astype(np.int64) * self.chains.size + known.code
            at = np.minimum(np.searchsorted(every, asked), len(every) - 1)
            np.add.at(self._before, at[every[at] == asked], 1.0)
        self._share = self.chains.shares(self.blocks.content, self.blocks.count)

    def _profiles(self) -> Reals:
        total = self._before.copy()
        for cell, _, pair in self._levels:
            total += np.bincount(pair, weights=self.post[cell], minlength=len(total))
        return total

    def _fits(self) -> Reals:
        """Logarithm of the fit of each cell; what does not depend on the person cancels and is left out."""
        profile, fit = self._profiles(), np.zeros(len(self.post))
        for (_, _, above), (cell, code, pair), kept in zip(self._levels, self._levels[1:], self._kept(), strict=False):
            own = self.post[cell]
            here = np.maximum(profile[pair] - own, 0.0) + ALPHA * self._share[code[cell]]
            fit[cell] += np.log(here / (np.maximum(profile[above[kept]] - own, 0.0) + ALPHA))
        return fit

    def _kept(self) -> list[Longs]:
        """For each level below the first: the places, among the level above, of the cells that go on."""
        return [np.searchsorted(a[0], b[0]) for a, b in zip(self._levels, self._levels[1:], strict=False)]

    def _expect(self, fit: Reals) -> None:
        blocks = self.blocks
        bounds = (blocks.person_at, blocks.content_at, blocks.cell_at)
        expect(bounds, (blocks.count, blocks.barred), fit, self._room, self.post)

    def even(self) -> Reals:
        """What counts and membership alone say: every cell fits equally."""
        post, self.post = self.post, np.zeros(len(self.post))
        self._expect(np.zeros(len(self.post)))
        found, self.post = self.post, post
        return found

    def learn(self, steps: int = STEPS, progress: Callable[[float, float], None] = nothing_said) -> Reals:
        """Expected records of each cell after so many steps."""
        if not self._before.any():
            self.post = self.even()
        for done in range(steps):
            self._expect(self._fits())
            progress(done + 1, steps)
        return self.post


def _rooms(blocks: Blocks) -> tuple[Reals | Longs, ...]:
    """Room for the largest block: weights, slots, two tables of subsets and their sizes, two sides."""
    people, contents = blocks.people, np.diff(blocks.content_at)
    exact = int(people[people <= EXACT].max(initial=0))
    subsets = np.arange(1 << exact)
    size = np.zeros(len(subsets), np.int64)
    for bit in range(exact):
        size += (subsets >> bit) & 1
    return (
        np.zeros(int((people * contents).max(initial=0))),
        np.zeros(EXACT, np.int64),
        np.zeros(len(subsets)),
        np.zeros(len(subsets)),
        size,
        np.zeros(int(people.max(initial=0))),
        np.zeros(int(contents.max(initial=0))),
    )
