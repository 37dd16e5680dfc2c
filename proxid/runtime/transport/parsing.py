"""Messages stay bytes until the frame of a method has found that their caller may have them read (DESIGN 5.7).

Bytes that are no message of a call's type, or one of too many fields, gRPC would refuse without a code.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import grpc
from google.protobuf.message import DecodeError

from proxid.errors import EncodingError
from proxid.runtime.transport.fields import request_type, verify_count


class Raw:
    """A message as it came.

    Args:
        parse: of its type; raises DecodeError, OversizedError.
    """

    __slots__ = ("_data", "_parse")

    def __init__(self, data: bytes, parse: Callable[[bytes], Any]) -> None:
        self._data, self._parse = data, parse

    def __len__(self) -> int:
        return len(self._data)

    def parsed(self) -> Any:
        """The message; raises EncodingError if it is none, OversizedError if it has too many fields."""
        try:
            return self._parse(self._data)
        except DecodeError:
            raise EncodingError("message is not of its type") from None


class Unparsed(grpc.aio.ServerInterceptor):
    """Gives the frames of methods `Raw` messages, whose fields are counted before they are parsed."""

    def __init__(self) -> None:
        self._parsers: dict[str, Callable[[bytes], Any]] = {}

    async def intercept_service(
        self, continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]], details: grpc.HandlerCallDetails
    ) -> Any:
        """The method's handler."""
        handler = await continuation(details)
        if handler is None:
            return None
        parser = self._parsers.get(details.method)
        if parser is None:
            parser = partial(Raw, parse=_counting(details.method, handler.request_deserializer))
            self._parsers[details.method] = parser
        return handler._replace(request_deserializer=parser)


def _counting(method: str, parse: Callable[[bytes], Any] | None) -> Callable[[bytes], Any]:
    kind = request_type(method)

    def counting(data: bytes) -> Any:
        if kind is not None:
            verify_count(data, kind)
        return data if parse is None else parse(data)

    return counting
