"""What MS is owed, as durable jobs (DESIGN 7, 11): consents, objections and lost keys that it was not told of at once.

They are in effect at IS since then. Worker 0 tells MS as soon as it is back, in the order in which a person said them,
as the device would by asking again; nothing rests on its doing so.
"""

import asyncio
from typing import Final

import structlog

from gateway.consents import Consents
from gateway.links import Links
from gateway.objections import HELD, Objections
from gateway.store.library import GatewayStore
from proxid.errors import ProxidError, UpstreamError

_log = structlog.get_logger(__name__)
_PAUSE: Final = 1.0
_LATER: Final = 5
"""Seconds after which one is told again that MS does not take just now."""
_AT_ONCE: Final = 64


class Owed:
    """Worker 0's job."""

    def __init__(self, store: GatewayStore, consents: Consents, objections: Objections, links: Links) -> None:
        self._store = store
        self._links = links
        self._consents = consents
        self._objections = objections

    async def run(self) -> None:
        """Tell what there is, until cancelled."""
        while True:
            try:
                await self.step()
            except ProxidError as error:
                _log.info("the main service is owed something", code=error.code.value)
            await asyncio.sleep(_PAUSE)

    async def step(self) -> None:
        """Tell what is due; raises UpstreamError while MS is away, StoreError."""
        for name in await self._store.due(_AT_ONCE):
            if not await self._store.claim(name, HELD):
                continue
            try:
                await self._tell(name)
            except UpstreamError:
                await self._store.put_off(name, 0)
                raise
            except ProxidError as error:
                _log.info("the main service is owed something", code=error.code.value)
                await self._store.put_off(name, _LATER)

    async def _tell(self, name: str) -> None:
        kind, user_tag, *epoch = name.split("|")
        if kind == "object":
            await self._objections.tell(user_tag)
        elif kind == "lost":
            await self._links.tell(user_tag, int(epoch[0]))
        else:
            await self._consents.tell(user_tag, int(epoch[0]))
