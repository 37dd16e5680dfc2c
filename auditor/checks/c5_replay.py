"""What the replay of one epoch holds (check 5 of DESIGN 10.4)."""

from dataclasses import dataclass, field
from typing import NamedTuple

from auditor.checks.c5_slots import SlotReplay, SlotState
from auditor.checks.c5_spill import EpochMemory
from auditor.checks.c5_split import SplitReplay, SplitReplayState
from proxid.anonymise.mix.cycle import CycleSource
from proxid.anonymise.mix.pool import Pool
from proxid.anonymise.mix.types import Group, PoolState
from proxid.anonymise.slotted.types import Place
from proxid.errors import GroupMismatchError
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

    def state(self) -> ReplayState:
        """For storing."""
        slots = {kind: replay.state() for kind, replay in self.slots.items()}
        return ReplayState(
            self.pool.state(), list(self.formed.values()), list(self.buffered.values()), self.leaving, slots,
            self.blind, self.withheld, self.places, self.done, None if self.split is None else self.split.state(),
        )  # fmt: skip

    @classmethod
    def restored(cls, state: ReplayState, cycles: CycleSource, memory: EpochMemory, place: Place) -> "EpochReplay":
        """A replay that goes on from a state. place: of records in slots, from the epoch's seed."""
        return cls(
            Pool.restored(state.pool, memory), cycles, {group.number: group for group in state.formed},
            {payload.session: payload for payload in state.buffered}, state.leaving,
            {kind: SlotReplay.restored(slots, place) for kind, slots in state.slots.items()}, state.blind,
            state.withheld, state.places, state.done,
        )  # fmt: skip

    def withhold(self, session: bytes) -> None:
        """MS's last check found a restriction broken: the formed group goes, whole and nothing else.

        Raises:
            GroupMismatchError: the record is in no group that was formed and not released.
        """
        if session not in self.withheld:
            found = next((g for g in self.formed.values() if any(m.record == session for m in g.members)), None)
            if found is None:
                raise GroupMismatchError("a record was withheld that is in no formed group")
            del self.formed[found.number]
            self.withheld.update(member.record for member in found.members)
        self.withheld.remove(session)
        del self.buffered[session]

    def keep(self, groups: tuple[Group, ...]) -> None:
        """Remember groups until their release."""
        for group in groups:
            self.formed[group.number] = group
