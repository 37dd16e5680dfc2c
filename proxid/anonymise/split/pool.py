"""The pool of form `split` for one epoch, in memory (DESIGN 8.11): for files, and for the auditor's replay.

Rules: `submit` lets a record wait at its node; `tick` lets go all that waits at open nodes of an audience, if that may
leave; `withdraw` removes what waits of a person, and keeps what has left out of the contents; `close` ends the epoch.

A node is open once an entry left it, or once n distinct people have a record there. The pool has no clock and no
randomness of its own: ticks come from outside, lots from the epoch seed.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator
from itertools import chain

from proxid.anonymise.split.draws import Draws
from proxid.anonymise.split.rounds import form
from proxid.anonymise.split.settings import SplitSettings
from proxid.anonymise.split.ticks import leaving_at_close, may_leave, node_of
from proxid.anonymise.split.types import Close, LaneState, Leaving, Node, SplitPoolState, SplitRecord
from proxid.errors import InputError, PoolClosedError


class _Lane:
    """What one audience has: waiting records by node, and those that left and may be shown, by id."""

    __slots__ = ("left", "opened", "waiting")

    def __init__(self) -> None:
        self.waiting: dict[Node, dict[bytes, SplitRecord]] = defaultdict(dict)
        self.left: dict[bytes, Leaving] = {}
        self.opened: set[Node] = set()


class SplitPool:
    """Records of one epoch.

    Args:
        settings: of the form. draws: the lots of the epoch.
    """

    def __init__(self, settings: SplitSettings, draws: Draws) -> None:
        self._settings = settings
        self._draws = draws
        self._lanes: dict[str, _Lane] = {}
        self._ids: set[bytes] = set()
        self._of: dict[str, list[SplitRecord]] = defaultdict(list)
        """What came of each person, whether or not it is still there."""
        self._ticked = 0
        self._closed = False

    @property
    def closed(self) -> bool:
        """Whether the epoch was closed."""
        return self._closed

    def submit(self, record: SplitRecord) -> bool:
        """Let a record wait; False if one with its id was submitted before: a retry is harmless.

        Raises:
            PoolClosedError: the epoch was closed. InputError: its category is empty or has an empty component.
        """
        if self._closed:
            raise PoolClosedError("the epoch is closed")
        if not record.path or not all(record.path):
            raise InputError("a category path has an empty component")
        if record.id in self._ids:
            return False
        self._ids.add(record.id)
        self._of[record.person].append(record)
        lane = self._lanes.setdefault(record.audience, _Lane())
        lane.waiting[node_of(record.path, self._settings)][record.id] = record
        return True

    def tick(self, number: int) -> dict[str, list[Leaving]]:
        """What leaves at a tick, by audience, each node's in order of arrival; an audience that waits is left out.

        Raises:
            InputError: the tick is not after the last one, or is the close.
            PoolClosedError: the epoch was closed.
        """
        if self._closed:
            raise PoolClosedError("the epoch is closed")
        if not self._ticked < number < self._settings.ticks:
            raise InputError("ticks are numbered upwards, and the last one is the close")
        self._ticked = number
        gone: dict[str, list[Leaving]] = {}
        for audience, lane in sorted(self._lanes.items()):
            nodes = [node for node in sorted(self._open(lane)) if lane.waiting.get(node)]
            if not may_leave([len(lane.waiting[node]) for node in nodes]):
                continue
            leaving = [Leaving(record, node) for node in nodes for record in lane.waiting.pop(node).values()]
            lane.opened.update(nodes)
            lane.left.update((left.record.id, left) for left in leaving)
            gone[audience] = leaving
        return gone

    def withdraw(
        self, person: str, audiences: Collection[str] | None = None
    ) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
        """Take a person's records back from the given audiences, or all.

        Returns:
            Ids of those that waited, and of those whose entry had left: they will stand in no round.
        """
        waited: list[bytes] = []
        left: list[bytes] = []
        for record in self._held(person):
            lane = self._lanes[record.audience]
            if audiences is not None and record.audience not in audiences:
                continue
            if lane.waiting[node_of(record.path, self._settings)].pop(record.id, None) is not None:
                waited.append(record.id)
            else:
                del lane.left[record.id]
                left.append(record.id)
        return tuple(waited), tuple(left)

    def held(self, person: str, but: Collection[str] = ()) -> tuple[bytes, ...]:
        """Ids of a person's records in all audiences but these: of those that wait, and of those whose entry left."""
        return tuple(record.id for record in self._held(person) if record.audience not in but)

    def _held(self, person: str) -> list[SplitRecord]:
        """A person's records that wait or whose entry left, none once the epoch was closed."""
        if self._closed:
            return []
        return [
            record for record in self._of.get(person, ())
            if record.id in self._lanes[record.audience].left
            or record.id in self._lanes[record.audience].waiting[node_of(record.path, self._settings)]
        ]  # fmt: skip

    def state(self) -> SplitPoolState:
        """For storing."""
        lanes = [
            LaneState(
                name, [(node, list(records.values())) for node, records in lane.waiting.items() if records],
                list(lane.left.values()), lane.opened,
            )
            for name, lane in self._lanes.items()
        ]  # fmt: skip
        return SplitPoolState(self._settings, self._ids, self._ticked, self._closed, lanes)

    @classmethod
    def restored(cls, state: SplitPoolState, draws: Draws) -> "SplitPool":
        """A pool that goes on from a state."""
        pool = cls(state.settings, draws)
        pool._ids, pool._ticked, pool._closed = state.ids, state.ticked, state.closed
        for said in state.lanes:
            lane = pool._lanes[said.name] = _Lane()
            for node, records in said.waiting:
                lane.waiting[node].update((record.id, record) for record in records)
            lane.left.update((left.record.id, left) for left in said.left)
            for record in (
                *chain.from_iterable(records for _, records in said.waiting),
                *(one.record for one in said.left),
            ):
                pool._of[record.person].append(record)
            lane.opened.update(said.opened)
        return pool

    def remove(self, identity: bytes) -> bool:
        """Take one record back; False if it is not there, or the epoch was closed."""
        if self._closed:
            return False
        for lane in self._lanes.values():
            if lane.left.pop(identity, None) is not None:
                return True
            if any(records.pop(identity, None) is not None for records in lane.waiting.values()):
                return True
        return False

    def close(self) -> Iterator[tuple[str, Close]]:
        """End the epoch: by audience, what leaves at the last tick, what is given up, and what is shown.

        Raises:
            RestrictionError: a round breaks an invariant; nothing of its audience may be shown.
        """
        self._closed = True
        for audience, lane in sorted(self._lanes.items()):
            waiting = {node: list(records.values()) for node, records in lane.waiting.items() if records}
            leaving, suppressed = leaving_at_close(waiting, self._open(lane), self._settings, self._draws)
            contents = form(audience, [*lane.left.values(), *leaving], self._settings, self._draws)
            yield audience, Close(tuple(leaving), tuple(suppressed), contents)

    def _open(self, lane: _Lane) -> set[Node]:
        people: dict[Node, set[str]] = defaultdict(set)
        for node, records in lane.waiting.items():
            people[node].update(record.person for record in records.values())
        return lane.opened | {node for node, there in people.items() if len(there) >= self._settings.n}
