"""The slots of one epoch in memory: for batch use, and for the auditor's replay (DESIGN 8.8, 10.4 check 5)."""

from collections.abc import Collection
from heapq import heappop, heappush

from proxid.anonymise.slotted.closing import close, enter
from proxid.anonymise.slotted.types import (
    Closing,
    Place,
    SlotPoolState,
    SlotReason,
    SlotRecord,
    SlotSettings,
    Waiting,
)


class SlotPool:
    """Records that wait for their slots to close.

    Args:
        settings: of the slots. epoch_end: Unix seconds at which every slot closes. place: see `types.Place`.
    """

    def __init__(self, settings: SlotSettings, epoch_end: float, place: Place) -> None:
        self._settings = settings
        self._epoch_end = epoch_end
        self._place = place
        self._waiting: dict[bytes, Waiting] = {}
        self._ends: list[tuple[float, bytes]] = []
        """A heap: when slots end in which something waits, or did."""
        self._of: dict[str, set[bytes]] = {}
        """What waits, by person."""
        self._taken: set[tuple[str, str, float]] = set()
        self._arrivals = 0

    def submit(self, record: SlotRecord) -> SlotReason | None:
        """Let a record wait; or the reason why it must not: without rounds, one a person, audience and finest slot."""
        waiting = enter(record, self._arrivals + 1, self._settings, self._epoch_end)
        place = (record.person, record.audience, waiting.start)
        if not self._settings.rounds:
            if place in self._taken:
                return SlotReason.SLOT_QUOTA
            self._taken.add(place)
        self._arrivals += 1
        self._wait(waiting)
        return None

    def _wait(self, waiting: Waiting) -> None:
        record = waiting.record
        self._waiting[record.id] = waiting
        self._of.setdefault(record.person, set()).add(record.id)
        heappush(self._ends, (waiting.end, record.id))

    def _gone(self, record: SlotRecord) -> None:
        del self._waiting[record.id]
        own = self._of[record.person]
        own.remove(record.id)
        if not own:
            del self._of[record.person]

    def first_end(self) -> float | None:
        """When the first slot ends in which something waits, Unix seconds; None if nothing waits."""
        while self._ends:
            end, identity = self._ends[0]
            waiting = self._waiting.get(identity)
            if waiting is not None and waiting.end == end:
                return end
            heappop(self._ends)
        return None

    def close(self, now: float) -> Closing:
        """Close every slot that ended at or before `now`."""
        due = []
        while (end := self.first_end()) is not None and end <= now:
            due.append(self._waiting[heappop(self._ends)[1]])
        due.sort(key=lambda waiting: waiting.arrival)
        done = close(due, now, self._settings, self._epoch_end, self._place)
        for group in done.groups:
            for record in group.members:
                self._gone(record)
        for gone in done.given_up:
            self._gone(gone.record)
        for lifted in done.lifted:
            self._wait(lifted.waiting)
        return done

    def withdraw(self, person: str, audiences: Collection[str] | None = None) -> tuple[bytes, ...]:
        """Remove a person's waiting records from audiences, or all; their ids in order of arrival."""
        own = (self._waiting[identity] for identity in self._of.get(person, ()))
        gone = [w for w in own if audiences is None or w.record.audience in audiences]
        for waiting in gone:
            self._gone(waiting.record)
        return tuple(w.record.id for w in sorted(gone, key=lambda w: w.arrival))

    def held(self, person: str, but: Collection[str] = ()) -> list[bytes]:
        """Ids of a person's waiting records in all audiences but these."""
        return [i for i in self._of.get(person, ()) if self._waiting[i].record.audience not in but]

    def remove(self, identity: bytes) -> bool:
        """Remove one waiting record; False if it does not wait."""
        waiting = self._waiting.get(identity)
        if waiting is not None:
            self._gone(waiting.record)
        return waiting is not None

    def state(self) -> SlotPoolState:
        """For storing."""
        return SlotPoolState(
            self._settings, self._epoch_end, list(self._waiting.values()), self._taken, self._arrivals
        )  # fmt: skip

    @classmethod
    def restored(cls, state: SlotPoolState, place: Place) -> "SlotPool":
        """A pool that goes on from a state."""
        pool = cls(state.settings, state.epoch_end, place)
        for waiting in state.waiting:
            pool._wait(waiting)
        pool._taken, pool._arrivals = state.taken, state.arrivals
        return pool

    @property
    def waiting(self) -> tuple[Waiting, ...]:
        """What waits, in order of arrival."""
        return tuple(sorted(self._waiting.values(), key=lambda w: w.arrival))
