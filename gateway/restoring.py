"""Tombstones and objections come back from the log when the store was lost (DESIGN 10.3): headers carry them.

Whoever was erased stays erased: nobody links that name again, whatever else the store has forgotten. Whoever objected
still does: nothing is taken or released until that is taken back.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from redis.asyncio import Redis

from gateway.identity import Screener
from gateway.store.steps import PREFIX
from proxid.errors import MALFORMED, EncodingError, LogDamagedError
from proxid.evidence.events import EventType, Header
from proxid.evidence.leaf import Leaf
from proxid.protocol.rights import Right, RightsReceipt
from proxid.runtime.evidence_log.reading import LogReader
from proxid.runtime.store.connection import store_errors
from proxid.runtime.store.durable import wait_on_disk

_DONE: Final = f"{PREFIX}:restored"
_OBJECTS: Final = "2"
"""An objection that is in effect and recorded, as `lua/rights.lua` keeps it."""


@dataclass(slots=True)
class Exercised:
    """What logs say, read in their order.

    Attributes:
        erased: user tag → digest of the request. objecting: user tags.
    """

    screener: Screener
    erased: dict[str, bytes] = field(default_factory=dict)
    objecting: set[str] = field(default_factory=set)

    def read(self, log: LogReader) -> None:
        """All of a log that can be read; raises EncodingError."""
        try:
            for leaf in log.leaves(1):
                self._take(leaf)
        except LogDamagedError:
            return

    def _take(self, leaf: Leaf) -> None:
        if leaf.lost:
            return
        header = leaf.known
        try:
            if header.type is EventType.ERASED and "tombstone" in header.values:
                self.erased[str(header.values["tombstone"])] = bytes.fromhex(str(header.values["request"]))
            elif header.type is EventType.OBJECTED and "person" in header.values:
                self._objected(header.values)
        except MALFORMED:
            raise EncodingError(f"{header.type.value} is malformed") from None

    def _objected(self, values: Header) -> None:
        tag = self.screener.reveal(str(values["person"]), bytes.fromhex(str(values["request"])))
        if values["right"] == Right.OBJECT.value:
            self.objecting.add(tag)
        else:
            self.objecting.discard(tag)


async def restore_rights(client: Redis, screener: Screener, older: Sequence[LogReader]) -> None:
    """Set the tombstones and objections that older logs name and the store does not hold; once for each successor.

    Args:
        older: readers of the logs before the one that is written to, in their order; damaged leaves restore nothing.

    Raises:
        StoreError: the store is away. EncodingError: a log is not this service's.
    """
    with store_errors():
        done = int(await client.get(_DONE) or 0)
    if done >= len(older):
        return
    found = await asyncio.to_thread(_exercised, screener, older)
    with store_errors():
        for tag, request in found.erased.items():
            receipt = RightsReceipt(request, Right.ERASE, int(screener.clock() * 1000)).sign(screener.key)
            await client.set(f"{PREFIX}:x:{tag}", receipt.encode(), nx=True)
        for tag in found.objecting - found.erased.keys():
            await client.set(f"{PREFIX}:ob:{tag}", _OBJECTS, nx=True)
    await wait_on_disk(client, _DONE, len(older))


def _exercised(screener: Screener, older: Sequence[LogReader]) -> Exercised:
    found = Exercised(screener)
    for log in older:
        found.read(log)
    return found
