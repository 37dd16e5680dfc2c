"""What is on the store's disk, and what is not there any more, whatever its `appendfsync`."""

import asyncio
from typing import Any

import structlog
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from proxid.errors import StoreError
from proxid.runtime.store.connection import TIMEOUT, store_errors

_log = structlog.get_logger(__name__)


async def wait_on_disk(client: Redis, key: str, value: int) -> None:
    """Wait until all that the store holds now is on its disk, whatever its `appendfsync`.

    Args:
        key, value: written on the way, since only a connection's own writes can be waited for.

    Raises:
        StoreError: it does not get there in time.
    """
    with store_errors():
        async with client.pipeline(transaction=False) as step:
            step.set(key, value)
            step.execute_command("WAITAOF", 1, 0, int(TIMEOUT * 900))
            _, (local, _) = await step.execute()
    if not local:
        raise StoreError("the store does not write to its disk in time")


async def start_rewrite(client: Redis) -> None:
    """Ask the store to rewrite its AOF without what was trimmed; one that is under way already will do."""
    with store_errors():
        try:
            await client.bgrewriteaof()
        except ResponseError:
            _log.info("AOF rewrite was not started")


async def rewrite_aof(client: Redis, poll: float = 0.05) -> None:
    """Rewrite the AOF and wait for it: afterwards nothing that was deleted before is on the store's disk.

    Raises:
        StoreError: the rewrite failed.
    """
    # A rewrite that is under way may have begun before the deletion: a second one is asked for after it.
    await _rewrite_ended(client, poll)
    await start_rewrite(client)
    await _rewrite_ended(client, poll)


async def _rewrite_ended(client: Redis, poll: float) -> None:
    while True:
        with store_errors():
            info: Any = await client.info("persistence")
        if not info["aof_enabled"]:
            return
        if not info["aof_rewrite_in_progress"] and not info["aof_rewrite_scheduled"]:
            if info["aof_last_bgrewrite_status"] != "ok":
                raise StoreError("AOF rewrite failed")
            return
        await asyncio.sleep(poll)
