"""What a service says of its log while it answers: its newest head, and promises of what stands where (DESIGN 10.4).

A service whose oldest entry that is not logged is older than half the merge delay takes nothing new, so that no head
that it shows lacks what it promised a merge delay before.
"""

import asyncio
import math
from typing import Any, Final

from redis.asyncio import Redis

from proxid.crypto.ed25519 import SigningKey
from proxid.errors import LogDamagedError, LogFullError
from proxid.evidence.events import EventType
from proxid.evidence.promise import MERGE_SECONDS, Promise
from proxid.runtime.clock import ClockWatch
from proxid.runtime.evidence_log.reading import LogReader
from proxid.runtime.store.connection import store_errors

_FRESH: Final = 1.0
"""Seconds for which a head counts as the newest."""


class Promises:
    """One worker's view of its service's log.

    Args:
        client, prefix: the store that events come from. reader: of the log that is written to. key: the service's.
        first: origin of its first log. watch: of the clock that dates promises.
    """

    def __init__(
        self, client: Redis, prefix: str, reader: LogReader, key: SigningKey, first: str, watch: ClockWatch
    ) -> None:
        self._client, self._stream = client, f"{prefix}:events"
        self._reader, self._key, self._first, self._watch = reader, key, first, watch
        self._head = b""
        self._read = 0.0
        self._looking: asyncio.Task[None] | None = None

    async def head(self) -> bytes:
        """The newest signed head, a note, at most a second old.

        Raises:
            LogFullError: the log is behind by half the merge delay. StoreError.
            LogDamagedError: none can be read, nor could within half the merge delay.
        """
        age = self._age()
        while age > _FRESH / 2:
            # Once for all who ask meanwhile, whichever of them go; in time, since a busy service takes a while for it.
            # One that has ended and is not noted yet is waited for no more: the loop would not turn, and note nothing.
            if self._looking is None or self._looking.done():
                self._looking = asyncio.create_task(self._look())
                self._looking.add_done_callback(self._looked)
            if age > _FRESH:
                await asyncio.shield(self._looking)
            if (age := self._age()) <= MERGE_SECONDS / 2:  # or this machine slept meanwhile
                break
        return self._head

    def _age(self) -> float:
        return self._watch.monotonic - self._read if self._head else math.inf

    async def _look(self) -> None:
        now = self._watch.monotonic
        if await self._behind() > MERGE_SECONDS / 2:
            raise LogFullError("evidence is not written in time; nothing is taken until it is")
        try:
            self._head, self._read = self._reader.checkpoint(), now
        except LogDamagedError:
            # What is logged next is followed by a new head in its place. Until then the one before will do, while it
            # covers what was promised a merge delay ago: that was logged within the first half of it.
            if not self._head or now - self._read > MERGE_SECONDS / 2:
                raise

    def _looked(self, task: "asyncio.Task[None]") -> None:
        if self._looking is task:
            self._looking = None
        if not task.cancelled():
            task.exception()  # whoever asked may have gone

    async def _behind(self) -> float:
        """Age of the oldest event that is not in the log, in seconds, by the store's clock; 0 if there is none."""
        with store_errors():
            async with self._client.pipeline(transaction=True) as step:
                step.xrange(self._stream, count=1)
                step.time()
                waiting, (now, _) = await step.execute()
        found: Any = waiting[0][1].get(b"u") if waiting else None
        return float(now) - int(found.partition(b".")[0]) if found else 0.0

    async def of(self, place: str, kind: EventType, asked: bytes) -> bytes:
        """The promise, encoded, that an event stands at a place.

        Args:
            place: as a step of the store tells it (`place_of` in `lua/events.lua`); of one that a service of before
                recorded nothing is known, and nothing promised: empty.

        Raises:
            ClockError: heads would be from before or after by a clock that was set. LogFullError, LogDamagedError,
                StoreError.
        """
        log, told, number = place.partition(" ")
        if not told:
            return b""
        head = await self.head()
        self._watch.require()
        promise = Promise(log or self._first, int(number), kind.value, asked, int(self._watch.wall() * 1000), head)
        return promise.sign(self._key).encode()
