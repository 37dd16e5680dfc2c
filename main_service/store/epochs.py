"""The store's part of MS's epochs: whoever opens an epoch first decides its secrets."""

import os
from collections.abc import Callable, Sequence
from typing import Any, Final

from main_service.store.library import KEYS
from proxid.encoding import decode, encode
from proxid.evidence.events import SALT_SIZE, EpochOpened, decode_header, encode_header
from proxid.protocol.request import HELD
from proxid.runtime.store import FunctionLibrary
from proxid.runtime.store.functions import named

_KEPT: Final = 2 * 86_400
"""Seconds for which what an epoch's people showed is kept once it is closed: as long as anything is told of them."""
_AT_ONCE: Final = 1024

Secrets = tuple[bytes, bytes, bytes, tuple[bytes, ...]]
"""Seed of the cycles, seed of the opening key, signed epoch key, signed feed keys."""


class EpochStore:
    """Each method is one atomic step; raises StoreError when the store is away or full."""

    def __init__(self, functions: FunctionLibrary, random: Callable[[int], bytes] = os.urandom) -> None:
        self._functions = functions
        self._random = random

    async def load(self, epoch: int) -> Secrets | None:
        """The secrets of an epoch, if it is open."""
        return _secrets(await self._functions.call("ms_epoch", KEYS, epoch))

    async def open(self, epoch: int, secrets: Secrets, opened: EpochOpened) -> Secrets | None:
        """Open an epoch with these secrets unless it is open; the secrets it has. Records EPOCH_OPENED.

        None if it is at or before one that was closed: then it is over for good, whatever a clock says. The header
        says for how long something waits at most before nothing new is taken (`held`, seconds).
        """
        header = encode_header(**decode_header(opened.header), held=int(HELD))
        seed, opening, key, feeds = secrets
        fields = await self._functions.call(
            "ms_open_epoch", KEYS,
            *named(
                epoch=epoch, seed=seed, opening=opening, key=key, feeds=encode(*feeds), salt=self._random(SALT_SIZE),
                header=header, payload=opened.payload,
            ),
        )  # fmt: skip
        return _secrets(fields)

    async def open_epochs(self) -> list[int]:
        """Epochs whose secrets exist, in order."""
        return sorted(int(epoch) for epoch in await self._functions.call("ms_open_epochs", KEYS))

    async def keep_opening(self, epoch: int, opening: bytes) -> None:
        """Keep IS's signed word that an epoch has begun, in the place of one of another epoch."""
        await self._functions.call("ms_keep_opening", KEYS, epoch, opening)

    async def opening(self) -> tuple[int, bytes]:
        """The epoch that IS has last signed to have begun, and its word; -1 if there is none."""
        epoch, opening = await self._functions.call("ms_opening", KEYS)
        return (-1, b"") if epoch is None else (int(epoch), opening)

    async def let_go(self, epoch: int) -> bool:
        """Nothing waits in an epoch any more: its people's keys and choices end soon. False: there are more."""
        return not await self._functions.call("ms_let_go", KEYS, epoch, _KEPT, _AT_ONCE)

    async def close(self, epoch: int, time_ms: int, opening: bytes) -> None:
        """Destroy an epoch's secrets; records EPOCH_CLOSED, once.

        Args:
            time_ms: Unix milliseconds. opening: IS's word that a later one has begun; empty if this clock alone is
                believed.
        """
        header = encode_header(epoch=epoch, v=2, time=time_ms, opening=opening.hex(), believed=not opening)
        await self._functions.call("ms_close_epoch", KEYS, epoch, self._random(SALT_SIZE), header)


def _secrets(fields: Sequence[Any]) -> Secrets | None:
    seed, opening, key, feeds = fields
    return None if seed is None else (seed, opening, key, tuple(decode(feeds)) if feeds else ())
