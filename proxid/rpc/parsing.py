"""Bytes that are no message of a call's type: gRPC would answer with a status of its own and no code."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

import grpc
from google.protobuf.message import DecodeError

from proxid.errors import EncodingError

_UNREADABLE: Final = object()
_OURS: Final = "/proxid."


class Parsing(grpc.aio.ServerInterceptor):
    """Lets the frame of a method answer what cannot be parsed, as it answers any other bad request."""

    async def intercept_service(
        self, continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]], details: grpc.HandlerCallDetails
    ) -> Any:
        """The method's handler; with one request, its parser gives what `parsed` refuses instead of failing."""
        handler = await continuation(details)
        # A stream's frame reads its messages, and hears of those that cannot be parsed, itself.
        if handler is None or handler.request_streaming or not details.method.startswith(_OURS):
            return handler
        return handler._replace(request_deserializer=_tolerant(handler.request_deserializer))


def parsed(request: Any) -> Any:
    """The request; raises EncodingError if it could not be parsed."""
    if request is _UNREADABLE:
        raise EncodingError("message is not of its type")
    return request


def _tolerant(parse: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    def tolerant(data: bytes) -> Any:
        try:
            return parse(data)
        except DecodeError:
            return _UNREADABLE

    return tolerant
