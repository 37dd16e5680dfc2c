"""Form `split` where an erasure took what a replay needs (check 5 of DESIGN 10.4): what is left of it to see.

What cannot be read counts for whatever suits the operator best, so that nobody honest is accused: a hidden entry as one
more person, at the node and in the round that need it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from auditor.checks.c5_split_entries import Entries, Judge
from proxid.anonymise.split.draws import Draws
from proxid.anonymise.split.settings import MIN_NODES, SplitSettings
from proxid.anonymise.split.ticks import node_of
from proxid.anonymise.split.types import Leaving, Node, NodeRounds, SplitPoolState, SplitRecord
from proxid.errors import GroupMismatchError
from proxid.evidence.events import Header, ReleasedPayload
from proxid.evidence.splitting import RAISED
from proxid.protocol.entry import PORTION, tick_of
from proxid.protocol.record import RecordBody


class ShapeState(NamedTuple):
    """A `SplitShape`, for storing.

    Attributes:
        tick: the last one. records, times: what can be read of what was buffered, by session. left: of that, what left.
        gone: sessions that were taken back. opened: nodes that entries left, of each audience. hidden: entries that
            left and cannot be read, by audience. now, hidden_now: the same of the last tick. whole: whether that was
            seen from its beginning. shown: audiences whose contents were.
    """

    tick: int
    records: dict[bytes, SplitRecord]
    times: dict[bytes, int]
    left: dict[bytes, Leaving]
    gone: set[bytes]
    opened: set[tuple[str, Node]]
    hidden: dict[str, int]
    now: list[Leaving]
    hidden_now: dict[str, int]
    whole: bool
    shown: set[str]


class SplitShape:
    """One epoch, from the record on that does not open.

    Args:
        settings, seed, epoch: as `c5_split.SplitReplay`.
    """

    def __init__(self, settings: SplitSettings, seed: bytes, epoch: int, state: ShapeState) -> None:
        self._settings, self._draws = settings, Draws(seed)
        self._entries = Entries(settings, seed, epoch)
        self._at = state

    @property
    def state(self) -> ShapeState:
        """For storing."""
        return self._at

    def buffer(self, record: SplitRecord, time_ms: int) -> None:
        """BUFFERED that can be read."""
        self._at.records[record.id], self._at.times[record.id] = record, time_ms

    def withdrawn(self, session: bytes) -> None:
        """WITHDRAWN: it stands in no round."""
        self._at.gone.add(session)

    def ticked(self, tick: int) -> None:
        """TICKED; raises GroupMismatchError if what left at the last one could not, or it is no later tick."""
        self._settle()
        if not self._at.tick < tick <= self._settings.ticks:
            raise GroupMismatchError("ticks of an epoch are numbered upwards")
        self._at.opened.update((one.record.audience, one.node) for one in self._at.now if not one.raised)
        self._at = self._at._replace(tick=tick, now=[], hidden_now={}, whole=True)

    def verify_over(self) -> None:
        """EPOCH_CLOSED; raises GroupMismatchError."""
        self._settle()
        if self._at.tick != self._settings.ticks:
            raise GroupMismatchError("an epoch ended without its last tick")

    def released(self, number: int, audience: str, payload: ReleasedPayload, by: Judge) -> None:
        """RELEASED of a portion.

        Raises:
            GroupMismatchError: what can be read of it is no entry of the tick, or not in order.
        """
        if tick_of(number) != self._at.tick or not 0 < len(payload.records) <= PORTION:
            raise GroupMismatchError("portion is of another tick, or too large")
        portion: list[tuple[Leaving, int] | None] = []
        for at, session in enumerate(payload.records):
            one = self._leaving(session, audience, [bodies[at] for _, _, bodies in payload.parties])
            portion.append(one)
        self._entries.verify(portion, (number, audience), payload, by)
        ids = [self._draws.entry(session) for session in payload.records if session]
        if any(a >= b for a, b in pairwise(ids)):
            raise GroupMismatchError("entries are not in the order of their ids")
        found = [one for one, _ in filter(None, portion)]
        self._at.now.extend(found)
        self._at.left.update((one.record.id, one) for one in found)
        self._hide(audience, len(portion) - len(found))

    def released_unread(self, number: int, audience: str) -> None:
        """RELEASED of which nothing can be read: as many entries as a portion may have; raises GroupMismatchError."""
        if tick_of(number) != self._at.tick:
            raise GroupMismatchError("portion is of another tick, or too large")
        self._hide(audience, PORTION)

    def _hide(self, audience: str, entries: int) -> None:
        for hidden in (self._at.hidden, self._at.hidden_now):
            hidden[audience] = hidden.get(audience, 0) + entries

    def _leaving(self, session: bytes, audience: str, bodies: Sequence[bytes]) -> tuple[Leaving, int] | None:
        """What must stand there, raised if and as far as its first readable body says; None if that is not known."""
        record, body = self._at.records.get(session), next(filter(None, bodies), None)
        if record is None or body is None:
            return None
        shown, node = RecordBody.decode(body), node_of(record.path, self._settings)
        raised, closing = shown.rung == RAISED, self._at.tick == self._settings.ticks
        at = shown.path if raised else node
        if record.audience != audience or (raised and not (closing and at and at == node[: len(at)] and at != node)):
            raise GroupMismatchError("entry is of another audience, or was moved up where nothing is")
        return Leaving(record, at, raised), self._at.times[session]

    def _settle(self) -> None:
        """What left at the last tick might: enough nodes, none with over half, each opened by n people."""
        if not self._at.whole:
            return
        for audience in {one.record.audience for one in self._at.now}:
            own = [one for one in self._at.now if one.record.audience == audience]
            self._verify_tick(audience, own, self._at.hidden_now.get(audience, 0))

    def _verify_tick(self, audience: str, own: Sequence[Leaving], hidden: int) -> None:
        counts = Counter(one.node for one in own)
        total = len(own) + hidden
        if len(counts) + hidden < MIN_NODES or 2 * max(counts.values()) > total:
            raise GroupMismatchError("entries left that lie in too few nodes, or over half of them in one")
        people: dict[tuple[Node, bool], set[str]] = defaultdict(set)
        for one in own:
            people[one.node, one.raised].add(one.record.person)
        for (node, raised), there in people.items():
            # At the close a node may have lost its surplus to the lot; it then has half of what left, exactly.
            cut = self._at.tick == self._settings.ticks and 2 * (counts[node] + hidden) >= total
            opened = not raised and (audience, node) in self._at.opened
            if not cut and not opened and len(there) + hidden < self._settings.n:
                raise GroupMismatchError("entries left a node that fewer than n people opened")

    def batched(self, fields: Header) -> None:
        """BATCHED whose shape was found good: it counts what left, as far as that can be read.

        Raises:
            GroupMismatchError: before the close, a second time, or other records than left.
        """
        audience = str(fields["audience"])
        if self._at.tick != self._settings.ticks or audience in self._at.shown:
            raise GroupMismatchError("contents are formed before the close, or a second time")
        self._at.shown.add(audience)
        own: dict[Node, Counter[str]] = defaultdict(Counter)
        for session, one in self._at.left.items():
            shown = not one.raised and len(one.node) == self._settings.level and session not in self._at.gone
            if shown and one.record.audience == audience:
                own[one.node][one.record.person] += 1
        stated = {node.node: node for node in rounds_of(fields)}
        if not own.keys() <= stated.keys():
            raise GroupMismatchError("contents leave out a node")
        more = sum(self._verify_node(node, own.get(node.node, {})) for node in stated.values())
        if more > self._at.hidden.get(audience, 0):
            raise GroupMismatchError("contents count more records than left")

    def _verify_node(self, said: NodeRounds, people: Mapping[str, int]) -> int:
        """What can be read of a node's records fits its rounds; how many are counted that cannot be read."""
        more = sum(said.sizes) + said.withheld - sum(people.values())
        readable = [sum(1 for n in people.values() if n > at) for at in range(len(said.sizes) + 1)]
        rounds, after = readable[:-1], readable[-1]
        left_over = sum(people.values()) - sum(rounds)
        if more < 0 or any(a < b for a, b in zip(said.sizes, rounds, strict=True)) or said.withheld < left_over:
            raise GroupMismatchError("contents count fewer records of a node than left")
        if after >= self._settings.n:
            raise GroupMismatchError("contents have fewer rounds of a node than its people fill")
        return more


def begun(pool: SplitPoolState, times: Mapping[bytes, int], last: int) -> ShapeState:
    """What a replay knew when a record did not open.

    Args:
        last: its last tick.
    """
    left = {one.record.id: one for lane in pool.lanes for one in lane.left}
    waiting = {one.id: one for lane in pool.lanes for _, records in lane.waiting for one in records}
    records = waiting | {session: one.record for session, one in left.items()}
    opened = {(lane.name, node) for lane in pool.lanes for node in lane.opened}
    known = {session: times[session] for session in records}
    return ShapeState(last, records, known, left, set(), opened, {}, [], {}, False, set())


def rounds_of(fields: Header) -> list[NodeRounds]:
    """The rounds that a BATCHED states; raises ValueError, TypeError."""
    rounds = fields["rounds"]
    if not isinstance(rounds, list):
        raise TypeError("rounds are a list")
    said = [str(one).rsplit(":", 2) for one in rounds]
    return [NodeRounds(tuple(n.split("/")), tuple(map(int, filter(None, s.split(",")))), int(w)) for n, s, w in said]


def verify_batched(fields: Header, settings: SplitSettings) -> None:
    """The shape of any BATCHED: rounds of n at least, at nodes of the level, and the sum of what they left.

    Raises:
        GroupMismatchError: it has not.
    """
    nodes = rounds_of(fields)
    names = [node.node for node in nodes]
    if any(len(name) != settings.level for name in names) or not _rise(names):
        raise GroupMismatchError("contents are of nodes of another level, or not in order")
    sizes = [size for node in nodes for size in node.sizes]
    if any(size < settings.n for size in sizes):
        raise GroupMismatchError("a round has fewer distinct people than k + 1 + margin")
    if any(a < b for node in nodes for a, b in pairwise(node.sizes)):
        raise GroupMismatchError("a later round of a node has more people than an earlier one")
    if any(node.withheld < 0 for node in nodes) or sum(node.withheld for node in nodes) != fields["withheld"]:
        raise GroupMismatchError("contents withhold another number of records than their nodes")


def _rise(names: Iterable[Node]) -> bool:
    return all(a < b for a, b in pairwise(names))
