"""Mode `mix` one record at a time over one audience, without texts' bookkeeping (DESIGN 8.4, 8.6).

The same lane as the pool's, for streams in which everybody counts and what is shown is decided elsewhere, or not at
all: no ids, no repeats, no ladder. After each record, whatever is then due moves up.
"""

import sys
from collections.abc import Sequence
from typing import Any

from proxid.anonymise.mix.cycle import CycleSource, swap
from proxid.anonymise.mix.queue import ITEM, LABEL, LIFT, PERSON, Waiting
from proxid.anonymise.mix.rounds import WIDTH, Rounds
from proxid.anonymise.mix.settings import Settings
from proxid.anonymise.mix.tree import Lane, Node, Path

Shown = tuple[str, Any, str]
"""One published pair: the person it is published under, the item, and the full category.

In a group with a raised record the item is None and the category is the node.
"""
_NO_MORE: list[Waiting] = []


class MixStream:
    """Feeds records, gives back published pairs."""

    def __init__(self, settings: Settings, seed: bytes) -> None:
        """Args: settings; seed: 32 bytes from which the cycles are drawn."""
        self.groups_formed = 0
        self.suppressed = 0
        self._lane = Lane(settings)
        self._n = settings.n
        self._ripe = settings.n * WIDTH
        self._cap = settings.person_cap or sys.maxsize
        self._source = CycleSource(seed)
        self._nodes: dict[str, Node] = {}
        self._clock = 0.0

    def feed(self, person: str, item: Any, category: str, time: float = 0.0) -> Sequence[Shown]:
        """Take one record (category as a path with "/") and return what is published then, group by group.

        A record that would exceed `person_cap` is counted as suppressed.
        """
        try:
            node = self._nodes[category]
        except KeyError:
            node = self._node(category)
        rounds, lane = node.rounds, self._lane
        if rounds is None:
            return self._feed_line(node, person, item, category, time)
        last, base = rounds.last, rounds.base
        turn = last.get(person, -1)
        if turn - base >= self._cap - 1:
            self.suppressed += 1
            return ()
        late = False
        if time > self._clock:
            self._clock = time
            late = time - lane.check_since >= lane.max_seconds
        # Rounds.append and Lane.enter, written out: calls would cost a third of all.
        lane.arrivals = arrival = lane.arrivals + 1
        shown: Sequence[Shown] = ()
        if turn < base:
            last[person] = base
            now = rounds.now
            now += (person, item, category, arrival, self._clock)
            if not node.on_agenda:
                lane.watch(node, arrival, 0, self._clock)
            if len(now) >= self._ripe:
                shown = self._release_round(rounds)
        else:
            last[person] = turn = turn + 1
            records = rounds.later.get(turn)
            if records is None:
                rounds.later[turn] = [person, item, category, arrival, self._clock]
            else:
                records += (person, item, category, arrival, self._clock)
        if late or arrival >= lane.check_arrivals:
            shown = [*shown, *self._move_up()]
        return shown

    def _node(self, category: str) -> Node:
        node = self._nodes[category] = self._lane.node(_path(category))
        if node.rounds is None:
            node.enter_rounds(0)
        return node

    def _feed_line(self, node: Node, person: str, item: Any, category: str, time: float) -> Sequence[Shown]:
        """The same at a node from which, or to which, a record moved up."""
        lane, line = self._lane, node.seasoned
        heads = line.heads
        more = line.rest.get(person, _NO_MORE) if person in heads else None
        if more is not None and len(more) >= self._cap - 1:
            self.suppressed += 1
            return ()
        late = False
        if time > self._clock:
            self._clock = time
            late = time - lane.check_since >= lane.max_seconds
        lane.arrivals = arrival = lane.arrivals + 1
        waiting = (arrival, arrival, 0, self._clock, person, item, category)
        shown: Sequence[Shown] = ()
        if more is None:
            heads[person] = waiting
            if not node.on_agenda:
                lane.watch(node, arrival, 0, self._clock)
            if len(heads) >= self._n:
                shown = self._release(node)
        elif more:
            more.append(waiting)
        else:
            line.rest[person] = [waiting]
        if late or arrival >= lane.check_arrivals:
            shown = [*shown, *self._move_up()]
        return shown

    def close(self) -> int:
        """End the stream: what still waits is suppressed; returns how many records were, in all."""
        self.suppressed += sum(1 for _ in self._lane)
        return self.suppressed

    def _move_up(self) -> list[Shown]:
        lane = self._lane
        shown: list[Shown] = []
        while (move := lane.move_up(self._clock)) is not None:
            target = move[2]
            if target is None:
                self.suppressed += 1
            elif lane.ripe(target):
                shown += self._release(target)
        return shown

    def _release_round(self, rounds: Rounds) -> list[Shown]:
        self.groups_formed = number = self.groups_formed + 1
        taken = rounds.take()
        people: list[str] = taken[::WIDTH]
        for_cycle, for_order = self._source.numbers(number, self._n)
        swap(people, for_cycle)  # person i is published with record i
        pairs = list(zip(people, taken[1::WIDTH], taken[2::WIDTH]))  # noqa: B905
        swap(pairs, for_order)
        return pairs

    def _release(self, node: Node) -> list[Shown]:
        self.groups_formed = number = self.groups_formed + 1
        taken = self._lane.take(node)
        people = [waiting[PERSON] for waiting in taken]
        for_cycle, for_order = self._source.numbers(number, len(taken))
        swap(people, for_cycle)
        if node.lifted and any(waiting[LIFT] for waiting in taken):
            pairs: list[Shown] = [(person, None, "/".join(node.path)) for person in people]
        else:
            pairs = [(person, w[ITEM], w[LABEL]) for person, w in zip(people, taken)]  # noqa: B905
        node.enter_rounds(self._n)
        swap(pairs, for_order)
        return pairs


def _path(category: str) -> Path:
    return tuple(category.split("/")) if category else ()
