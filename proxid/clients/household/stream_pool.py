"""Streams to the gateway on which a device asks: kept open from one question to the next, as many as ask at once."""

import asyncio
from contextlib import suppress
from typing import Any, Final

import grpc

from proxid.errors import Code, RefusedError, UpstreamError
from proxid.wire.v1 import gateway_pb2 as wire
from proxid.wire.v1.gateway_pb2_grpc import GatewayStub

_KEPT: Final = 64
"""Idle streams at most."""
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

    async def ask(self, request: wire.AskRequest) -> wire.AskOutcome:
        """The answer to one request.

        Raises:
            RefusedError: the gateway refused it. UpstreamError, AioRpcError: it may not have arrived.
        """
        try:
            async with asyncio.timeout(self._timeout):
                stream, found = await self._exchange(request)
        except TimeoutError:
            raise UpstreamError("gives no answer in time; see to the network, and whether it is overloaded") from None
        if len(self._idle) < _KEPT:
            self._idle.append(stream)
        else:
            stream.cancel()
        if found.HasField("refused"):
            raise RefusedError(Code(found.refused.code) if found.refused.code in _CODES else Code.INTERNAL)
        return found

    async def _exchange(self, request: wire.AskRequest) -> tuple[Any, wire.AskOutcome]:
        while self._idle:
            stream = self._idle.pop()
            # The gateway ends an idle stream when it stops; a request that it may have read is sent again unchanged.
            with suppress(asyncio.InvalidStateError, grpc.aio.AioRpcError):
                await _write(stream, request)
                found = await _read(stream)
                if found is not None:
                    return stream, found
        stream = self._stub.Converse()
        with suppress(asyncio.InvalidStateError):  # it has ended: reading tells with what
            await _write(stream, request)
        found = await _read(stream)
        if found is None:
            raise UpstreamError("ended the stream; try again")
        return stream, found


async def _write(stream: Any, request: wire.AskRequest) -> None:
    try:
        await stream.write(request)
    except asyncio.CancelledError:
        stream.cancel()
        raise


async def _read(stream: Any) -> wire.AskOutcome | None:
    """The next answer, None at the stream's end."""
    found = await stream.read()
    return found if isinstance(found, wire.AskOutcome) else None
