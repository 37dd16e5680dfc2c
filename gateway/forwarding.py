"""The stream to the Main Service on which requests are under way, each known by its number (docs/adr/0006).

What waits while one message is written goes into the next. When the stream breaks, nobody knows what has arrived:
everybody who waits is told, and the next request opens another stream.
"""

import asyncio
import math
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from typing import Any

import grpc

from proxid.errors import UpstreamError
from proxid.runtime.transport.methods import MAX_BATCH, MAX_BATCH_SIZE
from proxid.wire.v1 import main_service_pb2 as wire
from proxid.wire.v1.main_service_pb2_grpc import MainServiceStub


class Forwarding:
    """Requests to MS and their outcomes.

    Args:
        timeout: seconds that an outcome may take.
    """

    def __init__(self, stub: MainServiceStub, timeout: float) -> None:
        self._stub: Any = stub
        self._timeout = timeout
        self._numbers = count(1)
        self._waiting: list[wire.ForwardRequest] = []
        self._under_way: dict[int, asyncio.Future[wire.ForwardOutcome]] = {}
        self._until: dict[int, float] = {}
        """When those give up who have requests under way."""
        self._something = asyncio.Event()
        self._stream: asyncio.Task[None] | None = None

    async def ask(self, asked: wire.ForwardRequest, until: float = math.inf) -> wire.ForwardOutcome:
        """The outcome of one request, whose number is set.

        Args:
            until: monotonic time at which its caller gives up.

        Raises:
            UpstreamError: it may not have arrived, or no outcome came.
        """
        asked.number = next(self._numbers)
        now, loop = time.monotonic(), asyncio.get_running_loop()
        until = min(until, now + self._timeout)
        future: asyncio.Future[wire.ForwardOutcome] = loop.create_future()
        self._under_way[asked.number], self._until[asked.number] = future, until
        self._waiting.append(asked)
        self._something.set()
        if self._stream is None:
            self._stream = asyncio.create_task(self._serve())
        late = loop.call_later(until - now, _too_late, future)
        try:
            return await future
        finally:
            late.cancel()
            self._under_way.pop(asked.number, None)
            self._until.pop(asked.number, None)

    async def close(self) -> None:
        """End the stream."""
        if self._stream is not None:
            self._stream.cancel()
            await asyncio.gather(self._stream, return_exceptions=True)

    async def _serve(self) -> None:
        error = UpstreamError("the Main Service cannot be reached")
        stream = self._stub.Forward()
        writing = asyncio.create_task(self._write(stream))
        try:
            # gRPC gives None for bytes that are no message: the stream has ended, for all that it is worth.
            while (found := await stream.read()) not in (grpc.aio.EOF, None):
                for outcome in found.outcomes:
                    future = self._under_way.get(outcome.number)
                    if future is not None and not future.done():
                        future.set_result(outcome)
        except grpc.aio.AioRpcError:
            pass  # whatever it ended with says nothing of the requests under way
        finally:
            writing.cancel()
            self._stream, self._waiting = None, []
            for future in self._under_way.values():
                if not future.done():
                    future.set_exception(error)

    async def _write(self, stream: Any) -> None:
        # A stream that takes nothing any more has ended: whoever reads it hears why.
        with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
            while True:
                await self._something.wait()
                self._something.clear()
                while self._waiting:
                    count = _fitting(self._waiting)
                    batch, self._waiting = self._waiting[:count], self._waiting[count:]
                    # Who has given up is not worth the way.
                    asked = [one for one in batch if one.number in self._under_way]
                    for one in asked:
                        one.left_ms = max(1, int(1000 * (self._until[one.number] - time.monotonic())))
                    if asked:
                        await stream.write(wire.ForwardBatch(requests=asked))


def _too_late(outcome: "asyncio.Future[wire.ForwardOutcome]") -> None:
    if not outcome.done():
        outcome.set_exception(UpstreamError("the Main Service did not answer in time"))


def _fitting(waiting: Sequence[wire.ForwardRequest]) -> int:
    """How many requests go into one message: the main service takes none over its limit, whoever sends it."""
    size = 0
    for at, one in enumerate(waiting[:MAX_BATCH], 1):
        size += one.ByteSize()
        if size >= MAX_BATCH_SIZE:
            return at
    return min(len(waiting), MAX_BATCH)
