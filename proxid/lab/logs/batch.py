"""The shared representation of a log: columns of codes (DESIGN 13, 15).

A reader yields `LogBatch` after `LogBatch`; their codes refer to one set of `Dictionaries` that grows as the log is
read. Two logs read with the same dictionaries have comparable codes (an original and its release, say).
"""

from dataclasses import dataclass, field, fields
from typing import Self

import numpy as np

from proxid.lab.logs.jit import Codes, Flags, Longs, Reals
from proxid.lab.logs.strings import StringTable
from proxid.lab.logs.tree import CategoryTree

NONE = -1
"""Code of a missing category, rank or URL."""


@dataclass(frozen=True, slots=True)
class LogBatch:
    """Some records of a log, a column each; all columns have the same length.

    user, query: int32 codes (a missing text is the code of ""). category: int32 node of the tree or -1. time: float64
    seconds since 1970 UTC, NaN when missing. rank: int32 or -1. url: int32 code or -1. row: int64 number of the record
    in its file, from 0, bad rows not counted. group: int32 number of the released group or -1.
    """

    user: Codes
    query: Codes
    category: Codes
    time: Reals
    rank: Codes
    url: Codes
    row: Longs
    group: Codes

    def __len__(self) -> int:
        return len(self.user)

    def take(self, which: Longs | Codes | Flags | slice) -> Self:
        """The records chosen by positions, a mask or a slice."""
        return type(self)(*(getattr(self, f.name)[which] for f in fields(self)))

    @classmethod
    def concatenate(cls, batches: "list[LogBatch]") -> "LogBatch":
        """One batch of many; they must share dictionaries."""
        if not batches:
            return empty_batch()
        return LogBatch(*(np.concatenate([getattr(b, f.name) for b in batches]) for f in fields(cls)))


@dataclass(slots=True)
class Dictionaries:
    """The strings behind the codes: `dictionaries.query[code]` is a text, `.category[node]` a path."""

    user: StringTable = field(default_factory=StringTable)
    query: StringTable = field(default_factory=StringTable)
    url: StringTable = field(default_factory=StringTable)
    tree: CategoryTree = field(default_factory=CategoryTree)

    @property
    def category(self) -> StringTable:
        """Path of each node of the tree; node 0 is the root, path ""."""
        return self.tree.paths

    @property
    def nbytes(self) -> int:
        """Bytes of memory held by all strings."""
        return self.user.nbytes + self.query.nbytes + self.url.nbytes + self.category.nbytes


def empty_batch() -> LogBatch:
    """A batch of no records."""
    code = np.empty(0, np.int32)
    return LogBatch(code, code, code, np.empty(0, np.float64), code, code, np.empty(0, np.int64), code)
