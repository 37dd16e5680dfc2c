"""What is on the store's disk, and what is not there any more, whatever its `appendfsync`."""

import asyncio
from typing import Any, Final

import structlog
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from proxid.errors import StoreError
from proxid.runtime.store.connection import TIMEOUT, store_errors

_log = structlog.get_logger(__name__)
_AGAIN: Final = 0.002
_BACK: Final = "{proxid}:appendfsync:back"
"""How often `appendfsync` was taken back to what is configured."""
_REMEMBERED: Final = 86_400
"""Seconds after which that is forgotten: a store that is set to `always` for good need not be asked again."""


async def wait_on_disk(client: Redis, key: str, value: int) -> None:
    """Wait until all that the store holds now is on its disk, whatever its `appendfsync`.

    A store answers after its `fsync` while that is `always`, so it is for a moment. `WAITAOF` will not do: with
    `everysec` many servers, Valkey 8.1 among them, answer it before they sync.

    Args:
        key, value: written on the way: a file that nothing is written to is not synced.

    Raises:
        StoreError: it does not get there in time.
    """
    with store_errors():
        async with asyncio.timeout(TIMEOUT):
            while not await _synced(client, key, value):  # noqa: ASYNC110 - another process took it back meanwhile
                await asyncio.sleep(_AGAIN)


async def syncs_always(client: Redis, key: str, value: int) -> bool:
    """Whether a store syncs before each answer by its own setting, and not because somebody waits; raises StoreError.

    Args:
        key, value: written; on disk if it does.
    """
    with store_errors():
        async with client.pipeline(transaction=True) as step:
            step.exists(_BACK)
            step.config_get("appendfsync")
            step.set(key, value)
            waited, said, _ = await step.execute()
    return not waited and _mode(said) == "always"


def _mode(said: dict[str | bytes, str | bytes]) -> str:
    found = next(iter(said.values()))
    return found.decode() if isinstance(found, bytes) else str(found)


async def _synced(client: Redis, key: str, value: int) -> bool:
    """One attempt; False if the setting was taken back, by whoever it was, perhaps before the sync."""
    if await syncs_always(client, key, value):
        return True
    async with client.pipeline(transaction=True) as step:
        # Whoever finds `always` from here on finds this too, and knows that it is for a moment.
        step.set(_BACK, 0, nx=True)
        step.expire(_BACK, _REMEMBERED)
        step.get(_BACK)
        step.config_get("appendfsync")
        step.config_set("appendfsync", "always")
        step.set(key, value)
        *_, before, said, _, _ = await step.execute()
    mode = _mode(said)
    if mode == "always":
        return bool(await client.get(_BACK) == before)
    async with client.pipeline(transaction=True) as step:
        step.incr(_BACK)
        step.config_set("appendfsync", mode)
        after, _ = await step.execute()
    return bool(after == int(before) + 1)


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
