"""Bytes that are no message of a call's type, or one of too many fields: gRPC would say so without a code."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf.message import DecodeError

from proxid.errors import EncodingError, ProxidError
from proxid.runtime.transport.fields import request_type, verify_count


@dataclass(frozen=True, slots=True)
class _Unreadable:
    """Stands for a request that was not taken."""

    error: ProxidError


class Parsing(grpc.aio.ServerInterceptor):
    """Counts a request's fields before it is parsed, and lets the frame of a method answer what cannot be parsed."""

    def __init__(self) -> None:
        self._parsers: dict[str, Callable[[bytes], Any]] = {}

    async def intercept_service(
        self, continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]], details: grpc.HandlerCallDetails
    ) -> Any:
        """The method's handler; with one request, its parser gives what `parsed` refuses instead of failing."""
        handler = await continuation(details)
        if handler is None:
            return None
        parser = self._parsers.get(details.method)
        if parser is None:
            parser = _counting(details.method, handler.request_deserializer)
            # A stream's frame reads its messages, and hears of those that cannot be parsed, itself.
            if not handler.request_streaming and details.method.startswith("/proxid."):
                parser = _tolerant(parser)
            self._parsers[details.method] = parser
        return handler._replace(request_deserializer=parser)


def parsed(request: Any) -> Any:
    """The request; raises EncodingError if it could not be parsed, OversizedError if it has too many fields."""
    if isinstance(request, _Unreadable):
        raise request.error
    return request


def _counting(method: str, parse: Callable[[bytes], Any] | None) -> Callable[[bytes], Any]:
    kind = request_type(method)

    def counting(data: bytes) -> Any:
        if kind is not None:
            verify_count(data, kind)
        return data if parse is None else parse(data)

    return counting


def _tolerant(parse: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    def tolerant(data: bytes) -> Any:
        try:
            return parse(data)
        except DecodeError:
            return _Unreadable(EncodingError("message is not of its type"))
        except ProxidError as error:
            return _Unreadable(error)

    return tolerant
