"""A third party that a history has: it reads when it is told to, and acknowledges what it reads or keeps silent."""

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from proxid.clients.subscriber.config import PartyConfig
from proxid.clients.subscriber.group import OpenedRecord
from proxid.clients.subscriber.ledger import Kept
from proxid.clients.subscriber.subscriber import Subscriber, open_subscriber
from proxid.protocol.contents import ContentsBody
from proxid.runtime.config import load
from proxid.wire.v1 import gateway_pb2 as wire

Came = tuple[int, int, list[OpenedRecord], ContentsBody | None]
"""Epoch, number, and what was opened of a group, portion or content message."""


class Noting(Subscriber):
    """Notes all that comes, before it is acknowledged."""

    silent = False
    came: list[Came]

    def _open(self, message: wire.FeedGroup) -> tuple[list[OpenedRecord], ContentsBody | None, bytes]:
        opened, contents, digest = super()._open(message)
        self.came.append((message.epoch, message.group, opened, contents))
        return opened, contents, digest

    async def _acknowledge(self, kept: Kept) -> bool:
        return True if self.silent else await super()._acknowledge(kept)

    async def _settle(self) -> None:
        if not self.silent:
            await super()._settle()


class StillParty:
    """Keeps its connection for a history."""

    def __init__(self, folder: Path, name: str) -> None:
        self._config = load(PartyConfig, folder / f"parties/{name}/party.toml")
        self._stack = AsyncExitStack()
        self._subscriber: Any = None

    async def read(self, silent: bool = False) -> list[Came]:
        """What is in the feed now, once; raises ProxidError."""
        if self._subscriber is None:
            self._subscriber = await self._stack.enter_async_context(open_subscriber(self._config))
            self._subscriber.__class__ = Noting
        found = self._subscriber
        found.silent, found.came = silent, []
        if silent:
            found._after = 0  # all that is in the feed is asked for again
        async for _ in found._stream(False):
            pass
        return self.came

    @property
    def came(self) -> list[Came]:
        """What came when it was read last, whether or not that came to its end."""
        return [] if self._subscriber is None else list(self._subscriber.came)

    async def close(self) -> None:
        await self._stack.aclose()
        self._subscriber = None
