"""How long what was answered has waited to be filed (DESIGN 10.4): nothing new is taken while that is too long.

So no request is received long after one that waits still, whatever crashes lie in between, and an audit can hold it
against a service that holds somebody back. Of one that came by a clock which was set back since, time counts from when
this process first saw it.
"""

import asyncio
import math
from typing import Final

from main_service.store.requests import RequestStore
from proxid.errors import OverloadedError
from proxid.protocol.request import HELD
from proxid.runtime.clock import ClockWatch

_FRESH: Final = 1.0
"""Seconds for which what is known is good enough, unless it is time to refuse."""


class Backlog:
    """One worker's view of what waits; the store is asked once a second, and before anybody is refused.

    Args:
        watch: of the clock by which requests are received.
    """

    def __init__(self, store: RequestStore, watch: ClockWatch) -> None:
        self._store, self._watch = store, watch
        self._since = -math.inf
        """Nothing that waits was received before this time (Unix seconds)."""
        self._looked = -math.inf
        self._oldest, self._seen = b"", -math.inf
        """The session that has waited longest, and when it was first seen to (monotonic)."""
        self._looking: asyncio.Task[None] | None = None

    async def require(self) -> None:
        """That nothing waits too long; raises OverloadedError, StoreError."""
        if self._watch.monotonic - self._looked > _FRESH or self._is_long():
            if self._looking is None:  # once for all who ask meanwhile, whichever of them go
                self._looking = asyncio.create_task(self._look())
                self._looking.add_done_callback(self._done)
            await asyncio.shield(self._looking)
            if self._is_long():
                raise OverloadedError("what was answered before is not filed yet")

    def _is_long(self) -> bool:
        return self._watch.wall() - self._since > HELD

    async def _look(self) -> None:
        now, at = self._watch.wall(), self._watch.monotonic
        oldest = await self._store.pending(1)
        session = oldest[0].session if oldest else b""
        if session != self._oldest:
            self._oldest, self._seen = session, at
        waits = [now - (at - self._seen), oldest[0].time_ms / 1000] if oldest else []
        self._since, self._looked = min([now, *waits]), at

    def _done(self, task: "asyncio.Task[None]") -> None:
        self._looking = None
        if not task.cancelled():
            task.exception()  # whoever asked may have gone
