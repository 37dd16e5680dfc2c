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
    ("main_service.store", "formed.lua"),
    ("main_service.store", "requests.lua"),
    ("main_service.store", "places.lua"),
    ("main_service.store", "slots.lua"),
    ("main_service.store", "split.lua"),
    ("main_service.store", "service.lua"),
    ("main_service.store", "subjects.lua"),
)

DURABLE: Final = frozenset({
    "ms_close_epoch", "ms_consent", "ms_erase", "ms_erased", "ms_given_up", "ms_keep_opening", "ms_open_epoch",
    "ms_pool_withdraw", "ms_restrict", "ms_unrestrict",
})  # fmt: skip
"""Steps that are on disk before anybody is told of them: consents, objections, erasures, epochs."""
TOLD: Final = frozenset({"ms_receive", "ms_refuse"})
"""Steps that IS is told of: on disk before, so that a power cut contradicts nobody's word."""


def library(client: Redis) -> FunctionLibrary:
    """The functions on a store; call `load` before use."""
    return FunctionLibrary(client, "proxid_ms", SOURCES, DURABLE, TOLD)
