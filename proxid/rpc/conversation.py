"""The frame around a stream of requests, each answered before the next is read.

To a call of its own a message on an open stream is cheap (docs/adr/0006), so a device keeps one. A refusal is an answer
like any other, and the stream goes on; it ends when the caller ends it, when its certificate is taken off the list, or
when the service stops.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection
from functools import wraps
from typing import Any

import grpc
from google.protobuf.message import DecodeError

from proxid.errors import EncodingError
from proxid.observability.metrics import OK, observe_call
from proxid.rpc.methods import Revoked, Servicer, fail, note, require
from proxid.rpc.status import public_code, public_text

Refusal = Callable[[str, str], Any]
"""Makes a reply of a code and a public text."""


class _Talk(Revoked):
    """A conversation under way: it ends at once while nothing is asked, otherwise with the answer."""

    def __init__(self, servicer: Servicer, context: Any, roles: Collection[str]) -> None:
        super().__init__(servicer, context, roles)
        self.idle = False
        self.over = False

    def look(self) -> None:
        """Called when the list of peers has changed, or the service stops."""
        if not self._servicer.peers.closed:
            super().look()
            return
        self.over = True
        if self.idle and self._task is not None:
            self._task.cancel()

    async def heard(self) -> Any:
        """The next request, or EOF."""
        if self.over:
            return grpc.aio.EOF
        self.idle = True
        try:
            return await self._context.read()
        finally:
            self.idle = False


def conversation(refusal: Refusal, *roles: str) -> Callable[[Callable[..., Awaitable[Any]]], Callable[..., Any]]:
    """Frame a method `(self, request, peer) -> reply` that is called for each message of a stream.

    Args:
        refusal: the reply that stands for an error. roles: who may call.
    """

    def decorate(method: Callable[..., Awaitable[Any]]) -> Callable[..., Any]:
        async def answered(self: Servicer, request: Any, peer: Any) -> Any:
            code, start = OK, time.perf_counter()
            try:
                return await method(self, request, peer)
            except Exception as error:
                code = note(error, method.__name__).value
                return refusal(public_code(error).value, public_text(error))
            finally:
                observe_call(method.__name__, code, time.perf_counter() - start)

        @wraps(method)
        async def framed(self: Servicer, _requests: Any, context: Any) -> None:
            talk = _Talk(self, context, roles)
            try:
                peer = require(self, context, roles)
                with self.peers.watching(talk.look):
                    while (request := await talk.heard()) is not grpc.aio.EOF:
                        await context.write(await answered(self, request, peer))
            except grpc.aio.AbortError:
                raise
            except asyncio.CancelledError:
                if talk.error is not None:
                    await fail(context, talk.error, method.__name__)
                if not talk.over:
                    raise
            except DecodeError:
                await fail(context, EncodingError("message is not of its type"), method.__name__)
            except Exception as error:
                await fail(context, error, method.__name__)

        return framed

    return decorate
