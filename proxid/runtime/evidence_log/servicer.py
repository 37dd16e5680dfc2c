"""Serves a service's evidence log to the auditor and to witnesses, for both services alike (DESIGN 10).

Every worker serves it from the log's folder; only what a signed head covers is shown.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, Final

from redis.asyncio import Redis

from proxid.errors import EvidenceUnreadableError, PeerRefusedError
from proxid.evidence.leaf import Leaf
from proxid.runtime.evidence_log.reading import LogReader
from proxid.runtime.evidence_log.stream import counted
from proxid.runtime.transport.heads import Heard
from proxid.runtime.transport.methods import streaming, unary
from proxid.runtime.transport.peers import Peer, PeerRegistry
from proxid.wire.v1 import common_pb2 as wire
from proxid.wire.v1.common_pb2_grpc import EvidenceServicer

_BATCH_BYTES: Final = 256 * 1024
_BATCH: Final = 256
_POLL: Final = 0.05
_FRESH_SECONDS: Final = 20.0

KeySource = Callable[[Sequence[bytes]], Awaitable[list[bytes]]]
"""Private evidence keys of subject tags, empty where there is none."""
ProofSource = Callable[[int, int, int], Awaitable[Sequence[bytes]]]
"""A consistency proof: old size, new size, which log."""


class EvidenceService(EvidenceServicer):
    """Leaves, heads and proofs of one log.

    Args:
        peers: who may call. reader: of the log's folder. client, prefix: the store that events come from.
        earlier: the reader of an older log of this service, by generation; raises InputError if there is none.
        heard: what others show of both logs. keys: the Identity Screener's evidence keys; None at the Main Service.
        other: asks the Main Service for a proof, at the Identity Screener.
    """

    def __init__(
        self, peers: PeerRegistry, reader: LogReader, client: Redis, prefix: str,
        earlier: Callable[[int], LogReader], heard: Heard, keys: KeySource | None = None,
        other: ProofSource | None = None,
    ) -> None:  # fmt: skip
        self._other = other
        self.peers = peers
        self._reader = reader
        self._client = client
        self._prefix = prefix
        self._earlier = earlier
        self._heard = heard
        self._keys = keys

    @streaming("auditor")
    async def Leaves(self, request: wire.LeavesRequest, peer: Peer) -> AsyncIterator[wire.LeafBatch]:
        """Leaves from `first` on, up to the newest signed head or `limit` of them."""
        at, left, log = max(1, request.first), request.limit or None, self._log(request.log)
        while left is None or left > 0:
            count = _BATCH if left is None else min(_BATCH, left)
            leaves = await asyncio.to_thread(_read, log, at, count)
            if not leaves:
                return
            for batch in _batches([_to_wire(leaf, number) for number, leaf in enumerate(leaves, at)]):
                yield batch
            at += len(leaves)
            left = None if left is None else left - len(leaves)

    def _log(self, generation: int) -> LogReader:
        return self._earlier(generation) if generation else self._reader

    @unary("auditor", "witness", "device", "party")
    async def Checkpoint(self, request: wire.CheckpointRequest, peer: Peer) -> wire.CheckpointReply:
        """The newest signed head, and the newest that each witness cosigned."""
        if request.fresh and peer.role in ("auditor", "witness"):
            await self._wait()
        log = self._log(request.log)
        first = log.first()
        begun = None if first is None else _to_wire(Leaf(first.salt, first.header), 1)
        return wire.CheckpointReply(latest=log.checkpoint(), cosigned=log.cosigned(), first=begun)

    async def _wait(self) -> None:
        wanted = (await counted(self._client, self._prefix)).size
        try:
            async with asyncio.timeout(_FRESH_SECONDS):
                while self._reader.head().size < wanted:  # noqa: ASYNC110 - another process writes the log
                    await asyncio.sleep(_POLL)
        except TimeoutError:
            raise EvidenceUnreadableError("the log does not catch up with its service") from None

    @unary("auditor", "witness", "device", "party", "gateway")
    async def Consistency(self, request: wire.ConsistencyRequest, peer: Peer) -> wire.ProofReply:
        """That one head is the beginning of another; at the Identity Screener of the Main Service's log, too."""
        if request.other and self._other is not None:
            return wire.ProofReply(hashes=await self._other(request.old, request.size, request.log))
        return wire.ProofReply(hashes=self._log(request.log).consistency(request.old, request.size))

    @unary("auditor", "witness")
    async def Inclusion(self, request: wire.InclusionRequest, peer: Peer) -> wire.ProofReply:
        """That a leaf is in a head."""
        return wire.ProofReply(hashes=self._log(request.log).inclusion(request.number, request.size))

    @unary("witness")
    async def Cosign(self, request: wire.CosignRequest, peer: Peer) -> wire.CosignReply:
        """Keep a cosigned head."""
        self._reader.cosign(request.checkpoint)
        return wire.CosignReply()

    @unary("gateway", "witness")
    async def ShowHeads(self, request: wire.HeadsRequest, peer: Peer) -> wire.HeadsReply:
        """Take heads that the caller holds of either log, and show those that are held here; raises LogDamagedError."""
        await self._heard.take(list(request.heads))
        if peer.role == "gateway":
            await self._heard.heard()
        return wire.HeadsReply(heads=await asyncio.to_thread(self._heard.held.shown))

    @unary("auditor")
    async def Keys(self, request: wire.EvidenceKeysRequest, peer: Peer) -> wire.EvidenceKeysReply:
        """Evidence keys of person-epochs, for the auditor alone."""
        if self._keys is None:
            raise PeerRefusedError("this service has no evidence keys")
        return wire.EvidenceKeysReply(seeds=await self._keys(request.tags))


def _read(log: LogReader, first: int, count: int) -> list[Leaf]:
    """Leaves; of damaged ones the hash alone. Raises LogDamagedError."""
    return list(log.leaves(first, count))


def _to_wire(leaf: Leaf, number: int) -> wire.Leaf:
    return wire.Leaf(
        number=number, salt=leaf.salt, header=leaf.header, parts=leaf.parts, lost=leaf.lost, damaged=leaf.damaged
    )


def _batches(leaves: Sequence[wire.Leaf]) -> list[wire.LeafBatch]:
    """Messages well below the largest one."""
    batches: list[Any] = []
    size = _BATCH_BYTES
    for leaf in leaves:
        if size >= _BATCH_BYTES:
            batches.append([])
            size = 0
        batches[-1].append(leaf)
        size += leaf.ByteSize()
    return [wire.LeafBatch(leaves=batch) for batch in batches]
