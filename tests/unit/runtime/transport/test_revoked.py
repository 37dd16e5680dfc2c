"""A long call that is to end while a message is on its way ends after it, with its status and not by force."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import grpc
import pytest

from proxid.runtime.transport.budget import Budget
from proxid.runtime.transport.methods import streaming
from proxid.runtime.transport.parsing import Raw
from proxid.runtime.transport.peers import Peer


class Peers:
    """One peer, admitted; tells whoever watches."""

    closed = False

    def __init__(self) -> None:
        self.watchers: list[Callable[[], None]] = []
        self.budget = Budget()

    def identify(self, context: Any) -> Peer:
        return Peer("party", "acme")

    @contextmanager
    def watching(self, look: Callable[[], None]) -> Iterator[None]:
        self.watchers.append(look)
        yield

    def close(self) -> None:
        self.closed = True
        for look in self.watchers:
            look()


class Context:
    """Remembers the status that a call ended with."""

    status: grpc.StatusCode | None = None

    async def abort(self, status: grpc.StatusCode, *_: Any) -> None:
        self.status = status
        raise grpc.aio.AbortError


class Feed:
    """Replies for ever."""

    def __init__(self) -> None:
        self.peers: Any = Peers()

    @streaming("party", endless=True)
    async def replies(self, request: Any, peer: Peer) -> AsyncIterator[int]:
        for number in range(1000):
            yield number
            await asyncio.sleep(0)


async def test_it_ends_once_the_message_is_sent() -> None:
    feed, context, sent = Feed(), Context(), asyncio.Event()
    got: list[int] = []

    async def call() -> None:
        """What gRPC does: sends each reply before it asks for the next."""
        async for reply in feed.replies(Raw(b"", bytes), context):
            got.append(reply)
            await sent.wait()

    task = asyncio.create_task(call())
    while not got:  # noqa: ASYNC110 - one turn of the loop
        await asyncio.sleep(0)
    feed.peers.close()
    await asyncio.sleep(0)
    assert not task.cancelling() and context.status is None
    sent.set()
    with pytest.raises(grpc.aio.AbortError):
        await task
    assert context.status is grpc.StatusCode.UNAVAILABLE and got == [0]
