"""Serves a service's evidence log to the auditor, for both services alike (DESIGN 10)."""

from collections.abc import AsyncIterator
from typing import Any, Final

from redis.asyncio import Redis

from proxid.rpc.methods import streaming
from proxid.rpc.peers import Peer, PeerRegistry
from proxid.store.connection import store_errors
from proxid.wire.v1 import common_pb2 as wire
from proxid.wire.v1.common_pb2_grpc import EvidenceServicer

_BATCH: Final = 64
"""Events a message: some 4 kB each, well below the largest message."""


class EvidenceService(EvidenceServicer):
    """Streams events by number.

    Args:
        peers: who may call. client: the service's store. prefix: of its keys, with the hash tag.
    """

    def __init__(self, peers: PeerRegistry, client: Redis, prefix: str) -> None:
        self.peers = peers
        self._client = client
        self._stream = f"{prefix}:events"

    @streaming("auditor")
    async def Events(self, request: wire.EventsRequest, peer: Peer) -> AsyncIterator[wire.EventBatch]:
        """Events from `first` on, up to the newest at the time of the call or `limit` of them."""
        at, left = max(1, request.first), request.limit or None
        while left is None or left > 0:
            count = _BATCH if left is None else min(_BATCH, left)
            with store_errors():
                rows: Any = await self._client.xrange(self._stream, min=f"{at}-0", count=count)
            if not rows:
                return
            events = [_event(number, fields) for number, fields in rows]
            yield wire.EventBatch(events=events)
            at = events[-1].number + 1
            left = None if left is None else left - len(events)


def _event(entry: bytes, fields: dict[bytes, bytes]) -> wire.Event:
    return wire.Event(
        number=int(entry.partition(b"-")[0]), type=fields[b"t"].decode("ascii"), salt=fields[b"s"],
        header=fields[b"h"], payload=fields[b"p"],
    )  # fmt: skip
