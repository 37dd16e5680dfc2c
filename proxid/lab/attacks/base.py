"""The shape of an attack: a released stream goes in batch by batch, guesses come out (DESIGN 14).

An attacker sees released records in their order and nothing else, unless its class says what more it knows. It may
guess a record's owner at once, later, or never; what it never guesses is held and counted as such.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from proxid.lab.logs import LogBatch
from proxid.lab.logs.jit import Codes, Longs


@dataclass(frozen=True, slots=True)
class Observed:
    """Released records as an attacker sees them; a column each, all of one length.

    row: int64 position in the release. user: the published user. node: where the group or the buffer was. category,
    query: int32 codes as published. group: int32 number or -1.
    """

    row: Longs
    user: Codes
    node: Codes
    category: Codes
    query: Codes
    group: Codes

    def __len__(self) -> int:
        return len(self.row)

    @classmethod
    def of(cls, released: LogBatch, node: Codes) -> "Observed":
        """The whole of a release, in its order."""
        row = np.arange(len(released), dtype=np.int64)
        return cls(row, released.user, node, released.category, released.query, released.group)

    def slice(self, begin: int, end: int) -> "Observed":
        """The records from `begin` to `end`."""
        return Observed(*(getattr(self, name)[begin:end] for name in self.__slots__))

    @classmethod
    def concatenate(cls, parts: "list[Observed]") -> "Observed":
        """One batch of many."""
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__slots__))


@dataclass(frozen=True, slots=True)
class Guesses:
    """Rows of the release and the user guessed to be the owner of each."""

    row: Longs
    user: Codes

    def __len__(self) -> int:
        return len(self.row)

    @classmethod
    def concatenate(cls, parts: "list[Guesses]") -> "Guesses":
        """The guesses of many batches."""
        if not parts:
            return cls(np.zeros(0, np.int64), np.zeros(0, np.int32))
        return cls(np.concatenate([part.row for part in parts]), np.concatenate([part.user for part in parts]))


class Attacker(ABC):
    """One pass over a release; what it answers does not depend on how the stream is cut into batches."""

    @abstractmethod
    def feed(self, batch: Observed) -> Guesses:
        """Take the next records, give the guesses that are due."""

    def finish(self) -> Guesses:
        """The guesses that were waiting for more records."""
        return Guesses.concatenate([])

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes of what the attacker remembers at the moment."""


def run_attacker(attacker: Attacker, seen: Observed, batch_rows: int = 1 << 18) -> Guesses:
    """All guesses of an attacker on a release, fed in batches."""
    parts = [attacker.feed(seen.slice(begin, begin + batch_rows)) for begin in range(0, len(seen), batch_rows)]
    return Guesses.concatenate([*parts, attacker.finish()])
