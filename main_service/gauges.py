"""Keeps the Main Service's gauges: waiting people, records withheld and why, what is still to be done (DESIGN 16)."""

from main_service.store.counts import CountStore
from main_service.store.epochs import EpochStore
from main_service.store.slots import KINDS
from proxid.protocol.epochs import Epochs
from proxid.runtime.observability.gauges import repeat
from proxid.runtime.observability.metrics import (
    set_events_waiting,
    set_open_epochs,
    set_unclassified,
    set_waiting,
    set_withheld,
)


class Gauges:
    """Worker 0's job."""

    def __init__(self, counts: CountStore, store: EpochStore, epochs: Epochs) -> None:
        self._counts = counts
        self._store = store
        self._epochs = epochs

    async def run(self) -> None:
        """Look from time to time, until cancelled."""
        await repeat(self.step)

    async def step(self) -> None:
        """Read the store once; raises StoreError, also if it takes nothing."""
        await self._counts.verify_writable()
        set_unclassified(await self._counts.unclassified())
        set_events_waiting(await self._counts.events_waiting())
        epochs = await self._store.open_epochs()
        set_open_epochs(len(epochs), self._epochs.end(epochs[0]) if epochs else 0)
        set_waiting("general", sum([await self._counts.waiting_general(epoch) for epoch in epochs]))
        for kind in KINDS:
            set_waiting(kind, sum([await self._counts.waiting_slots(epoch, kind) for epoch in epochs]))
        for (kind, reason), count in (await self._counts.withheld()).items():
            set_withheld(kind, reason, count)
