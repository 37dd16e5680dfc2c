"""What the replay of one epoch holds (check 5 of DESIGN 10.4)."""

from dataclasses import dataclass, field
from typing import NamedTuple

from auditor.checks.c5_slots import SlotReplay, SlotState
from auditor.checks.c5_spill import EpochMemory
from auditor.checks.c5_split import SplitReplay, SplitReplayState
from proxid.anonymise.mix.cycle import CycleSource
from proxid.anonymise.mix.pairs import release_pairs
from proxid.anonymise.mix.pool import Pool
from proxid.anonymise.mix.types import Group, PoolState
from proxid.anonymise.slotted.types import Place
from proxid.errors import GroupMismatchError, RestrictionError
from proxid.evidence.disclosure import mix_record, slot_record
from proxid.evidence.events import BufferedPayload


class ReplayState(NamedTuple):
    """An `EpochReplay`, for storing: all but its cycles, and what its pool remembers."""

    pool: PoolState
    formed: list[Group]
    buffered: list[BufferedPayload]
    leaving: set[bytes]
    slots: dict[str, SlotState]
    blind: set[str]
    withheld: set[bytes]
    places: dict[str, set[bytes]]
    done: bool
    split: SplitReplayState | None
    since: dict[int, float]


@dataclass(slots=True)
class EpochReplay:
    """One epoch's pool, the groups it formed that were not released yet, and what waits."""

    pool: Pool
    cycles: CycleSource
    formed: dict[int, Group] = field(default_factory=dict)
    buffered: dict[bytes, BufferedPayload] = field(default_factory=dict)
    leaving: set[bytes] = field(default_factory=set)
    slots: dict[str, SlotReplay] = field(default_factory=dict)
    blind: set[str] = field(default_factory=set)
    """Kinds of which a waiting record does not open any more: what groups form can no longer be replayed."""
    withheld: set[bytes] = field(default_factory=set)
    """The rest of a group of which a record was withheld: a group is given up whole."""
    places: dict[str, set[bytes]] = field(default_factory=dict)
    """Names of the places that each person reported, under noise."""
    done: bool = False
    split: SplitReplay | None = None
    """General queries in form `split`, which then are in no pool."""
    since: dict[int, float] = field(default_factory=dict)
    """When groups formed, Unix seconds."""

    def state(self) -> ReplayState:
        """For storing."""
        slots = {kind: replay.state() for kind, replay in self.slots.items()}
        return ReplayState(
            self.pool.state(), list(self.formed.values()), list(self.buffered.values()), self.leaving, slots,
            self.blind, self.withheld, self.places, self.done, None if self.split is None else self.split.state(),
            self.since,
        )  # fmt: skip

    @classmethod
    def restored(cls, state: ReplayState, cycles: CycleSource, memory: EpochMemory, place: Place) -> "EpochReplay":
        """A replay that goes on from a state. place: of records in slots, from the epoch's seed."""
        return cls(
            Pool.restored(state.pool, memory), cycles, {group.number: group for group in state.formed},
            {payload.session: payload for payload in state.buffered}, state.leaving,
            {kind: SlotReplay.restored(slots, place) for kind, slots in state.slots.items()}, state.blind,
            state.withheld, state.places, state.done, since=state.since,
        )  # fmt: skip

    def withhold(self, session: bytes, time: float) -> None:
        """MS's last check found a restriction broken: the formed group goes, whole and nothing else.

        Raises:
            GroupMismatchError: the record is in no group that was formed and not released, or the time is another.
        """
        found = None
        if session not in self.withheld:
            found = next((g for g in self.formed.values() if any(m.record == session for m in g.members)), None)
            if found is None:
                raise GroupMismatchError("a record was withheld that is in no formed group")
            self.leave(found.number)
            self.withheld.update(member.record for member in found.members)
        self.withheld.remove(session)
        del self.buffered[session]
        if found is not None and not self._breaks(found):
            raise GroupMismatchError("a group was given up although it breaks no restriction")
        self.verify_time(time)

    def _breaks(self, group: Group) -> bool:
        try:
            release_pairs(group, self.cycles, self.pool.settings)
        except RestrictionError:
            return True
        return False

    def verify_time(self, time: float) -> None:
        """An event of what waits was at the pool's time, Unix seconds, exactly; raises GroupMismatchError."""
        if time != self.pool.clock:
            raise GroupMismatchError("what waited moved, or was given up, at another time than the replay's")

    def turned_away(self, payload: BufferedPayload, reason: str) -> None:
        """A record that never waited, as it says: the replay must turn it away too, for the same reason.

        Raises:
            GroupMismatchError: it must not.
        """
        if payload.kind in self.blind:
            return
        slots, found = self.slots.get(payload.kind), ""
        if slots is not None:
            found = slots.pool.submit(slot_record(payload)) or ""
        elif self.split is None:
            found = self.pool.submit(mix_record(payload)).outcome.value
        if found != reason:
            raise GroupMismatchError(f"a record was withheld as {reason}, and it was not")

    def keep(self, groups: tuple[Group, ...], now: float) -> None:
        """Remember groups until their release; `now` is the latest time that anybody had said (Unix seconds)."""
        for group in groups:
            self.formed[group.number] = group
            self.since[group.number] = max(self.pool.clock, now)

    def leave(self, number: int) -> tuple[Group, float | None]:
        """A group is released: it, and when it formed; raises GroupMismatchError if it did not."""
        group = self.formed.pop(number, None)
        if group is None:
            raise GroupMismatchError("no such group is formed by the replay")
        return group, self.since.pop(number, None)

    def waits_since(self) -> float | None:
        """When the first group formed that was not released yet, Unix seconds; None if there is none."""
        slots = [slots.closed for kind, slots in self.slots.items() if slots.formed and kind not in self.blind]
        return min((*(self.since.values() if "general" not in self.blind else ()), *slots), default=None)

    @property
    def waits(self) -> bool:
        """Whether something waits, of what can be replayed."""
        slots = [slots.buffered for kind, slots in self.slots.items() if kind not in self.blind]
        return any((self.buffered if "general" not in self.blind else (), *slots))

    def held_since(self, start: int) -> float | None:
        """Since when something is due that has not been done, or will be, Unix seconds; None if nothing is.

        Args:
            start: of the epoch.
        """
        slots = [slots.pool.first_end() for kind, slots in self.slots.items() if kind not in self.blind]
        general = None
        if self.split is not None:
            general = self.split.due_since(start)
        elif "general" not in self.blind:
            general = self.pool.due_since()
        return min((since for since in (self.waits_since(), general, *slots) if since is not None), default=None)
