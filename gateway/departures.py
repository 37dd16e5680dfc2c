"""Parties that left (DESIGN 7): what waits for a party that the current epoch's policy does not list is dropped."""

import asyncio
from typing import Final

import structlog

from gateway.epochs import OpenEpochs
from gateway.store.library import GatewayStore
from proxid.errors import PolicyError, StoreError

_log = structlog.get_logger(__name__)
_PAUSE: Final = 1.0


class Departures:
    """Worker 0's job."""

    def __init__(self, store: GatewayStore, epochs: OpenEpochs) -> None:
        self._store = store
        self._epochs = epochs

    async def run(self) -> None:
        """Look from time to time, until cancelled."""
        while True:
            try:
                await self.step()
            except (StoreError, PolicyError) as error:
                _log.info("departures wait", code=error.code.value)
            await asyncio.sleep(_PAUSE)

    async def step(self) -> int:
        """Drop what such parties have not acknowledged; how many groups."""
        latest = await self._epochs.latest()
        if latest is None:
            return 0
        left = self._epochs.policies.ever_listed() - set(latest.parties)
        return sum([await self._store.drop_left(party) for party in sorted(left)])
