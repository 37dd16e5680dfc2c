"""Keeps the gateway's gauges: what each party has not acknowledged yet, events not yet logged (DESIGN 9, 16)."""

import time
from collections.abc import Sequence
from typing import Final

from gateway.store.library import GatewayStore
from gateway.store.steps import PREFIX
from proxid.runtime.evidence_log.stream import events_waiting
from proxid.runtime.observability.gauges import repeat
from proxid.runtime.observability.metrics import set_backlog, set_events_waiting
from proxid.runtime.store.connection import verify_writable

_CHUNK: Final = 500


class Gauges:
    """Worker 0's job.

    Args:
        parties: names as configured: the only ones that become a label.
    """

    def __init__(self, store: GatewayStore, parties: Sequence[str]) -> None:
        self._store = store
        self._parties = sorted(parties)

    async def run(self) -> None:
        """Look from time to time, until cancelled."""
        await repeat(self.step)

    async def step(self) -> None:
        """Read the store once; raises StoreError, also if it takes nothing."""
        await verify_writable(self._store.client, PREFIX)
        set_events_waiting(await events_waiting(self._store.client, PREFIX))
        for first in range(0, len(self._parties), _CHUNK):
            part = self._parties[first : first + _CHUNK]
            for party, found in zip(part, await self._store.backlogs(part, time.time()), strict=True):
                set_backlog(party, *found)
