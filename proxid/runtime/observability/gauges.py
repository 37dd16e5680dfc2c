"""Gauges that are read from a store now and then."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from proxid.errors import StoreError
from proxid.runtime.observability.metrics import set_store_away

PAUSE: Final = 5.0
"""Seconds between two readings."""


async def repeat(step: Callable[[], Awaitable[None]]) -> None:
    """Read again and again until cancelled.

    While the store is away the last values stay.
    """
    while True:
        try:
            await step()
            set_store_away(False)
        except StoreError:
            set_store_away(True)
        await asyncio.sleep(PAUSE)
