"""Correspondence tables and feeds expire (DESIGN 10.2, 11): links and evidence keys with their epoch; an event each.

The store lets links go by their time to live; EXPIRED says so an hour before, up to which epoch, so that payloads that
nobody can open any more are accounted for.
"""

import asyncio
import os
from typing import Final

import structlog

from gateway.screener import Screener
from gateway.store import PREFIX, GatewayStore
from proxid.errors import StoreError
from proxid.evidence.events import SALT_SIZE, encode_header
from proxid.store.evidence.retention import append_expired

_log = structlog.get_logger(__name__)
_PAUSE: Final = 600.0
_AHEAD: Final = 3600.0


class LinkExpiry:
    """Worker 0's job."""

    def __init__(self, screener: Screener, store: GatewayStore) -> None:
        self._screener = screener
        self._store = store

    async def run(self) -> None:
        """Look from time to time, until cancelled."""
        while True:
            try:
                await self.step()
            except StoreError as error:
                _log.info("expiry waits for the store", code=error.code.value)
            await asyncio.sleep(_PAUSE)

    async def step(self) -> bool:
        """Record what expires; whether anything does."""
        said = await self._links()
        count = await self._store.expire_feeds(sorted(self._screener.party_keys), self._screener.clock())
        return said or count > 0

    async def _links(self) -> bool:
        screener = self._screener
        moment = screener.clock() + _AHEAD - screener.limits.link_retention
        epoch = screener.epochs.number(moment) - 1
        if not await self._store.links_expire(epoch):
            return False
        header = encode_header(kind="links", until=epoch)
        await append_expired(self._store.client, PREFIX, os.urandom(SALT_SIZE), header)
        return True
