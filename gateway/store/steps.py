"""What the parts of the Identity Screener's store share: one library of atomic steps (`lua/`)."""

import os
from collections.abc import Callable
from typing import Any, Final

from redis.asyncio import Redis

from proxid.evidence.events import SALT_SIZE
from proxid.runtime.store import FunctionLibrary
from proxid.runtime.store.pipeline import Argument

PREFIX: Final = "{gw}"
_KEYS: Final = (PREFIX,)
DURABLE: Final = frozenset({
    "gw_consent", "gw_consent_acknowledged", "gw_erase_begin", "gw_erase_done", "gw_erase_finish", "gw_object",
    "gw_objected", "gw_open_epoch", "gw_revoke",
})  # fmt: skip
"""Steps that are on disk before anybody is told of them: consents, objections, tombstones, revocations, epochs."""
TOLD: Final = frozenset({
    "gw_accessed", "gw_answered", "gw_append", "gw_append_contents", "gw_append_entries", "gw_delivered", "gw_forward",
    "gw_link", "gw_noticed",
})  # fmt: skip
"""Steps that MS, a party or a device is told of: on disk before, so that a power cut contradicts nobody's word."""
SOURCES: Final = (
    ("proxid.runtime.store", "events.lua"),
    ("gateway.store", "common.lua"),
    ("gateway.store", "split.lua"),
    ("gateway.store", "owed.lua"),
    ("gateway.store", "links.lua"),
    ("gateway.store", "requests.lua"),
    ("gateway.store", "consents.lua"),
    ("gateway.store", "feeds.lua"),
    ("gateway.store", "rights.lua"),
)


class Steps:
    """Atomic steps by their names; every method of its parts raises StoreError when the store is away or full.

    Args:
        coming: the first epoch whose contents may still come from the main service (form `split`).
    """

    def __init__(
        self, client: Redis, random: Callable[[int], bytes] = os.urandom, coming: Callable[[], int] = lambda: 0
    ) -> None:
        self._functions = FunctionLibrary(client, "proxid_gw", SOURCES, DURABLE, TOLD)
        self._random = random
        self.coming = coming
        self.client = client

    async def open(self) -> None:
        """Load the functions."""
        await self._functions.load()

    async def call(self, function: str, *arguments: Argument) -> Any:
        """One atomic step by its name: for the parts of this service that have steps of their own."""
        return await self._functions.call(function, _KEYS, *arguments)

    async def on_disk(self) -> None:
        """What was read is on disk, before somebody is told of it."""
        await self._functions.on_disk(_KEYS)

    def _salt(self) -> bytes:
        return self._random(SALT_SIZE)
