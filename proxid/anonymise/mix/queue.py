"""The people who have records waiting at a node, each with the records of their own (DESIGN 8.4).

A waiting record is a plain tuple of things that are no containers: Python's cyclic garbage collector stops tracking
such a tuple, which at large k is worth as much as everything else here together. Its first field is its place in the
audience's order of arrival, so waiting records compare by age.
"""

from bisect import insort
from collections.abc import Iterator
from itertools import islice
from operator import itemgetter
from typing import Any, Final

Waiting = tuple[int, int, int, float, str, Any, Any]
"""(arrival, entered, lift, time, person, item, label).

`entered` is the audience's arrivals and `time` the clock when the record came to its node. `lift` is 0 for a record
that waits where it arrived; otherwise lifts are numbered, so that (entered, lift) is the order of coming to nodes.
`item` and `label` are the caller's.
"""
ARRIVAL: Final = 0
ENTERED: Final = 1
LIFT: Final = 2
TIME: Final = 3
PERSON: Final = 4
ITEM: Final = 5
LABEL: Final = 6


class NodeQueue:
    """Who waits, oldest record first.

    `heads` maps each person to the person's oldest record, in order of those records' arrival (unless `mixed`, which
    `take` puts right); `rest` maps the people who have more to the others, oldest first.
    """

    __slots__ = ("heads", "mixed", "rest")

    def __init__(self) -> None:
        self.heads: dict[str, Waiting] = {}
        self.rest: dict[str, list[Waiting]] = {}
        self.mixed = False

    def __iter__(self) -> Iterator[Waiting]:
        yield from self.heads.values()
        for more in self.rest.values():
            yield from more

    def __len__(self) -> int:
        """How many records wait, at the price of the people who do."""
        return len(self.heads) + sum(map(len, self.rest.values()))

    def of(self, person: str) -> list[Waiting]:
        """The person's records, oldest first."""
        head = self.heads.get(person)
        return [] if head is None else [head, *self.rest.get(person, ())]

    def count(self, person: str) -> int:
        """How many records of the person wait."""
        return len(self.rest.get(person, ())) + 1 if person in self.heads else 0

    def holds(self, waiting: Waiting) -> bool:
        """Whether this very record waits here."""
        person = waiting[PERSON]
        head = self.heads.get(person)
        if head is None or head is waiting:
            return head is waiting
        return head < waiting and waiting in self.rest.get(person, ())

    def append(self, waiting: Waiting) -> None:
        """Add a record that is newer than every other."""
        person = waiting[PERSON]
        if person not in self.heads:
            self.heads[person] = waiting
            return
        more = self.rest.get(person)
        if more is None:
            self.rest[person] = [waiting]
        else:
            more.append(waiting)

    def insert(self, waiting: Waiting) -> None:
        """Add a record of any age."""
        person = waiting[PERSON]
        head = self.heads.get(person)
        if head is None:
            self.heads[person] = waiting
            self.mixed = True
        elif waiting < head:
            self.heads[person] = waiting
            self.mixed = True
            self.rest.setdefault(person, []).insert(0, head)
        else:
            insort(self.rest.setdefault(person, []), waiting)

    def remove(self, waiting: Waiting) -> None:
        """Remove a record that waits here."""
        person = waiting[PERSON]
        if self.heads[person][ARRIVAL] == waiting[ARRIVAL]:
            self._next(person)
            return
        more = self.rest[person]
        more.remove(waiting)
        if not more:
            del self.rest[person]

    def take(self, count: int) -> list[Waiting]:
        """Remove and return the oldest record of each of the `count` people who waited longest, oldest first."""
        if self.mixed:
            self.heads = dict(sorted(self.heads.items(), key=itemgetter(1)))
            self.mixed = False
        if len(self.heads) <= count:
            taken = list(self.heads.values())
            self.heads = self._second() if self.rest else {}
            return taken
        taken = list(islice(self.heads.values(), count))
        for waiting in taken:
            self._next(waiting[PERSON])
        return taken

    def _second(self) -> dict[str, Waiting]:
        """Pop the second record of everybody who has one, oldest first: the heads, once all heads were taken."""
        heads = [more.pop(0) for more in self.rest.values()]
        self.rest = {person: more for person, more in self.rest.items() if more}
        heads.sort()
        return {waiting[PERSON]: waiting for waiting in heads}

    def _next(self, person: str) -> None:
        """Replace the head of a person by that person's next record, if there is one."""
        more = self.rest.get(person)
        if more is None:
            del self.heads[person]
            return
        self.heads[person] = more.pop(0)
        self.mixed = True
        if not more:
            del self.rest[person]
