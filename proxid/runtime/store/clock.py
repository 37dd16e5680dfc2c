"""The other side's time, shared by a service's processes through its store, and what each makes of it (DESIGN 4.3)."""

import asyncio
from contextlib import suppress
from typing import Any, Final

import structlog
from redis.asyncio import Redis

from proxid.errors import StoreError
from proxid.runtime.clock import ALONE_SECONDS, ClockWatch, Doubt
from proxid.runtime.observability.metrics import set_clock_doubted
from proxid.runtime.store.connection import store_errors

_log = structlog.get_logger(__name__)
PAUSE: Final = 1.0


class HeardTime:
    """What one process has heard, for all of them.

    Args:
        client, prefix: the service's store. watch: this process's.
    """

    def __init__(self, client: Redis, prefix: str, watch: ClockWatch) -> None:
        self._client = client
        self._key = f"{prefix}:heard"
        self._watch = watch

    async def put(self, offset: float) -> None:
        """The other side's offset, learned now (`ClockWatch.offset_of`); raises StoreError."""
        at = self._watch.monotonic
        self._watch.heard(offset, at)
        with store_errors():
            await self._client.set(self._key, f"{offset!r} {at!r}", ex=int(ALONE_SECONDS))

    async def get(self) -> None:
        """Take over what another process heard; raises StoreError."""
        with store_errors():
            data: Any = await self._client.get(self._key)
        if data is not None:
            offset, at = (float(part) for part in data.split())
            self._watch.heard(offset, at)

    async def forget(self) -> None:
        """What was heard before the start counts no more; raises StoreError."""
        with store_errors():
            await self._client.delete(self._key)


class ClockKeeper:
    """A job of each process: looks at the clock, so that no jump is missed, and says what it makes of it.

    Args:
        first: whether this is the service's first process: what was heard before its start counts no more.
    """

    def __init__(self, watch: ClockWatch, heard: HeardTime, first: bool) -> None:
        self._watch = watch
        self._heard = heard
        self._first = first
        self._doubted: Doubt | None = None

    async def run(self) -> None:
        """Look each second, until cancelled."""
        while True:
            await self.step()
            await asyncio.sleep(PAUSE)

    async def step(self) -> None:
        """Look once."""
        with suppress(StoreError):  # whoever serves requests reports that it is away
            if self._first:
                await self._heard.forget()
                self._first = False
            await self._heard.get()
        doubt = self._watch.doubt()
        set_clock_doubted(doubt is not None)
        if doubt is not None and doubt is not self._doubted:
            _log.error("clock doubted", reason=doubt.value)
        elif doubt is None and self._doubted is not None:
            _log.warning("clock relied on again")
        self._doubted = doubt
