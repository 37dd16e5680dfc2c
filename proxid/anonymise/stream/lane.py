"""The nodes at which one audience's records wait, and how they move (DESIGN 8.1, 8.4-8.6).

A lane is the mechanism without its bookkeeping: `pool.Pool` adds identity, repeats, the ladder and numbers,
`batch.MixStream` adds none of them. Costs do not grow with k: entering and leaving a node are dictionary operations,
and a group sorts its own members only.

How a node stays small: a group is formed as soon as n distinct seasoned people wait at a node, so never do more than n.
"The n people who waited longest" are therefore all of them, and a group takes the oldest record of each.
"""

from collections import deque
from heapq import nsmallest
from operator import attrgetter
from typing import Any

from proxid.anonymise.stream.settings import Settings
from proxid.errors import InputError

Path = tuple[str, ...]

_SLACK = 1024
_arrival = attrgetter("arrival")


class Node:
    """The queues of the people who have records waiting at a node, by person; each queue in order of arrival."""

    __slots__ = ("lane", "path", "seasoned", "unseasoned")

    def __init__(self, lane: "Lane", path: Path) -> None:
        self.lane = lane
        self.path = path
        self.seasoned: dict[str, list[Waiting]] = {}
        self.unseasoned: dict[str, list[Waiting]] = {}

    def queue(self, person: str) -> "list[Waiting] | None":
        """The person's queue, or None when nothing of the person waits here."""
        return self.seasoned.get(person) or self.unseasoned.get(person)


class Waiting:
    """A record that waits: `arrival` is its number in the audience; (`entered`, `time`) are the audience's sequence
    and the clock when it came to its node. `node` is None once it has left."""

    __slots__ = ("arrival", "entered", "item", "node", "person", "raised", "seasoned", "time")

    def __init__(self, arrival: int, person: str, seasoned: bool, item: Any, node: Node, time: float) -> None:
        self.arrival = self.entered = arrival
        self.person = person
        self.seasoned = seasoned
        self.item = item
        self.node: Node | None = node
        self.time = time
        self.raised = False


class Lane:
    """All nodes of one audience."""

    def __init__(self, settings: Settings, name: str = "") -> None:
        self.name = name
        self.arrivals = 0
        self.waiting = 0
        self._n = settings.n
        self._level = settings.level
        self._cap = settings.person_cap
        self._join = settings.unseasoned_cap
        self._max_records = settings.max_delay_records or float("inf")
        self._max_seconds = settings.max_delay_s or float("inf")
        self._nodes: dict[Path, Node] = {}
        self._entries: deque[Waiting] = deque()

    def node(self, path: Path) -> Node:
        """The node where a record of this category starts to wait; raises InputError for an empty component."""
        return self._at(path[: self._level])

    def nodes(self) -> tuple[Node, ...]:
        """Every node that was used."""
        return tuple(self._nodes.values())

    def enter(self, node: Node, person: str, seasoned: bool, item: Any, time: float) -> Waiting:
        """Let a record wait at a node; the caller takes a group if the node is then `ripe`."""
        self.arrivals = arrival = self.arrivals + 1
        self.waiting += 1
        waiting = Waiting(arrival, person, seasoned, item, node, time)
        people = node.seasoned if seasoned else node.unseasoned
        queue = people.get(person)
        if queue is None:
            people[person] = [waiting]
        else:
            queue.append(waiting)
        self._entries.append(waiting)
        return waiting

    def full(self, node: Node, person: str) -> bool:
        """Whether the person has as many records waiting at the node as one person may (8.5)."""
        if self._cap is None:
            return False
        queue = node.queue(person)
        return queue is not None and len(queue) >= self._cap

    def ripe(self, node: Node) -> bool:
        """Whether records of n distinct seasoned people wait at the node: the gate of 8.4."""
        return len(node.seasoned) >= self._n

    def take(self, node: Node) -> list[Waiting]:
        """Remove and return a group from a ripe node: one record a person, in order of arrival.

        The oldest record of each seasoned person there, and of the unseasoned people whose oldest records arrived
        first, at most as many as the seasoned people that a group needs.
        """
        taken, node.seasoned = _heads(node.seasoned)
        if node.unseasoned:
            first = nsmallest(self._join, node.unseasoned.items(), key=lambda entry: entry[1][0].arrival)
            joining, kept = _heads(dict(first))
            taken += joining
            for person, _ in first:
                if person not in kept:
                    del node.unseasoned[person]
        for waiting in taken:
            waiting.node = None
        taken.sort(key=_arrival)
        self.waiting -= len(taken)
        if len(self._entries) > 2 * self.waiting + _SLACK:
            self._entries = deque(entry for entry in self._entries if entry.node is not None)
        return taken

    def due(self, clock: float) -> Waiting | None:
        """The record that came to its node first, if it waited there `max_delay` records or seconds."""
        first = self.first()
        if first is None:
            return None
        late = self.arrivals - first.entered >= self._max_records or clock - first.time >= self._max_seconds
        return first if late else None

    def first(self) -> Waiting | None:
        """The waiting record that came to its node first."""
        entries = self._entries
        while entries and entries[0].node is None:
            entries.popleft()
        return entries[0] if entries else None

    def parent(self, node: Node) -> Node | None:
        """The node above, or None for the root."""
        return self._at(node.path[:-1]) if node.path else None

    def lift(self, target: Node, clock: float) -> Waiting:
        """Move the `first` record up to `target`, where it keeps its place in the order of arrival (8.6)."""
        waiting = self._entries.popleft()
        self.drop(waiting)
        self.waiting += 1
        waiting.node, waiting.raised = target, True
        waiting.entered, waiting.time = self.arrivals, clock
        people = target.seasoned if waiting.seasoned else target.unseasoned
        queue = people.setdefault(waiting.person, [])
        queue.append(waiting)
        queue.sort(key=_arrival)
        self._entries.append(waiting)
        return waiting

    def drop(self, waiting: Waiting) -> None:
        """Remove a waiting record from its node."""
        node = waiting.node
        assert node is not None
        people = node.seasoned if waiting.seasoned else node.unseasoned
        queue = people[waiting.person]
        queue.remove(waiting)
        if not queue:
            del people[waiting.person]
        waiting.node = None
        self.waiting -= 1

    def _at(self, path: Path) -> Node:
        node = self._nodes.get(path)
        if node is None:
            if not all(path):
                raise InputError("a category path has an empty component")
            node = self._nodes[path] = Node(self, path)
        return node


def _heads(people: dict[str, list[Waiting]]) -> tuple[list[Waiting], dict[str, list[Waiting]]]:
    """Pop the oldest record of each person; returns them and the people who have more."""
    heads, more = [], {}
    for person, queue in people.items():
        heads.append(queue.pop(0))
        if queue:
            more[person] = queue
    return heads, more
