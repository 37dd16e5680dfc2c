"""The stream of events in a store that wait to be logged, and which log it counts for (DESIGN 10.1, 10.2).

    P:events      entries NUMBER-0       P:events:n    number of the last event
    P:events:full set while the log cannot be written: nothing new is taken
    P:events:log  hash, absent for a first log: origin of the log, base: the number before its first event

Numbers are never given out twice: those of a successor log go on behind the base, and its leaves count from 1.
"""

import asyncio
from dataclasses import dataclass
from typing import Any, Final

from redis.asyncio import Redis

from proxid.errors import StoreError
from proxid.runtime.store.connection import store_errors

_FULL_SECONDS: Final = 30
_SUCCEED: Final = """
local stream, log = KEYS[1] .. ':events', KEYS[1] .. ':events:log'
if redis.call('HGET', log, 'origin') == ARGV[1] then return 0 end
local waiting = redis.call('XRANGE', stream, '(' .. ARGV[2] .. '-0', '+')
redis.call('XTRIM', stream, 'MAXLEN', 0)
local base = math.max(tonumber(redis.call('GET', stream .. ':n') or '0'), tonumber(ARGV[2]))
redis.call('HSET', log, 'origin', ARGV[1], 'base', base)
redis.call('SET', stream .. ':n', base)
local function append(fields)
  redis.call('XADD', stream, redis.call('INCR', stream .. ':n') .. '-0', unpack(fields))
end
append({'t', 'SUCCEEDED', 's', ARGV[3], 'h', ARGV[4], 'p', ''})
for _, entry in ipairs(waiting) do append(entry[2]) end
return 1
"""


@dataclass(frozen=True, slots=True)
class Counted:
    """What a store knows of its log.

    Attributes:
        origin: of the log it counts for; empty for a first one. base: the number before the log's first event.
        last: number of the last event. logged: of the last one that is surely in the log.
    """

    origin: str
    base: int
    last: int
    logged: int

    @property
    def size(self) -> int:
        """Leaves that the log will have when nothing waits."""
        return self.last - self.base

    @property
    def least(self) -> int:
        """Leaves that the log must have."""
        return self.logged - self.base


async def counted(client: Redis, prefix: str) -> Counted:
    """What a store knows of its log; raises StoreError."""
    with store_errors():
        async with client.pipeline(transaction=True) as step:
            step.get(f"{prefix}:events:n")
            step.hmget(f"{prefix}:events:log", ["origin", "base"])
            step.xrange(f"{prefix}:events", count=1)
            found: Any = await step.execute()
    last, (origin, base), waiting = int(found[0] or 0), found[1], found[2]
    logged = int(waiting[0][0].partition(b"-")[0]) - 1 if waiting else last
    return Counted((origin or b"").decode(), int(base or 0), last, logged)


async def succeed(client: Redis, prefix: str, origin: str, until: int, salt: bytes, header: bytes) -> None:
    """From now on the store counts for a successor log, whose first event is SUCCEEDED; once.

    Args:
        until: number of the last event that the old log holds; what waits behind it goes into the new one.

    Raises:
        StoreError: the store is away.
    """
    with store_errors():
        await client.eval(_SUCCEED, 1, prefix, origin, until, salt, header)


async def say_full(client: Redis, prefix: str, full: bool) -> None:
    """Have the store's steps take nothing new while the log cannot be written; raises StoreError."""
    with store_errors():
        if full:
            await client.set(f"{prefix}:events:full", 1, ex=_FULL_SECONDS)
        else:
            await client.delete(f"{prefix}:events:full")


async def events_waiting(client: Redis, prefix: str) -> int:
    """Events that wait to be encrypted into the log; raises StoreError."""
    with store_errors():
        return int(await client.xlen(f"{prefix}:events"))


async def wait_logged(client: Redis, prefix: str, seconds: float = 30.0, poll: float = 0.05) -> None:
    """Wait until every event recorded before the call is encrypted in the log; raises StoreError if it takes longer."""
    with store_errors():
        last = int(await client.get(f"{prefix}:events:n") or 0)
    try:
        async with asyncio.timeout(seconds):
            while True:
                with store_errors():
                    waiting: Any = await client.xrange(f"{prefix}:events", max=f"{last}-0", count=1)
                if not waiting:
                    return
                await asyncio.sleep(poll)
    except TimeoutError:
        raise StoreError("events are not logged in time") from None
