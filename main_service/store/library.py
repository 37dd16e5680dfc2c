"""The Main Service's function library: all its Lua parts on one store, under one hash tag."""

from typing import Final

from redis.asyncio import Redis

from proxid.runtime.store import FunctionLibrary

PREFIX: Final = "{ms}"
KEYS: Final = (PREFIX,)

SOURCES: Final = (
    ("proxid.runtime.store", "events.lua"),
    ("main_service.store", "counts.lua"),
    ("main_service.store", "outbox.lua"),
    ("main_service.store", "pool.lua"),
    ("main_service.store", "requests.lua"),
    ("main_service.store", "places.lua"),
    ("main_service.store", "slots.lua"),
    ("main_service.store", "service.lua"),
    ("main_service.store", "subjects.lua"),
)


def library(client: Redis) -> FunctionLibrary:
    """The functions on a store; call `load` before use."""
    return FunctionLibrary(client, "proxid_ms", SOURCES)
