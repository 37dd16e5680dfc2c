"""Groups replayed (check 5 of DESIGN 10.4): the pool of each epoch is run again from the log, in memory.

Every RELEASED must be the group that the replay forms, published by the cycle of the committed seed, showing what
the ladder allowed; every body must be what its record's hash says.
"""

from collections.abc import Collection, Mapping
from typing import Final

from auditor.checks.c3_records import verify_records
from auditor.checks.c5_held import HeldBack, HeldState
from auditor.checks.c5_places import Places
from auditor.checks.c5_replay import EpochReplay, ReplayState
from auditor.checks.c5_slots import WITHHELD, SlotReplay, verify_readable
from auditor.checks.c5_spill import EpochMemory, Spill
from auditor.checks.c5_split import SplitReplay
from auditor.checks.c7_shown import Named
from auditor.policies import Policies
from auditor.trust import Trust
from proxid.anonymise.mix.cycle import CycleSource, seed_commitment
from proxid.anonymise.mix.pairs import release_pairs
from proxid.anonymise.mix.pool import Pool
from proxid.anonymise.mix.types import Group, Outcome, Raised, Reason, Suppressed
from proxid.anonymise.slotted.pool import SlotPool
from proxid.anonymise.slotted.types import SlotGroup
from proxid.anonymise.split.draws import Draws
from proxid.errors import GroupMismatchError
from proxid.evidence.bodies import mix_body
from proxid.evidence.disclosure import disclosure_info, mix_record
from proxid.evidence.events import BufferedPayload, ReleasedPayload

KINDS: Final = frozenset({"general", "location", "command"})

GroupsState = tuple[bytes, dict[int, bytes], dict[int, ReplayState], HeldState]
"""Key of what is remembered, seeds and replays by epoch, what was held back."""


class Groups:
    """Replays what MS says it buffered, moved, gave up and released; `overdue` is told when each of these was due."""

    def __init__(self, policies: Policies, spill: Spill) -> None:
        self._policies = policies
        self._trust = policies.trust
        self._spill = spill
        self.overdue = HeldBack()
        self._epochs: dict[int, EpochReplay] = {}
        self._seeds: dict[int, bytes] = {}

    def opened(self, epoch: int, commitment: bytes, sealed: bytes) -> None:
        """EPOCH_OPENED: the disclosed seed must be the committed one; raises GroupMismatchError, SealInvalidError."""
        trust = self._trust
        seed = trust.opening.open(sealed, disclosure_info(trust.service, epoch))
        if seed_commitment(seed, epoch, trust.service) != commitment:
            raise GroupMismatchError("disclosed seed is not the committed one")
        if epoch in self._epochs:
            raise GroupMismatchError("epoch was opened twice")
        judge = self._policies.of(epoch)
        if judge is None:
            self.opened_blind(epoch)
            return
        end = float(judge.epochs.end(epoch))
        place = Draws(seed).place
        slots = {kind: SlotReplay(SlotPool(settings, end, place), settings) for kind, settings in judge.slots.items()}
        split = None if judge.split is None else SplitReplay(judge.split, seed, epoch, judge.content == "rounds")
        self._epochs[epoch] = EpochReplay(self._pool(epoch), CycleSource(seed), slots=slots, split=split)
        self._seeds[epoch] = seed

    def _pool(self, epoch: int) -> Pool:
        return Pool(self._judge(epoch).settings, EpochMemory(self._spill, epoch))

    def _judge(self, epoch: int) -> Trust:
        """What an epoch that is replayed is judged by; of a blind one the pool alone needs any settings."""
        return self._policies.of(epoch) or self._trust

    def opened_blind(self, epoch: int) -> None:
        """EPOCH_OPENED whose payload has expired: nothing of the epoch can be replayed."""
        replay = EpochReplay(self._pool(epoch), CycleSource(bytes(32)))
        replay.blind |= KINDS
        self._epochs[epoch], self._seeds[epoch] = replay, bytes(32)

    def closed(self, epoch: int) -> None:
        """EPOCH_CLOSED: nothing waits any more; what the replay held is dropped.

        Raises:
            GroupMismatchError: a group has formed and was not released, or something waits that was not given up.
        """
        at = self._epochs.get(epoch)
        if at is not None and at.waits_since() is not None:
            raise GroupMismatchError("an epoch was closed, and a group that had formed in it was not released")
        if at is not None and not at.done and at.waits:
            raise GroupMismatchError("an epoch was closed, and what waited in it was not given up")
        if at is not None and at.split is not None:
            at.split.verify_over()
        if at is not None and not at.formed and not any(slots.formed for slots in at.slots.values()):
            at.buffered.clear()
            at.places.clear()
            at.pool, at.split = self._pool(epoch), None
            self._spill.drop(epoch)
            at.done = True

    def state(self) -> GroupsState:
        """For storing: the key of what the pools remember, the seeds, and the replays."""
        epochs = {epoch: at.state() for epoch, at in self._epochs.items()}
        return self._spill.key, self._seeds, epochs, self.overdue.state()

    def restore(self, state: GroupsState) -> None:
        """Go on from a state."""
        self._spill.key, self._seeds, epochs, overdue = state
        self.overdue.restore(overdue)
        self._epochs = {
            epoch: EpochReplay.restored(said, CycleSource(seed), EpochMemory(self._spill, epoch), Draws(seed).place)
            for epoch, said in epochs.items()
            for seed in (self._seeds[epoch],)
        }
        for epoch, at in self._epochs.items():
            split = epochs[epoch].split
            at.split = None if split is None else SplitReplay.restored(split, self._seeds[epoch], epoch)
            if self._policies.of(epoch) is None:
                at.blind |= KINDS
                at.split = None

    def replay(self, epoch: int) -> EpochReplay:
        """The replay of an epoch; raises GroupMismatchError if it was never opened."""
        if (found := self._epochs.get(epoch)) is None:
            raise GroupMismatchError("epoch was never opened")
        return found

    def slots(self, epoch: int, kind: str, close: str | None = None) -> SlotReplay:
        """The slots of a kind, closed as of an event's close; raises GroupMismatchError."""
        if (found := self.replay(epoch).slots.get(kind)) is None:
            raise GroupMismatchError("no such kind of record")
        if close is not None:
            self.overdue.due(epoch, found.close(float(close)))
        return found

    def blinded(self, epoch: int, kind: str) -> None:
        """A BUFFERED that does not open: from here on groups of this kind and epoch are checked by their shape."""
        at = self.replay(epoch)
        if kind == "general" and at.split is not None:
            at.split.blinded()
        at.blind.add(kind)

    def split(self, epoch: int) -> SplitReplay | None:
        """The replay of an epoch in form `split`, which knows its shape if it is blind.

        Raises:
            GroupMismatchError: there is no such epoch, or it is over, and nothing in it leaves any more.
        """
        at = self.replay(epoch)
        if at.done or (at.split is None and "general" not in at.blind):
            raise GroupMismatchError("an epoch that is over, or of another form, has no ticks, entries or contents")
        return at.split

    def is_blind(self, epoch: int, kind: str) -> bool:
        """Whether groups of this kind and epoch cannot be replayed."""
        return kind in self.replay(epoch).blind

    def buffered(self, epoch: int, payload: BufferedPayload) -> None:
        """BUFFERED: the replay must buffer it too; raises GroupMismatchError."""
        at = self.replay(epoch)
        if payload.kind == "general" and at.split is not None:
            at.split.buffer(payload)
            return
        if payload.kind in at.blind:
            return
        if payload.kind != "general":
            Places(self._judge(epoch)).verify(payload, self._seeds[epoch], at.places)
            self.slots(epoch, payload.kind).buffer(payload)
            return
        result = at.pool.submit(mix_record(payload))
        if result.outcome is not Outcome.BUFFERED:
            raise GroupMismatchError(f"record must not be buffered ({result.outcome.value})")
        at.buffered[payload.session] = payload
        at.keep(result.groups, self.overdue.latest)

    def is_spent(self, epoch: int, payload: BufferedPayload) -> bool:
        """See `Places`; False, too, if it cannot be told."""
        places = self.replay(epoch).places
        return any(self._seeds[epoch]) and Places(self._judge(epoch)).is_spent(payload, self._seeds[epoch], places)

    def raised(self, epoch: int, session: bytes, nodes: tuple[tuple[str, ...], tuple[str, ...]], now: float) -> None:
        """RAISED: the record that is due next moves up one level, at the pool's time; raises GroupMismatchError."""
        at = self.replay(epoch)
        if "general" in at.blind:
            return
        self.overdue.due(epoch, at.pool.due_since())
        step = at.pool.tick(now, limit=1)
        if step.raised != (Raised(session, *nodes),):
            raise GroupMismatchError("another record is due to move up, or none")
        at.keep(step.groups, self.overdue.latest)
        at.verify_time(now)

    def gone(self, epoch: int, session: bytes, reason: str, now: float) -> None:
        """SUPPRESSED of a waiting record: the replay must give it up too, at its time; raises GroupMismatchError."""
        at = self.replay(epoch)
        if "general" in at.blind:
            return
        if reason == WITHHELD:
            at.withhold(session, now)
            return
        self.overdue.due(epoch, at.pool.due_since())
        if reason == Reason.EPOCH_END:
            self.overdue.left(epoch, at.pool.tick(at.pool.clock, limit=0).more)
            given = at.pool.close(limit=1).suppressed
        elif reason in {Reason.EXPIRED, Reason.CAPPED}:
            given = at.pool.tick(now, limit=1).suppressed
        else:
            raise GroupMismatchError("a waiting record was given up without a reason of the pool")
        if given != (Suppressed(session, Reason(reason)),):
            raise GroupMismatchError("another record is due to be given up, or none")
        del at.buffered[session]
        at.verify_time(now)

    def held(self, epoch: int, person: str, but: Collection[str]) -> list[bytes]:
        """Sessions of what a person can take back in an epoch, of all audiences (`KIND|AUDIENCE`) but these."""
        at = self._epochs.get(epoch)
        if at is None or at.done:
            return []
        found = [s for kind, slots in at.slots.items() if kind not in at.blind for s in slots.held(person, but)]
        if "general" in at.blind:
            return found
        pool = at.pool if at.split is None else at.split
        return [*found, *pool.held(person, but)]

    def withdrawn(self, epoch: int, session: bytes, kind: str, left: bool) -> str:
        """WITHDRAWN: one of a person's records in an audience, all of which must go; whose it was, empty if unknown.

        Args:
            left: whether its entry had left (form `split`).
        """
        at = self.replay(epoch)
        if kind == "general" and at.split is not None:
            return at.split.withdrawn(session, left)
        if kind in at.blind:
            return ""
        if kind != "general":
            return self.slots(epoch, kind).withdrawn(session)
        payload = at.buffered.pop(session, None)
        if payload is None:
            raise GroupMismatchError("a record was withdrawn that does not wait")
        if session not in at.leaving:
            at.leaving.update(at.pool.withdraw(payload.prox_id, {f"{payload.kind}|{payload.audience}"}))
        if session not in at.leaving:
            raise GroupMismatchError("a record was withdrawn that does not wait")
        at.leaving.remove(session)
        return payload.prox_id

    def hold(self) -> None:
        """At the end: what is due still."""
        for epoch, at in self._epochs.items():
            if not at.done:
                self.overdue.waits(epoch, at.held_since(self._trust.epochs.start(epoch)))

    def unreleased(self) -> int:
        """Groups that formed and were not released; raises GroupMismatchError if a withdrawal left records behind."""
        if any(at.leaving and "general" not in at.blind for at in self._epochs.values()):
            raise GroupMismatchError("a withdrawal left records of the person behind")
        if any(at.withheld and "general" not in at.blind for at in self._epochs.values()):
            raise GroupMismatchError("a group was withheld in part")
        for slots in (s for at in self._epochs.values() for kind, s in at.slots.items() if kind not in at.blind):
            slots.verify_settled()
        splits = sum(at.split.pending for at in self._epochs.values() if at.split is not None)
        others = sum(len(slots.formed) for at in self._epochs.values() for slots in at.slots.values())
        return splits + others + sum(len(at.formed) for at in self._epochs.values())

    def released_slot(
        self, place: tuple[int, int], kind: str, close: str, payload: ReleasedPayload, good: Mapping[str, Named]
    ) -> SlotGroup:  # fmt: skip
        """RELEASED of a location or command group; raises GroupMismatchError."""
        slots = self.slots(place[0], kind, close)
        self.overdue.due(place[0], slots.closed)
        cycles, seeds = self.replay(place[0]).cycles, (self._tag_seed(place[0]), self.fills(place[0]))
        return slots.release(self._judge(place[0]), cycles, place, payload, good, seeds)

    def _tag_seed(self, epoch: int) -> bytes:
        """What an epoch's audiences are named under; nothing in version 1, whose keys name no policy."""
        return self._seeds[epoch] if epoch in self._policies.named else b""

    def fills(self, epoch: int) -> bytes:
        """The seed that an epoch's records are filled from; empty if it has no feed keys, or cannot be read."""
        seed = self._seeds.get(epoch, b"") if epoch in self._policies.keyed else b""
        return seed if any(seed) else b""

    def released_unread(self, place: tuple[int, int], kind: str, close: str, payload: ReleasedPayload | None) -> None:
        """RELEASED that does not open whole, though the group's records did when an earlier audit read them.

        Args:
            close: of a location or command group. payload: as far as it opens; None if it is gone.

        Raises:
            GroupMismatchError: the replay formed no such group, or what can be read is of another one.
        """
        epoch, number = place
        at = self.replay(epoch)
        if kind != "general":
            self.slots(epoch, kind, close).release_unread(at.cycles, place, payload)
            return
        group, since = at.leave(number)
        self.overdue.due(epoch, since)
        pairs = release_pairs(group, at.cycles, self._judge(epoch).settings)
        for pair in pairs:
            at.buffered.pop(pair.record, None)
        if payload is not None:
            verify_readable(payload.records, tuple(pair.record for pair in pairs))
            verify_readable(payload.published, tuple(pair.person for pair in pairs))

    def released(self, epoch: int, number: int, payload: ReleasedPayload, good: Mapping[str, Named]) -> Group:
        """RELEASED: the group of this number that the replay formed, shown as it must be.

        Args:
            good: for each party, what was found good of its records when it got them (`records.verify_records`).

        Raises:
            GroupMismatchError: people, order, cycle, audience, text or body differ from the replay's.
        """
        at = self.replay(epoch)
        group, since = at.leave(number)
        self.overdue.due(epoch, since)
        settings, seed = self._judge(epoch).settings, self._tag_seed(epoch)
        pairs = release_pairs(group, at.cycles, settings)
        if tuple(p.record for p in pairs) != payload.records or tuple(p.person for p in pairs) != payload.published:
            raise GroupMismatchError("members or cycle differ from the replay of the committed seed")
        if tuple(at.buffered[p.record].prox_id for p in pairs) != payload.owners:
            raise GroupMismatchError("a text is filed under another person than asked")
        bodies = [mix_body(pair, group, epoch, settings, at.buffered[pair.record], seed) for pair in pairs]
        verify_records(self._judge(epoch), payload, group.audience, bodies, good, self.fills(epoch))
        for pair in pairs:
            del at.buffered[pair.record]
        return group
