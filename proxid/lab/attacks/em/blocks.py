"""Blocks: some people and the contents they asked, one record a person, and nothing that says whose is whose.

A group of mode `mix` is a block of which one more thing is known: a record is never the own one of the person it is
published under. A round of the form `split` is a block without that. A block of P people and C contents has P·C cells,
a cell a (person, content), content after content, people in order inside.
"""

from dataclasses import dataclass

import numpy as np

from proxid.lab.logs.jit import Codes, Longs


@dataclass(frozen=True, slots=True)
class Blocks:
    """Many blocks side by side.

    person_at: where the people of each block begin in `person`, one more at the end. person: int32 code of each.
    content_at: the same for contents. content: int64 number of what each says (a row of `Chains.codes`). count:
    records that say it; they add up to the block's people. barred: place in the block of the person who is never the
    owner, -1 for none. owned: int64 a cell: how many of the content's records are the person's. For scoring alone.
    """

    person_at: Longs
    person: Codes
    content_at: Longs
    content: Longs
    count: Longs
    barred: Longs
    owned: Longs

    def __len__(self) -> int:
        return len(self.person_at) - 1

    @property
    def people(self) -> Longs:
        """People of each block."""
        return np.diff(self.person_at)

    @property
    def content_people(self) -> Longs:
        """People of the block of each content."""
        return np.repeat(self.people, np.diff(self.content_at))

    @property
    def cell_at(self) -> Longs:
        """Where the cells of each content begin, one more at the end."""
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(self.content_people)])

    def cells(self) -> tuple[Longs, Codes]:
        """Of each cell the place of its content among all contents, and its person."""
        width = self.content_people
        content = np.repeat(np.arange(len(width)), width)
        begin = np.repeat(np.repeat(self.person_at[:-1], np.diff(self.content_at)), width)
        inside = np.arange(len(content)) - np.repeat(self.cell_at[:-1], width)
        return content, self.person[begin + inside]


def blocks_of(block: Longs, owner: Codes, content: Longs) -> Blocks:
    """Blocks of records, one record a person and block: block number, owner and what it says, a column each."""
    order = np.lexsort((owner, block))
    block, person, said = block[order], owner[order], content[order]
    first = np.flatnonzero(np.diff(block, prepend=block[:1] - 1))
    person_at = np.append(first, len(block))
    number = np.repeat(np.arange(len(first)), np.diff(person_at))
    wide = int(said.max(initial=0)) + 1
    keys, place, count = np.unique(number * wide + said, return_inverse=True, return_counts=True)
    content_at = np.searchsorted(keys // wide, np.arange(len(first) + 1))
    made = Blocks(person_at, person, content_at, keys % wide, count, np.full(len(keys), -1), np.zeros(0, np.int64))
    owned = np.zeros(int(made.cell_at[-1]), np.int64)
    owned[made.cell_at[place] + np.arange(len(person)) - person_at[number]] = 1
    return Blocks(person_at, person, content_at, keys % wide, count, made.barred, owned)


def groups_of(
    group: Codes, published: Codes, owner: Codes, *, never_own: bool = True
) -> tuple[Blocks, Longs]:  # fmt: skip
    """The groups of pairs as blocks, and the released row of each content (which stands for what it says).

    never_own: nobody is published with the own record, as in `mix`.
    """
    rows = np.flatnonzero(group >= 0)
    rows = rows[np.argsort(group[rows], kind="stable")]
    at = np.append(np.flatnonzero(np.diff(group[rows], prepend=-1)), len(rows))
    size = np.diff(at)
    inside = np.arange(len(rows)) - np.repeat(at[:-1], size) if never_own else np.full(len(rows), -1)
    made = Blocks(at, published[rows], at, rows, np.ones(len(rows), np.int64), inside, np.zeros(0, np.int64))
    content, person = made.cells()
    owned = (owner[rows][content] == person).astype(np.int64)
    return Blocks(at, made.person, at, rows, made.count, inside, owned), rows
