"""Read a whole store once, in batches and without stopping it: for what a start finds of a version before."""

from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

from redis.asyncio import Redis

from proxid.runtime.store.connection import store_errors

_COUNT: Final = 1000


async def key_batches(client: Any, prefix: str) -> AsyncIterator[list[bytes]]:
    """Every key below a prefix, without it, some at a time; raises StoreError."""
    cursor, skip = 0, len(prefix) + 1
    while True:
        with store_errors():
            cursor, keys = await client.scan(cursor, match=f"{prefix}:*", count=_COUNT)
        yield [key[skip:] for key in keys]
        if cursor == 0:
            return


async def read_all(client: Redis, commands: Sequence[tuple[Any, ...]]) -> list[Any]:
    """The answers to commands in one round trip; raises StoreError."""
    if not commands:
        return []
    pipe = client.pipeline(transaction=False)
    for command in commands:
        pipe.execute_command(*command)
    with store_errors():
        return list(await pipe.execute())
