"""What a mechanism releases, one record at a time or in columns, and the one interface they share.

Records: `Mechanism.feed(user, query, category)` returns what left because of this record.
Columns: `Engine.feed(batch)` returns everything that left because of the batch, `Engine.finish()` ends the log.
"""

from dataclasses import dataclass, fields
from typing import NamedTuple, Protocol

import numpy as np

from proxid.lab.logs.batch import LogBatch
from proxid.lab.logs.jit import Codes, Longs, Reals

WHOLE = -1
"""Size of a shown text that is shown whole."""


class RandomSource(Protocol):
    """Where a mechanism's choices come from: `random.Random`, `secrets.SystemRandom`."""

    def randrange(self, stop: int, /) -> int:
        """A uniform number in 0 … stop - 1."""


class Emitted(NamedTuple):
    """One released record: published user, text, full category path; `source` is its number in the input (secret)."""

    user: str
    query: str
    category: str
    source: int


class Mechanism(Protocol):
    """A streaming anonymiser that takes one record at a time."""

    @property
    def waiting(self) -> int:
        """Records that wait."""

    def feed(self, user: str, query: str, category: str) -> list[Emitted]:
        """Take a record (category: path with `/`) and return what leaves."""


@dataclass(frozen=True, slots=True)
class Released:
    """Released records, a column each.

    user: code published. query: code of the text shown, of which bytes start … start + size are shown (size WHOLE: all
    of it), or -1 for no text. category: node shown. rank, url: as in LogBatch. time: seconds, the same for a group.
    group: number, or -1 where the mechanism knows no groups. Secret, for evaluation: row, the record's number in the
    input, and at, the number of the record whose arrival released it.
    """

    user: Codes
    query: Codes
    start: Codes
    size: Codes
    category: Codes
    rank: Codes
    url: Codes
    group: Codes
    time: Reals
    row: Longs
    at: Longs

    def __len__(self) -> int:
        return len(self.user)

    @staticmethod
    def concatenate(parts: "list[Released]") -> "Released":
        """One of many."""
        if not parts:
            return make_released(0)
        return Released(*(np.concatenate([getattr(part, f.name) for part in parts]) for f in fields(Released)))


def make_released(records: int) -> Released:
    """Columns for so many records, not filled."""
    user, query, start, size, category, rank, url, group = (np.empty(records, np.int32) for _ in range(8))
    row, at = (np.empty(records, np.int64) for _ in range(2))
    time = np.empty(records, np.float64)
    return Released(user, query, start, size, category, rank, url, group, time, row, at)


class Engine(Protocol):
    """A streaming anonymiser that takes columns."""

    suppressed: dict[str, int]
    """Records given up, by reason."""

    @property
    def waiting(self) -> int:
        """Records that wait."""

    @property
    def nbytes(self) -> int:
        """Bytes of memory held for waiting records and for what the mechanism remembers of texts."""

    def feed(self, batch: LogBatch) -> Released:
        """Take a batch and return what leaves because of it."""

    def finish(self) -> Released:
        """End the log: what still waits is suppressed."""
