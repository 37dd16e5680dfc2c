"""Gauges that are read from a store now and then."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

from proxid.errors import StoreError

PAUSE: Final = 5.0
"""Seconds between two readings."""


async def repeat(step: Callable[[], Awaitable[None]]) -> None:
    """Read again and again until cancelled.

    While the store is away the last values stay; whoever serves requests reports that it is away.
    """
    while True:
        with suppress(StoreError):
            await step()
        await asyncio.sleep(PAUSE)
