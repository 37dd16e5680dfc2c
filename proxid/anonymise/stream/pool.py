"""The pool of mode `mix` for one epoch, in memory (DESIGN 8.1, 8.4-8.7).

Rules, in the order in which `submit` applies them; `main_service/store/lua/pool.lua` is the same on a store, and one
contract test holds the two together step by step:

1. A record whose id was submitted before changes nothing (DUPLICATE).
2. A person's normalised text enters once an epoch and audience (REPEATED).
3. A person may have `person_cap` records waiting at a node (CAPPED).
4. Otherwise it is buffered: it takes the next place in its audience's order of arrival, waits at its node, and, if its
   person is seasoned, counts as one issue of each of its units (8.7).
5. While n distinct seasoned people wait at the node, a group is formed (`Lane.take`) and takes the next number. What is
   shown of its members' texts is decided there and then.

`tick` moves up what waited too long, `withdraw` removes a person's records, `close` ends the epoch. The clock never
runs back: an earlier time counts as the latest one seen.
"""

from collections.abc import Collection, Iterator

from proxid.anonymise.stream.ladder import Issuers
from proxid.anonymise.stream.lane import Lane, Node, Waiting
from proxid.anonymise.stream.settings import Settings
from proxid.anonymise.stream.types import (
    Group,
    Member,
    Outcome,
    Raised,
    Reason,
    Record,
    Rung,
    Step,
    Submission,
    Suppressed,
    WaitingRecord,
)
from proxid.errors import InputError, PoolClosedError

STEP_LIMIT = 256
_BUFFERED = Submission(Outcome.BUFFERED)


class _Audience:
    """What one audience has beside its lane: the ladder's counts and the texts that entered."""

    __slots__ = ("entered", "issuers", "lane")

    def __init__(self, settings: Settings, name: str) -> None:
        self.lane = Lane(settings, name)
        self.issuers = Issuers(settings.text_threshold)
        self.entered: set[tuple[str, bytes]] = set()


class Pool:
    """Waiting records of one epoch."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.clock = 0.0
        self.groups_formed = 0
        self._closed = False
        self._audiences: dict[str, _Audience] = {}
        self._seasoned: dict[str, bool] = {}
        self._records: dict[bytes, Waiting | None] = {}

    def submit(self, record: Record) -> Submission:
        """Buffer or withhold a record, and form the groups that it completes.

        Raises:
            PoolClosedError: the epoch was closed.
            InputError: the person was seasoned before and is not now, or the other way round, or a component of
                the category is empty.
        """
        if self._closed:
            raise PoolClosedError("the epoch is closed")
        identity, person, seasoned, name, path, units, time = record
        if identity in self._records:
            return Submission(Outcome.DUPLICATE)
        audience = self._audiences.get(name) or _Audience(self.settings, name)
        lane = audience.lane
        node = lane.node(path)
        if self._seasoned.setdefault(person, seasoned) is not seasoned:
            raise InputError("a person is either seasoned or not for a whole epoch")
        self.clock = max(self.clock, time)
        if units and (person, units[0]) in audience.entered:
            return self._withhold(identity, Outcome.REPEATED)
        if lane.full(node, person):
            return self._withhold(identity, Outcome.CAPPED)
        self._records[identity] = lane.enter(node, person, seasoned, record, self.clock)
        if lane.arrivals == 1:
            self._audiences[name] = audience
        if units:
            audience.entered.add((person, units[0]))
            if seasoned:
                audience.issuers.count(person, units)
        if lane.ripe(node):
            return Submission(Outcome.BUFFERED, tuple(self._groups(audience, node)))
        return _BUFFERED

    def tick(self, now: float, limit: int = STEP_LIMIT) -> Step:
        """Move up, or at the root suppress, at most `limit` records that waited `max_delay` where they are.

        Audiences are served in the order of their first records, each record in the order in which it came to its
        node. Groups that become complete are formed at once.
        """
        self.clock = max(self.clock, now)
        raised: list[Raised] = []
        suppressed: list[Suppressed] = []
        groups: list[Group] = []
        for audience in self._audiences.values():
            while waiting := audience.lane.due(self.clock):
                if len(raised) + len(suppressed) == limit:
                    return Step(tuple(raised), tuple(suppressed), tuple(groups), more=True)
                moved, formed = self._move_up(audience, waiting)
                if isinstance(moved, Raised):
                    raised.append(moved)
                else:
                    suppressed.append(moved)
                groups += formed
        return Step(tuple(raised), tuple(suppressed), tuple(groups))

    def withdraw(self, person: str, audiences: Collection[str] | None = None) -> tuple[bytes, ...]:
        """Remove a person's waiting records from the given audiences, or all; their ids in order of arrival."""
        gone: list[bytes] = []
        for name, audience in self._audiences.items():
            if audiences is not None and name not in audiences:
                continue
            mine = [w for node in audience.lane.nodes() for w in node.queue(person) or ()]
            for waiting in sorted(mine, key=lambda waiting: waiting.arrival):
                gone.append(self._drop(audience, waiting))
        return tuple(gone)

    def close(self, limit: int = STEP_LIMIT) -> Step:
        """End the epoch: nothing more enters, and at most `limit` waiting records are suppressed."""
        self._closed = True
        suppressed: list[Suppressed] = []
        for audience in self._audiences.values():
            while waiting := audience.lane.first():
                if len(suppressed) == limit:
                    return Step(suppressed=tuple(suppressed), more=True)
                suppressed.append(Suppressed(self._drop(audience, waiting), Reason.EPOCH_END))
        return Step(suppressed=tuple(suppressed))

    def waiting(self) -> Iterator[WaitingRecord]:
        """Every waiting record, by audience and in order of arrival."""
        for name, audience in self._audiences.items():
            nodes = audience.lane.nodes()
            here = [w for n in nodes for q in (*n.seasoned.values(), *n.unseasoned.values()) for w in q]
            for w in sorted(here, key=lambda waiting: waiting.arrival):
                assert w.node is not None
                yield WaitingRecord(w.item.id, w.person, name, w.node.path, w.arrival)

    def _withhold(self, identity: bytes, outcome: Outcome) -> Submission:
        self._records[identity] = None
        return Submission(outcome)

    def _drop(self, audience: _Audience, waiting: Waiting) -> bytes:
        audience.lane.drop(waiting)
        identity: bytes = waiting.item.id
        self._records[identity] = None
        return identity

    def _move_up(self, audience: _Audience, waiting: Waiting) -> tuple[Raised | Suppressed, list[Group]]:
        lane, source = audience.lane, waiting.node
        assert source is not None
        target = lane.parent(source)
        if target is None:
            return Suppressed(self._drop(audience, waiting), Reason.EXPIRED), []
        if lane.full(target, waiting.person):
            return Suppressed(self._drop(audience, waiting), Reason.CAPPED), []
        lane.lift(target, self.clock)
        return Raised(waiting.item.id, source.path, target.path), self._groups(audience, target)

    def _groups(self, audience: _Audience, node: Node) -> list[Group]:
        groups = []
        while audience.lane.ripe(node):
            groups.append(self._group(audience, node))
        return groups

    def _group(self, audience: _Audience, node: Node) -> Group:
        taken = audience.lane.take(node)
        raised = any(waiting.raised for waiting in taken)
        self.groups_formed += 1
        members = []
        for waiting in taken:
            record: Record = waiting.item
            rung, unit = (Rung.NODE, None) if raised else audience.issuers.rung(record.units)
            members.append(Member(record.id, record.person, record.seasoned, rung, unit))
            self._records[record.id] = None
        width = self.settings.time_bucket_s
        bucket = int(self.clock // width) * width
        return Group(self.groups_formed, audience.lane.name, node.path, raised, bucket, tuple(members))
