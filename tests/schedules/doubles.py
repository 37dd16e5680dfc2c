"""Calls that are made twice, as by somebody who did not hear the answer: the same bytes, at once or a while later."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import grpc
import pytest

from gateway import forwarding, upstream
from proxid.clients.household import gateway as device
from proxid.clients.subscriber import subscriber
from proxid.errors import ProxidError


class Doubles:
    """Which lines' next calls are doubled, and how much later."""

    def __init__(self) -> None:
        self._next: dict[str, list[float]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.made: Counter[str] = Counter()
        self._under_way = self.most = 0
        """Questions that the gateway has under way to the main service, and the most that it ever had."""

    def next(self, line: str, later: float) -> None:
        """The next call on a line is made again, so many seconds after it began."""
        self._next.setdefault(line, []).append(later)

    async def close(self) -> None:
        """Whatever is still to come does not."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _perhaps(self, line: str, call: Callable[[], Awaitable[Any]]) -> None:
        if self._next.get(line):
            self.made[line] += 1
            task = asyncio.ensure_future(self._again(self._next[line].pop(0), call))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _again(self, later: float, call: Callable[[], Awaitable[Any]]) -> None:
        await asyncio.sleep(later)
        with suppress(ProxidError, grpc.aio.AioRpcError, grpc.aio.UsageError):
            await call()

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Calls of devices, parties and the gateway go this way while the block runs."""
        with pytest.MonkeyPatch.context() as patch:
            for line, module in (("device", device), ("subscriber", subscriber)):
                patch.setattr(module, "call", self._calling(line, module.call))
            asked, called = forwarding.Forwarding.ask, upstream.MainServiceClient._call

            async def ask(own: Any, message: Any, *until: float) -> Any:
                copy = type(message).FromString(message.SerializeToString())
                self._perhaps("forward", lambda: asked(own, copy, *until))
                self._under_way += 1
                self.most = max(self.most, self._under_way)
                try:
                    return await asked(own, message, *until)
                finally:
                    self._under_way -= 1

            async def call(own: Any, method: Any, message: Any, *seconds: float) -> Any:
                self._perhaps("forward", lambda: called(own, method, message, *seconds))
                return await called(own, method, message, *seconds)

            patch.setattr(forwarding.Forwarding, "ask", ask)
            patch.setattr(upstream.MainServiceClient, "_call", call)
            yield

    def _calling(self, line: str, real: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def call(method: Callable[[], Awaitable[Any]], attempts: Any) -> Any:
            self._perhaps(line, method)
            return await real(method, attempts)

        return call
