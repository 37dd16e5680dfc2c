"""The records of a node in the rounds in which they will leave: the fast form of a `line.Line` (DESIGN 8.4).

A group takes the oldest record of everybody who waits, so a person's second record leaves with the second group from
now, the third with the third, whoever else arrives. Each record is therefore put at its end of its round's list when it
comes, and forming a group is taking the first list: no record is an object of its own, nothing is sorted, searched or
moved, and memory is read in the order in which it was written. That holds while records only arrive and leave in
groups of everybody; once one moves up from here or into here, `line.Line` takes over.
"""

from collections.abc import Iterator
from typing import Any, Final

from proxid.anonymise.mix.queue import Waiting

WIDTH: Final = 5
"""Places that a record takes in a round's list: person, item, label, arrival, time."""
_SWEEP: Final = 512
"""People of whom `last` may know before it is looked at for those who left."""


class Rounds:
    """Who waits at a node where nothing but arrivals and groups happened.

    `base` numbers the round that leaves next, `now` is its list; `later` holds those after it by number; `last` tells
    the round of each person's newest record (one below `base` has left and counts for nothing).
    """

    __slots__ = ("_sweep", "base", "last", "later", "now")

    def __init__(self) -> None:
        self.base = 0
        self.now: list[Any] = []
        self.later: dict[int, list[Any]] = {}
        self.last: dict[str, int] = {}
        self._sweep = _SWEEP

    def __bool__(self) -> bool:
        return bool(self.now)

    def __iter__(self) -> Iterator[Waiting]:
        """Every record, each person's oldest first."""
        for records in (self.now, *(self.later[turn] for turn in sorted(self.later))):
            for at in range(0, len(records), WIDTH):
                yield _waiting(records, at)

    def append(self, person: str, item: Any, label: Any, arrival: int, time: float) -> None:
        """Add a record that is newer than every other. `batch.MixStream.feed` has this written out."""
        turn = self.last.get(person, -1)
        turn = self.base if turn < self.base else turn + 1
        self.last[person] = turn
        records = self.now if turn == self.base else self.later.setdefault(turn, [])
        records += (person, item, label, arrival, time)

    def first(self) -> Waiting | None:
        """The record that came first: nobody's second is older than all first ones."""
        return _waiting(self.now, 0) if self.now else None

    def take(self) -> list[Any]:
        """Remove and return the round that is due, in order of arrival."""
        taken = self.now
        self.base = base = self.base + 1
        self.now = self.later.pop(base, [])
        if len(self.last) > self._sweep:
            self.last = {person: turn for person, turn in self.last.items() if turn >= base}
            self._sweep = max(_SWEEP, 2 * len(self.last))
        return taken


def _waiting(records: list[Any], at: int) -> Waiting:
    person, item, label, arrival, time = records[at : at + WIDTH]
    return arrival, arrival, 0, time, person, item, label
