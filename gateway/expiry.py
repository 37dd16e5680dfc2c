"""Correspondence tables and feeds expire (DESIGN 10.2, 11): links and evidence keys with their epoch; an event each.

Keys of aliases go too, a period after the end of theirs.

The store lets links go by their time to live, which the policy of their epoch sets; EXPIRED says so an hour before,
epoch by epoch, so that payloads that nobody can open any more are accounted for.
"""

import asyncio
from typing import Final

import structlog

from gateway.epochs import OpenEpochs
from gateway.identity import Screener
from gateway.store.library import GatewayStore
from proxid.errors import ProxidError, StoreError

_log = structlog.get_logger(__name__)
_PAUSE: Final = 600.0
_AHEAD: Final = 3600.0


class LinkExpiry:
    """Worker 0's job."""

    def __init__(self, screener: Screener, store: GatewayStore, epochs: OpenEpochs) -> None:
        self._screener = screener
        self._store = store
        self._epochs = epochs

    async def run(self) -> None:
        """Look from time to time, until cancelled."""
        while True:
            try:
                await self.step()
            except StoreError as error:
                _log.info("expiry waits for the store", code=error.code.value)
            await asyncio.sleep(_PAUSE)

    async def step(self) -> bool:
        """Record what expires; whether anything does. Nothing while the clock is not confirmed."""
        now = self._screener.clock()  # first: a clock that is set from here on is not gone by
        if not self._screener.watch.confirmed():
            return False
        links = 0
        if await self._store.links_expire(now + _AHEAD) and await self._is_open():
            links = await self._store.expire_links(now + _AHEAD)
        if await self._store.alias_keys_end(now) and await self._is_open():
            await self._store.forget_alias_keys(now)
        parties = sorted(self._screener.party_keys)
        groups = await self._store.expire_feeds(parties)
        await self._store.forget_keys(parties)
        late = await self._store.drop_late(parties, now)
        return links + groups + late > 0

    async def _is_open(self) -> bool:
        """Whether the log shows what time it is: where nobody asks anything, no epoch begins by itself."""
        try:
            await self._epochs.current()
        except StoreError:
            raise
        except ProxidError as error:
            _log.info("expiry waits for an epoch", code=error.code.value)
            return False
        return True
