"""What does not stay for ever (DESIGN 10.2): payloads and correspondence tables; expiry is an event.

Payloads expire by whole segments: the log begins a new one each day, and deletes the payloads of one that is older
than allowed, after EXPIRED has said so; those of the logs that it follows too (`followed`). Headers stay. Evidence keys
end with the links of their epoch: the gateway says up to which epoch, before the store lets them go.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Final

import structlog
from redis.asyncio import Redis

from proxid.errors import StoreError
from proxid.evidence.events import SALT_SIZE, EventType, encode_header
from proxid.protocol.request import Random
from proxid.runtime.evidence_log.followed import followed_older_than
from proxid.runtime.evidence_log.log import LeafLog
from proxid.runtime.store.connection import store_errors

_log = structlog.get_logger(__name__)

DAY: Final = 86_400.0
_APPEND: Final = """
local number = redis.call('INCR', KEYS[1] .. ':events:n')
redis.call('XADD', KEYS[1] .. ':events', number .. '-0', 't', ARGV[3], 's', ARGV[1], 'h', ARGV[2], 'p', '')
return number
"""


class PayloadRetention:
    """Worker 0's job beside the writer.

    Args:
        client, prefix: the service's store. log: the writer's. seconds: how long payloads stay.
        reliable: whether the clock can be relied on; nothing expires while it cannot.
    """

    def __init__(
        self, client: Redis, prefix: str, log: LeafLog, seconds: float, random: Random,
        clock: Callable[[], float] = time.time, reliable: Callable[[], bool] = lambda: True,
    ) -> None:  # fmt: skip
        self._client = client
        self._prefix = prefix
        self._log = log
        self._seconds = seconds
        self._random = random
        self._clock = clock
        self._reliable = reliable
        self._said = 0

    async def run(self) -> None:
        """Look from time to time, until cancelled."""
        pause = min(3600.0, max(0.2, self._seconds / 20))
        while True:
            await asyncio.sleep(pause)
            try:
                await self.step()
            except StoreError as error:
                _log.info("expiry waits for the store", code=error.code.value)

    async def step(self) -> int:
        """Say that what is too old expires; up to which number, 0 if nothing does."""
        if not self._reliable():
            return 0
        now = self._clock()
        before = await asyncio.to_thread(followed_older_than, self._log.followed, now - self._seconds)
        if before is not None:
            await self._say(before)
        until = await asyncio.to_thread(self._log.older_than, now - self._seconds, now - min(DAY, self._seconds / 4))
        if until <= self._said:
            return 0
        await self._say(until)
        self._said = until
        return until

    async def _say(self, until: int) -> None:
        header = encode_header(kind="payloads", until=until)
        await append_expired(self._client, self._prefix, self._random(SALT_SIZE), header)


async def append_expired(
    client: Redis, prefix: str, salt: bytes, header: bytes, kind: EventType = EventType.EXPIRED
) -> None:
    """Record EXPIRED, or another event that is of nobody; raises StoreError."""
    with store_errors():
        await client.eval(_APPEND, 1, prefix, salt, header, kind.value)
