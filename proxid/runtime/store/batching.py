"""Calls that wait at the same moment share one batch: a round trip, an `fsync` or an RPC is paid once for all of them.

Nobody waits for others to come: a batch leaves at once if none is under way, and takes along whatever has come
meanwhile.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Coalescer(Generic[Item, Result]):
    """Gathers items into batches.

    Args:
        send: takes a batch, gives a result for each item in order: a value, or an exception that its caller gets.
            What it raises itself, every caller of the batch gets.
        size: items of a batch at most.
    """

    def __init__(
        self, send: Callable[[Sequence[Item]], Awaitable[Sequence[Result | BaseException]]], size: int
    ) -> None:
        self._send = send
        self._size = size
        self._waiting: list[tuple[Item, asyncio.Future[Result]]] = []
        self._under_way: asyncio.Task[None] | None = None

    async def call(self, item: Item) -> Result:
        """The result of one item; raises what `send` raised or gave for it."""
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        self._start()
        return await future

    def _start(self) -> None:
        if self._waiting and self._under_way is None:
            self._under_way = asyncio.create_task(self._carry())
            self._under_way.add_done_callback(self._ended)

    def _ended(self, _: asyncio.Task[None]) -> None:
        self._under_way = None
        self._start()

    async def _carry(self) -> None:
        batch, self._waiting = self._waiting[: self._size], self._waiting[self._size :]
        if not batch:
            return
        results: Sequence[Result | BaseException]
        try:
            results = await self._send([item for item, _ in batch])
            if len(results) != len(batch):
                raise RuntimeError("a batch came back with another number of results")
        except BaseException as error:  # every caller must hear of it, whatever it is
            results = [error] * len(batch)
        for (_, future), result in zip(batch, results, strict=True):
            if future.done():
                continue
            if isinstance(result, BaseException):
                future.set_exception(result)
            else:
                future.set_result(result)
