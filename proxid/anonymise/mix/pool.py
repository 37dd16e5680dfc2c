"""The pool of mode `mix` for one epoch, in memory (DESIGN 8.1, 8.4-8.7).

Rules, in the order in which `submit` applies them; `main_service/store/lua/pool.lua` is the same on a store, and one
contract test holds the two together step by step:

1. A record whose id was submitted before changes nothing (DUPLICATE).
2. A person's normalised text enters once an epoch and audience (REPEATED).
3. A person may have `person_cap` records waiting at a node (CAPPED).
4. Otherwise it is buffered: it takes the next place in its audience's order of arrival, waits at its node, and, if its
   person is seasoned, counts as one issue of each of its units (8.7).
5. Once n distinct seasoned people wait at the node, a group is formed (`AudienceTree.take`) and takes the next number.
   What is shown of its members' texts is decided there and then.

`tick` moves up what waited too long, `withdraw` removes a person's records, `close` ends the epoch.

The pool has no randomness and no clock of its own, so whoever has the events of an epoch in order can run it again:
`tick` and `close` with a limit of 1 do what one RAISED or SUPPRESSED says (10.4 (5)). Its clock is therefore the latest
time that an event shows: of a record that was buffered, or of a tick that moved one. It never runs back.
"""

from collections.abc import Collection, Iterator
from math import floor

from proxid.anonymise.mix.memory import IN_MEMORY, PoolMemory
from proxid.anonymise.mix.queue import ARRIVAL, ENTERED, ITEM, LIFT, PERSON, TIME, Waiting
from proxid.anonymise.mix.settings import Settings
from proxid.anonymise.mix.tree import AudienceTree, Node
from proxid.anonymise.mix.types import (
    Group,
    Member,
    Outcome,
    PoolState,
    Raised,
    Reason,
    Record,
    Rung,
    Step,
    Submission,
    Suppressed,
    TreeState,
    WaitingRecord,
)
from proxid.errors import InputError, PoolClosedError

STEP_LIMIT = 256
_BUFFERED = Submission(Outcome.BUFFERED)


class _Audience:
    """What one audience has beside its tree: the ladder's counts and the texts that entered."""

    __slots__ = ("entered", "issuers", "tree")

    def __init__(self, settings: Settings, name: str, memory: PoolMemory) -> None:
        self.tree = AudienceTree(settings, name)
        self.issuers = memory.issuers(name, settings.text_threshold)
        self.entered = memory.entered(name)


class Pool:
    """Waiting records of one epoch.

    Args:
        settings: of the mechanism. memory: keeps what grows until the epoch ends, even when nothing waits.
    """

    def __init__(self, settings: Settings, memory: PoolMemory = IN_MEMORY) -> None:
        self.settings = settings
        self.clock = 0.0
        self.groups_formed = 0
        self._closed = False
        self._audiences: dict[str, _Audience] = {}
        self._seasoned: dict[str, bool] = {}
        self._memory = memory
        self._submitted = memory.submitted()

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
        if identity in self._submitted:
            return Submission(Outcome.DUPLICATE)
        audience = self._audiences.get(name) or _Audience(self.settings, name, self._memory)
        tree = audience.tree
        node = tree.node(path)
        if self._seasoned.setdefault(person, seasoned) is not seasoned:
            raise InputError("a person is either seasoned or not for a whole epoch")
        self._submitted.add(identity)
        if units and (person, units[0]) in audience.entered:
            return Submission(Outcome.REPEATED)
        if tree.full(node, person):
            return Submission(Outcome.CAPPED)
        self.clock = max(self.clock, time)
        if not tree.arrivals:
            self._audiences[name] = audience
        ripe = tree.enter(node, person, seasoned, self.clock, record, None)
        if units:
            audience.entered.add((person, units[0]))
            if seasoned:
                audience.issuers.count(person, units)
        return Submission(Outcome.BUFFERED, (self._group(audience, node),)) if ripe else _BUFFERED

    def tick(self, now: float, limit: int = STEP_LIMIT) -> Step:
        """Move up, or at the root suppress, at most `limit` records that waited `max_delay` where they are.

        Audiences are served in the order of their first records, each record in the order in which it came to its
        node. A record that would exceed `person_cap` above is suppressed. Groups that become complete are formed.
        """
        clock = max(self.clock, now)
        raised: list[Raised] = []
        suppressed: list[Suppressed] = []
        groups: list[Group] = []
        for audience in self._audiences.values():
            while audience.tree.due(clock) is not None:
                if len(raised) + len(suppressed) == limit:
                    return Step(tuple(raised), tuple(suppressed), tuple(groups), more=True)
                self.clock = clock
                move = audience.tree.move_up(clock)
                assert move is not None
                waiting, source, target = move
                if target is None:
                    suppressed.append(Suppressed(waiting[ITEM].id, Reason.CAPPED if source.path else Reason.EXPIRED))
                    continue
                raised.append(Raised(waiting[ITEM].id, source.path, target.path))
                if audience.tree.ripe(target):
                    groups.append(self._group(audience, target))
        return Step(tuple(raised), tuple(suppressed), tuple(groups))

    def due_since(self) -> float | None:
        """When the first record is, or was, to move up by time alone, Unix seconds; None if none ever is."""
        if self.settings.max_delay_s is None:
            return None
        firsts = (audience.tree.first() for audience in self._audiences.values())
        return min((first[1][TIME] + self.settings.max_delay_s for first in firsts if first is not None), default=None)

    def withdraw(self, person: str, audiences: Collection[str] | None = None) -> tuple[bytes, ...]:
        """Remove a person's waiting records from the given audiences, or all; their ids in order of arrival."""
        gone: list[bytes] = []
        for name, audience in self._audiences.items():
            if audiences is None or name in audiences:
                gone += [_drop(audience.tree, node, waiting) for node, waiting in audience.tree.of(person)]
        return tuple(gone)

    def held(self, person: str, but: Collection[str] = ()) -> tuple[bytes, ...]:
        """Ids of a person's waiting records in all audiences but these."""
        lanes = [audience for name, audience in self._audiences.items() if name not in but]
        return tuple(waiting[ITEM].id for audience in lanes for _, waiting in audience.tree.of(person))

    def close(self, limit: int = STEP_LIMIT) -> Step:
        """End the epoch: nothing more enters, and at most `limit` waiting records are suppressed.

        Audiences are served in the order of their first records, each record in the order in which it came to its
        node.
        """
        self._closed = True
        suppressed: list[Suppressed] = []
        for audience in self._audiences.values():
            while (found := audience.tree.first()) is not None:
                if len(suppressed) == limit:
                    return Step(suppressed=tuple(suppressed), more=True)
                suppressed.append(Suppressed(_drop(audience.tree, *found), Reason.EPOCH_END))
        return Step(suppressed=tuple(suppressed))

    def waiting(self) -> Iterator[WaitingRecord]:
        """Every waiting record, by audience and in order of arrival."""
        for name, audience in self._audiences.items():
            for node, waiting in audience.tree:
                yield WaitingRecord(waiting[ITEM].id, waiting[PERSON], name, node.path, waiting[ARRIVAL])

    def state(self) -> PoolState:
        """For storing: everything but what its memory keeps."""
        trees = []
        for audience in self._audiences.values():
            tree = audience.tree
            waiting = [
                (node.path, row[ARRIVAL], row[ENTERED], row[LIFT], row[TIME], row[ITEM]) for node, row in tree
            ]  # fmt: skip
            trees.append(TreeState(tree.name, tree.arrivals, tree.lifts, waiting))
        return PoolState(self.settings, self.clock, self.groups_formed, self._closed, self._seasoned, trees)

    @classmethod
    def restored(cls, state: PoolState, memory: PoolMemory) -> "Pool":
        """A pool that goes on from a state, with the memory of the one that gave it."""
        pool = cls(state.settings, memory)
        pool.clock, pool.groups_formed, pool._closed = state.clock, state.groups_formed, state.closed
        pool._seasoned = state.seasoned
        for said in state.trees:
            audience = pool._audiences[said.name] = _Audience(state.settings, said.name, memory)
            audience.tree.restore(
                said.arrivals, said.lifts,
                [(path, item.seasoned, (*at, item.person, item, None)) for path, *at, item in said.waiting],  # type: ignore[misc]
            )  # fmt: skip
        return pool

    def _group(self, audience: _Audience, node: Node) -> Group:
        taken = audience.tree.take(node)
        raised = any(waiting[LIFT] for waiting in taken)
        members = []
        for waiting in taken:
            record: Record = waiting[ITEM]
            rung, unit = (Rung.NODE, None) if raised else audience.issuers.rung(record.units)
            members.append(Member(record.id, record.person, record.seasoned, rung, unit))
        self.groups_formed += 1
        width = self.settings.time_bucket_s
        bucket = floor(self.clock / width) * width
        return Group(self.groups_formed, audience.tree.name, node.path, raised, bucket, tuple(members))


def _drop(tree: AudienceTree, node: Node, waiting: Waiting) -> bytes:
    tree.drop(node, waiting)
    identity: bytes = waiting[ITEM].id
    return identity
