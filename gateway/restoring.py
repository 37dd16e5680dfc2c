"""Tombstones come back from the log when the store was lost (DESIGN 10.3): ERASED's header carries them.

Whoever was erased stays erased: nobody links that name again, whatever else the store has forgotten.
"""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Final

from redis.asyncio import Redis

from gateway.identity import Screener
from gateway.store.steps import PREFIX
from proxid.errors import EncodingError, LogDamagedError
from proxid.evidence.events import EventType
from proxid.evidence.leaf import Leaf, LeafHeader
from proxid.protocol.rights import Right, RightsReceipt
from proxid.runtime.evidence_log.reading import LogReader
from proxid.runtime.store.connection import store_errors
from proxid.runtime.store.durable import wait_on_disk

_DONE: Final = f"{PREFIX}:restored"


async def restore_tombstones(client: Redis, screener: Screener, older: Sequence[LogReader]) -> None:
    """Set the tombstones that older logs name and the store does not hold; once for each successor.

    Args:
        older: readers of the logs before the one that is written to; damaged leaves restore nothing.

    Raises:
        StoreError: the store is away.
    """
    with store_errors():
        done = int(await client.get(_DONE) or 0)
    if done >= len(older):
        return
    found = await asyncio.to_thread(lambda: dict(pair for log in older for pair in _tombstones(log)))
    with store_errors():
        for tag, request in found.items():
            receipt = RightsReceipt(request, Right.ERASE, int(screener.clock() * 1000)).sign(screener.key)
            await client.set(f"{PREFIX}:x:{tag}", receipt.encode(), nx=True)
    await wait_on_disk(client, _DONE, len(older))


def _tombstones(log: LogReader) -> Iterator[tuple[str, bytes]]:
    """User tag and digest of the request of each ERASED that can be read."""
    try:
        for leaf in log.leaves(1):
            yield from _tombstone(leaf)
    except LogDamagedError:
        return


def _tombstone(leaf: Leaf) -> Iterator[tuple[str, bytes]]:
    if leaf.lost:
        return
    header = LeafHeader.decode(leaf.header)
    if header.type is not EventType.ERASED or "tombstone" not in header.values:
        return
    try:
        yield str(header.values["tombstone"]), bytes.fromhex(str(header.values["request"]))
    except (KeyError, ValueError):
        raise EncodingError("ERASED is malformed") from None
