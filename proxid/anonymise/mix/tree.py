"""The nodes at which one audience's records wait, and how they move (DESIGN 8.1, 8.4-8.6).

The tree is the mechanism without its bookkeeping: `pool.Pool` adds identity, repeats, the ladder and numbers. What a
record costs does not grow with k.

- A group is formed as soon as n distinct seasoned people wait at a node, so never do more than n: "the n people who
  waited longest" are all of them, and a group takes the oldest record of each. Whoever came last has no other record
  there, so fewer than n people are left and one step never forms two groups.
- Records leave much sooner than they become due to move up, so no record is scheduled by itself: each node
  with records in it stands once on the agenda, under a record that may have left since. It is looked at again when
  that record would have been due.
"""

import sys
from collections import deque
from collections.abc import Iterable, Iterator
from heapq import heappop, heappush, heapreplace
from operator import itemgetter
from typing import Any

from proxid.anonymise.mix.queue import ENTERED, LIFT, PERSON, TIME, NodeQueue, Waiting
from proxid.anonymise.mix.settings import Settings
from proxid.errors import InputError

Path = tuple[str, ...]

_NEVER = float("inf")
_NO_ARRIVAL = sys.maxsize


class Node:
    """A place in the tree, with the queues of the seasoned people and of the others; a person is in one of them."""

    __slots__ = ("_by_entry", "on_agenda", "parent", "path", "seasoned", "unseasoned")

    def __init__(self, path: Path, parent: "Node | None") -> None:
        self.path = path
        self.parent = parent
        self.seasoned = NodeQueue()
        self.unseasoned = NodeQueue()
        self.on_agenda = False
        self._by_entry: deque[Waiting] = deque()

    def __iter__(self) -> Iterator[Waiting]:
        yield from self.seasoned
        yield from self.unseasoned

    def queue_of(self, person: str) -> NodeQueue:
        """The queue in which a person who has records here waits."""
        return self.seasoned if person in self.seasoned.heads else self.unseasoned

    def first(self) -> Waiting | None:
        """The record that came here first and still waits here."""
        came, seasoned = self._by_entry, self.seasoned.heads
        while came:
            waiting = came[0]
            person = waiting[PERSON]
            if seasoned.get(person) is waiting or self.queue_of(person).holds(waiting):
                return waiting
            came.popleft()
        # Whatever came since came later than all that was in it.
        came.extend(sorted(self, key=itemgetter(ENTERED, LIFT)))
        return came[0] if came else None


Move = tuple[Waiting, Node, Node | None]
"""A record that was due left the node `[1]`: up to the node `[2]`, or out of the tree when that is None."""


class AudienceTree:
    """All nodes of one audience.

    `arrivals` counts the records that ever came. Nothing is due before `arrivals` reaches `check_arrivals`, or the
    clock is `max_seconds` later than `check_since`.
    """

    def __init__(self, settings: Settings, name: str = "") -> None:
        self.name = name
        self.arrivals = 0
        self.check_arrivals = _NO_ARRIVAL
        self.check_since: float = _NEVER
        self.max_seconds = settings.max_delay_s or _NEVER
        self._n = settings.n
        self._level = settings.level
        self._cap = settings.person_cap
        self._join = settings.unseasoned_cap
        self._max_records = settings.max_delay_records or _NO_ARRIVAL
        self._lifts = 0
        self._nodes: dict[Path, Node] = {}
        self._agenda: list[tuple[int, int, float, Node]] = []

    def __iter__(self) -> Iterator[tuple[Node, Waiting]]:
        """Every waiting record, with its node, in order of arrival."""
        everything = ((node, waiting) for node in self._nodes.values() for waiting in node)
        return iter(sorted(everything, key=itemgetter(1)))

    def node(self, path: Path) -> Node:
        """The node where a record of this category starts to wait; raises InputError for an empty component."""
        return self._at(path[: self._level])

    def enter(self, node: Node, person: str, seasoned: bool, time: float, item: Any, label: Any) -> bool:
        """Let a record wait at a node. True if the node is then ripe: the caller takes a group from it."""
        self.arrivals = arrival = self.arrivals + 1
        waiting = (arrival, arrival, 0, time, person, item, label)
        (node.seasoned if seasoned else node.unseasoned).append(waiting)
        if not node.on_agenda:
            self.watch(node, arrival, 0, time)
        return self.ripe(node)

    def full(self, node: Node, person: str) -> bool:
        """Whether the person has as many records waiting at the node as one person may (8.5)."""
        return self._cap is not None and node.queue_of(person).count(person) >= self._cap

    def ripe(self, node: Node) -> bool:
        """Whether records of n distinct seasoned people wait at the node: the gate of 8.4."""
        return len(node.seasoned.heads) >= self._n

    def take(self, node: Node) -> list[Waiting]:
        """Remove and return a group from a ripe node: one record a person, in order of arrival.

        The oldest record of each of the n seasoned people who waited longest, and of the unseasoned people who
        waited longest, of whom at most as many join as the seasoned people that a group needs.
        """
        taken = node.seasoned.take(self._n)
        if node.unseasoned.heads:
            taken += node.unseasoned.take(self._join)
            taken.sort()
        return taken

    def first(self) -> tuple[Node, Waiting] | None:
        """The waiting record that came to its node first, and its node."""
        agenda = self._agenda
        while agenda:
            entered, lift, _, node = agenda[0]
            first = node.first()
            if first is None:
                heappop(agenda)
                node.on_agenda = False
            elif (first[ENTERED], first[LIFT]) == (entered, lift):
                return node, first
            else:
                heapreplace(agenda, (first[ENTERED], first[LIFT], first[TIME], node))
        return None

    def due(self, clock: float) -> tuple[Node, Waiting] | None:
        """The `first` record, if it waited at its node for `max_delay` records or seconds."""
        if self.arrivals < self.check_arrivals and clock - self.check_since < self.max_seconds:
            return None
        found = self.first()
        if found is not None:
            waiting = found[1]
            self.check_arrivals, self.check_since = waiting[ENTERED] + self._max_records, waiting[TIME]
            if self.arrivals >= self.check_arrivals or clock - self.check_since >= self.max_seconds:
                return found
        return None

    def move_up(self, clock: float) -> Move | None:
        """Move the record that is `due` to the parent, where it keeps its place in the order of arrival (8.6).

        It leaves the tree at the root, and if its person has as many records at the parent as one may have.
        """
        found = self.due(clock)
        if found is None:
            return None
        source, waiting = found
        arrival, _, _, _, person, item, label = waiting
        queue, target = source.queue_of(person), source.parent
        queue.remove(waiting)
        if target is None:
            return waiting, source, None
        above = target.seasoned if queue is source.seasoned else target.unseasoned
        if self._cap is not None and above.count(person) >= self._cap:
            return waiting, source, None
        self._lifts += 1
        moved = (arrival, self.arrivals, self._lifts, clock, person, item, label)
        above.insert(moved)
        if not target.on_agenda:
            self.watch(target, self.arrivals, self._lifts, clock)
        return waiting, source, target

    def drop(self, node: Node, waiting: Waiting) -> None:
        """Remove a waiting record from its node."""
        node.queue_of(waiting[PERSON]).remove(waiting)

    def of(self, person: str) -> list[tuple[Node, Waiting]]:
        """A person's waiting records, with their nodes, in order of arrival."""
        mine = ((node, waiting) for node in self._nodes.values() for waiting in node.queue_of(person).of(person))
        return sorted(mine, key=itemgetter(1))

    @property
    def lifts(self) -> int:
        """How many records ever moved up."""
        return self._lifts

    def restore(self, arrivals: int, lifts: int, rows: Iterable[tuple[Path, bool, Waiting]]) -> None:
        """Go on in an empty tree where another one was.

        Args:
            arrivals, lifts: of that one. rows: node, whether its person is seasoned, and waiting record, in order of
                arrival.
        """
        self.arrivals, self._lifts = arrivals, lifts
        for path, seasoned, waiting in rows:
            node = self._at(path)
            (node.seasoned if seasoned else node.unseasoned).append(waiting)
        firsts = [(first, node) for node in self._nodes.values() if (first := node.first()) is not None]
        for first, node in sorted(firsts, key=lambda row: (row[0][ENTERED], row[0][LIFT])):
            self.watch(node, first[ENTERED], first[LIFT], first[TIME])

    def _at(self, path: Path) -> Node:
        node = self._nodes.get(path)
        if node is None:
            if not all(path):
                raise InputError("a category path has an empty component")
            node = self._nodes[path] = Node(path, self._at(path[:-1]) if path else None)
        return node

    def watch(self, node: Node, entered: int, lift: int, time: float) -> None:
        """Put a node that is not there on the agenda, under the record that came to it first."""
        node.on_agenda = True
        heappush(self._agenda, (entered, lift, time, node))
        if len(self._agenda) == 1:  # otherwise something older is to be looked at first
            self.check_arrivals, self.check_since = entered + self._max_records, time
