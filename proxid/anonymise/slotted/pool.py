"""The slots of one epoch in memory: for batch use, and for the auditor's replay (DESIGN 8.8, 10.4 check 5)."""

from collections.abc import Collection

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
        self._waiting[record.id] = waiting
        return None

    def close(self, now: float) -> Closing:
        """Close every slot that ended at or before `now`."""
        due = [w for w in self._waiting.values() if w.end <= now]
        done = close(due, now, self._settings, self._epoch_end, self._place)
        for group in done.groups:
            for record in group.members:
                del self._waiting[record.id]
        for gone in done.given_up:
            del self._waiting[gone.record.id]
        for lifted in done.lifted:
            self._waiting[lifted.waiting.record.id] = lifted.waiting
        return done

    def withdraw(self, person: str, audiences: Collection[str] | None = None) -> tuple[bytes, ...]:
        """Remove a person's waiting records from audiences, or all; their ids in order of arrival."""
        gone = [
            w for w in self._waiting.values()
            if w.record.person == person and (audiences is None or w.record.audience in audiences)
        ]  # fmt: skip
        for waiting in gone:
            del self._waiting[waiting.record.id]
        return tuple(w.record.id for w in sorted(gone, key=lambda w: w.arrival))

    def waits(self, identity: bytes) -> bool:
        """Whether a record waits."""
        return identity in self._waiting

    def remove(self, identity: bytes) -> bool:
        """Remove one waiting record; False if it does not wait."""
        return self._waiting.pop(identity, None) is not None

    def state(self) -> SlotPoolState:
        """For storing."""
        return SlotPoolState(
            self._settings, self._epoch_end, list(self._waiting.values()), self._taken, self._arrivals
        )  # fmt: skip

    @classmethod
    def restored(cls, state: SlotPoolState, place: Place) -> "SlotPool":
        """A pool that goes on from a state."""
        pool = cls(state.settings, state.epoch_end, place)
        pool._waiting = {waiting.record.id: waiting for waiting in state.waiting}
        pool._taken, pool._arrivals = state.taken, state.arrivals
        return pool

    @property
    def waiting(self) -> tuple[Waiting, ...]:
        """What waits, in order of arrival."""
        return tuple(sorted(self._waiting.values(), key=lambda w: w.arrival))
