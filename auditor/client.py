"""Reads a service's evidence over gRPC, with the auditor's certificate."""

from collections.abc import Iterator
from typing import Final

import grpc

from proxid.errors import EncodingError, EvidenceUnreadableError
from proxid.evidence.events import Event, EventType
from proxid.rpc.channel import MAX_MESSAGE, TlsFiles
from proxid.wire.v1 import common_pb2 as wire
from proxid.wire.v1.common_pb2_grpc import EvidenceStub

_CONNECT_SECONDS: Final = 10.0


class RemoteLog:
    """One service's log behind its Evidence service.

    Args:
        address: host and port. tls: the auditor's files. role: the DNS name in the service's certificate.
    """

    def __init__(self, address: str, tls: TlsFiles, role: str) -> None:
        key, certificate, authority = tls.read()
        credentials = grpc.ssl_channel_credentials(authority, key, certificate)
        options = [("grpc.ssl_target_name_override", role), ("grpc.max_receive_message_length", MAX_MESSAGE)]
        self._channel = grpc.secure_channel(address, credentials, options=options)
        self._stub = EvidenceStub(self._channel)

    def events(self, first: int = 1) -> Iterator[Event]:
        """Events from a number on, up to the newest; raises EvidenceUnreadableError."""
        try:
            grpc.channel_ready_future(self._channel).result(timeout=_CONNECT_SECONDS)
            for batch in self._stub.Events(wire.EventsRequest(first=first)):
                yield from (_event(event) for event in batch.events)
        except (grpc.RpcError, grpc.FutureTimeoutError):
            raise EvidenceUnreadableError("a service's log cannot be read") from None

    def close(self) -> None:
        """Close the channel."""
        self._channel.close()


def _event(event: wire.Event) -> Event:
    try:
        kind = EventType(event.type)
    except ValueError:
        raise EncodingError("a log holds an event of unknown type") from None
    return Event(event.number, kind, event.salt, event.header, event.payload)
