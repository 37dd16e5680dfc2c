"""Streams to the gateway on which a device asks: kept open from one question to the next, as many as ask at once.

Never more than the gateway takes, and no more than it has answered of late. Like TCP's window, the number of streams
grows with each answer, shrinks with each `overloaded`, and halves with each answer that does not come: a gateway with
little of its processor would be busy with streams that are opened, given up and opened again before it comes to read
one. In gRPC's own queue a stream is opened when its caller has long gone, asks nothing, and is ended: so no more than
OPENING are opened before the gateway has taken them up, which it says at once, and nobody but who asks first is bound
to one until then. Of more than there are streams for, the newest go first, since whoever has waited for long has little
time left.
"""

import asyncio
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

import grpc

from proxid.errors import Code, OverloadedError, RefusedError, UpstreamError
from proxid.runtime.transport.status import told_pushback
from proxid.runtime.transport.throttle import Throttle
from proxid.wire.v1 import gateway_pb2 as wire
from proxid.wire.v1.gateway_pb2_grpc import GatewayStub

MOST: Final = 96
"""Streams at once: a gateway takes 128 calls of a connection, and there are others than these."""
FIRST: Final = 8
LEAST: Final = 2
"""Streams at first, and when nothing is answered."""
OPENING: Final = 1
"""Streams at once that were opened and are not taken up: a gateway takes one in a turn of its event loop or two, which
are long when it has much to do.
"""
PROMPT: Final = 0.25
"""Seconds after which a stream is taken up by a gateway that is not busy, however far away it is."""
CALM: Final = 1.0
"""Seconds after an `overloaded`, or a stream that was taken up late, in which those that there are have to do."""
LATE: Final = 1.0
"""Seconds for which a stream is kept whose answer comes too late: a gateway gives up when its caller does."""
SOON: Final = 0.5
"""Seconds after which who was not let through may try again: nobody was asked, and others are answered meanwhile."""
_CODES: Final = frozenset(Code)


class StreamPool:
    """Idle streams, the one used last on top.

    Args:
        timeout: seconds that an answer may take.
    """

    def __init__(self, stub: GatewayStub, timeout: float) -> None:
        self._stub: Any = stub
        self._timeout = timeout
        self._idle: list[Any] = []
        self._throttle = Throttle()
        self._window = min(FIRST, MOST)
        self._under_way = self._opening = 0
        self._busy = -math.inf
        """When the gateway was last seen to have too much to do."""
        self._waiting: dict[asyncio.Future[Any], None] = {}
        self._adding: set[asyncio.Task[None]] = set()
        self._untried: set[Any] = set()
        """Streams that were added and not used yet."""

    async def ask(self, request: wire.AskRequest, until: float = math.inf) -> wire.AskOutcome:
        """The answer to one request.

        Args:
            until: monotonic time at which the caller gives up.

        Raises:
            RefusedError: the gateway refused it. OverloadedError: it has not looked at it, or would not have.
            UpstreamError, AioRpcError: it may not have arrived.
        """
        if not self._throttle.admits(time.monotonic()):
            raise OverloadedError("the gateway was just now", SOON)
        until = min(until, time.monotonic() + self._timeout)
        try:
            found = await self._answered(request, until)
        except TimeoutError:
            raise UpstreamError("gives no answer in time; see to the network, and whether it is overloaded") from None
        overloaded = found.refused.code == Code.OVERLOADED
        if overloaded or not found.HasField("refused"):  # a refusal of another kind is neither, as the gateway counts
            self._throttle.ended(time.monotonic(), not overloaded)
        if found.HasField("refused"):
            if overloaded:
                raise OverloadedError("the gateway is", told_pushback(found.refused.pushback_ms))
            raise RefusedError(Code(found.refused.code) if found.refused.code in _CODES else Code.INTERNAL)
        return found

    async def _answered(self, request: wire.AskRequest, until: float) -> wire.AskOutcome:
        try:
            found = None
            while found is None:
                async with self._place(until) as stream:
                    request.left_ms = max(1, int(1000 * (until - time.monotonic())))
                    if stream is None:
                        found = await self._open(request, until)
                        continue
                    untried = stream in self._untried
                    self._untried.discard(stream)
                    # The gateway ends an idle stream when it stops; what it may have read is sent again unchanged.
                    with suppress(grpc.aio.AioRpcError):
                        found = await self._exchange(stream, request, until)
                    if found is None and untried:  # it was not taken up, but ended at once
                        self._note_busy()
        except BaseException:  # as when its time is over
            self._grow(-self._window // 2)
            raise
        if found.refused.code == Code.OVERLOADED:
            if time.monotonic() - self._busy > CALM:  # what many hear at once is said once
                self._grow(-self._window // 2)
            self._note_busy()
        elif 2 * self._under_way >= self._window:
            self._grow(1)
        return found

    def _grow(self, streams: int) -> None:
        self._window = min(MOST, max(LEAST, self._window + streams))

    @asynccontextmanager
    async def _place(self, until: float) -> AsyncIterator[Any]:
        """One of the streams while the block runs; None: the first is to be opened."""
        if self._has_place():
            stream = self._take()
        else:
            waiting: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
            self._waiting[waiting] = None
            self._add()
            try:
                async with asyncio.timeout(until - time.monotonic()):
                    stream = await waiting
            except (asyncio.CancelledError, TimeoutError):
                self._waiting.pop(waiting, None)
                if not waiting.cancelled():  # it was its turn
                    self._give_back(waiting.result())
                raise
        try:
            yield stream
        finally:
            self._leave()

    def _has_place(self) -> bool:
        return self._under_way < self._window and (bool(self._idle) or self._is_first())

    def _is_first(self) -> bool:
        return not self._under_way and not self._opening

    def _take(self) -> Any:
        self._under_way += 1
        if self._idle:
            return self._idle.pop()
        self._opening += 1
        return None

    def _give_back(self, stream: Any) -> None:
        if stream is None:
            self._opening -= 1
        else:
            self._idle.append(stream)
        self._leave()

    def _leave(self) -> None:
        self._under_way -= 1
        self._hand_out()

    def _hand_out(self) -> None:
        """Places, as many as there are now: to those who came last, unless all have one as soon as it is opened."""
        while self._waiting and self._has_place():
            many = self._under_way + len(self._waiting) > self._window
            waiting = next(reversed(self._waiting) if many else iter(self._waiting))
            del self._waiting[waiting]
            if not waiting.done():
                waiting.set_result(self._take())
        self._add()

    def _add(self) -> None:
        """One more stream, if somebody waits for one and the gateway was not busy just now."""
        calm = time.monotonic() - self._busy > CALM and self._opening < OPENING
        if calm and self._waiting and self._under_way + self._opening < self._window:
            self._opening += 1
            adding = asyncio.create_task(self._opened())
            self._adding.add(adding)
            adding.add_done_callback(self._adding.discard)

    async def _opened(self) -> None:
        """Nobody is bound to it before the gateway has taken it up: who waits may have another one earlier."""
        begun, stream = time.monotonic(), self._stub.Converse()
        taken = asyncio.ensure_future(stream.initial_metadata())
        taken.add_done_callback(_heard)
        await asyncio.wait({taken}, timeout=CALM)  # a gateway of before says so with its first answer
        ended = taken.done() and (taken.cancelled() or taken.exception() is not None)
        if ended or time.monotonic() - begun > PROMPT:
            self._note_busy()
        if not ended:
            self._idle.insert(0, stream)
            self._untried.add(stream)
        self._opening -= 1
        self._hand_out()

    async def _open(self, request: wire.AskRequest, until: float) -> wire.AskOutcome:
        """The answer on a stream of its own, which is kept."""
        stream = self._stub.Converse()
        taken = asyncio.ensure_future(stream.initial_metadata())
        taken.add_done_callback(self._taken_up)
        found = await self._exchange(stream, request, until)
        if found is None:
            raise UpstreamError("ended the stream; try again")
        return found

    def _taken_up(self, taken: "asyncio.Future[Any]") -> None:
        _heard(taken)
        self._opening -= 1
        self._hand_out()

    def _note_busy(self) -> None:
        self._busy = time.monotonic()
        asyncio.get_running_loop().call_later(CALM, self._hand_out)  # those that there are may be busy for long

    async def _exchange(self, stream: Any, request: wire.AskRequest, until: float) -> wire.AskOutcome | None:
        """The answer on a stream, which is then idle; None if it has ended."""
        with suppress(asyncio.InvalidStateError):  # it has ended: reading tells with what
            await _write(stream, request, until)
        found = await self._read(stream, until)
        if found is not None:
            self._idle.append(stream)
        return found

    async def _read(self, stream: Any, until: float) -> wire.AskOutcome | None:
        """The next answer, None at the stream's end; raises TimeoutError when the caller gives up."""
        reading = asyncio.ensure_future(_next(stream))
        try:
            await asyncio.wait({reading}, timeout=max(0.0, until - time.monotonic()))
        except asyncio.CancelledError:
            reading.cancel()
            raise
        if not reading.done():
            self._late(stream, reading)
            raise TimeoutError
        return reading.result()

    def _late(self, stream: Any, reading: "asyncio.Future[wire.AskOutcome | None]") -> None:
        """Nobody waits for this answer any more, but the stream has its place until it comes, and is used again then.

        To end it would have another one opened, which costs the gateway more than the answer.
        """
        self._under_way += 1
        ending = asyncio.get_running_loop().call_later(LATE, reading.cancel)

        def came(done: "asyncio.Future[wire.AskOutcome | None]") -> None:
            ending.cancel()
            if not done.cancelled() and done.exception() is None and done.result() is not None:
                self._idle.append(stream)
            self._leave()

        reading.add_done_callback(came)


def _heard(taken: "asyncio.Future[Any]") -> None:
    """What became of it is told to whoever reads the stream."""
    if not taken.cancelled():
        taken.exception()


async def _write(stream: Any, request: wire.AskRequest, until: float) -> None:
    try:
        async with asyncio.timeout(until - time.monotonic()):
            await stream.write(request)
    except (asyncio.CancelledError, TimeoutError):
        stream.cancel()
        raise


async def _next(stream: Any) -> wire.AskOutcome | None:
    """The next answer, None at the stream's end."""
    found = await stream.read()
    return found if isinstance(found, wire.AskOutcome) else None
