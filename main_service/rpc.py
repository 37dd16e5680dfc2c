"""The Main Service's gRPC surface, for IS alone (DESIGN 5.3 (1)): translates, and calls the plain classes."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from main_service.consents import Consents
from main_service.epochs import EpochKeys
from main_service.openings import Openings
from main_service.requests import RequestPath
from main_service.rights import Subjects
from main_service.store.outbox import Outbox
from proxid.errors import Code, OversizedError
from proxid.protocol.record import kind_and_number
from proxid.runtime.evidence_log.promising import Promises
from proxid.runtime.transport.convert import encoded_to_wire, from_wire, to_wire
from proxid.runtime.transport.fairness import Turn
from proxid.runtime.transport.methods import MAX_BATCH, outcome, streaming, unary
from proxid.runtime.transport.peers import Peer, PeerRegistry
from proxid.runtime.transport.streams import multiplexed_stream
from proxid.wire.v1 import main_service_pb2 as wire
from proxid.wire.v1.main_service_pb2_grpc import MainServiceServicer


def _requests(batch: wire.ForwardBatch) -> Sequence[wire.ForwardRequest]:
    if len(batch.requests) > MAX_BATCH:
        raise OversizedError("batch holds too many requests")
    return batch.requests


def _outcomes(done: list[wire.ForwardOutcome]) -> wire.ForwardOutcomes:
    return wire.ForwardOutcomes(outcomes=done)


class MainService(MainServiceServicer):
    """What IS calls.

    Args:
        compared: waits until IS has shown what it holds of this service's log: nothing is served before.
        promises: without a log that is written in time nothing new is taken.
    """

    def __init__(
        self, peers: PeerRegistry, epochs: EpochKeys, openings: Openings, requests: RequestPath, consents: Consents,
        outbox: Outbox, subjects: Subjects, compared: Callable[[], Awaitable[None]], promises: Promises,
    ) -> None:  # fmt: skip
        self._promises = promises
        self.peers = peers
        self._epochs = epochs
        self._openings = openings
        self._requests = requests
        self._consents = consents
        self._outbox = outbox
        self._subjects = subjects
        self._compared = compared

    @unary("gateway")
    async def GetEpoch(self, request: wire.EpochRequest, peer: Peer) -> wire.EpochReply:
        """The signed key of the current epoch, which goes by one of the policy documents that IS names."""
        await self._compared()
        opening = await self._openings.take(request.opening, request.epoch)
        secrets = await self._epochs.open(opening, list(request.policies))
        newest = self._epochs.newest(request.epoch)
        return wire.EpochReply(epoch_key=secrets.key.encode(), newest=newest, feed_keys=secrets.feeds)

    @unary("gateway")
    async def TellTime(self, request: wire.TimeRequest, peer: Peer) -> wire.TimeReply:
        """Take the other side's time, and tell this one's."""
        await self._compared()
        return wire.TimeReply(time=(await self._openings.tell(request.opening, request.nonce)).encode())

    @unary("gateway")
    async def Ask(self, request: wire.ForwardRequest, peer: Peer) -> wire.ForwardReply:
        """Answer a sanitised request."""
        return await self._ask(request, Turn.of(request.left_ms))

    @multiplexed_stream(_requests, _outcomes, "gateway")
    async def Forward(self, request: wire.ForwardRequest, peer: Peer) -> wire.ForwardOutcome:
        """Answer or refuse one of many sanitised requests on a stream."""
        turn = Turn.of(request.left_ms)
        found = await outcome(self._ask(request, turn), "Ask")
        number, waited = request.number, int(1000 * turn.waited)
        if isinstance(found, Code):
            return wire.ForwardOutcome(number=number, refused=found.value, waited_ms=waited)
        return wire.ForwardOutcome(number=number, reply=found, waited_ms=waited)

    async def _ask(self, request: wire.ForwardRequest, turn: Turn) -> wire.ForwardReply:
        await self._compared()
        message = from_wire(request.message)
        return wire.ForwardReply(message=to_wire(await self._requests.ask(message, request.credential, turn)))

    @unary("gateway")
    async def Consent(self, request: wire.ForwardRequest, peer: Peer) -> wire.ForwardReply:
        """Put a consent into effect."""
        await self._compared()
        await self._openings.confirmed()
        await self._promises.head()
        acknowledgement, promise = await self._consents.change(from_wire(request.message), request.credential)
        return wire.ForwardReply(message=to_wire(acknowledgement), promise=promise)

    @unary("gateway")
    async def Erase(self, request: wire.EraseRequest, peer: Peer) -> wire.EraseReply:
        """Forget a live PROX_ID."""
        await self._compared()
        await self._subjects.erase(request.prox_id, request.tag)
        return wire.EraseReply()

    @unary("gateway")
    async def Restrict(self, request: wire.RestrictRequest, peer: Peer) -> wire.RestrictReply:
        """Log nothing of a live PROX_ID, or again."""
        await self._compared()
        if request.word:
            await self._openings.confirmed()
            await self._promises.head()
        said = (request.prox_id, request.restricted, request.lost, request.word, request.credential)
        return wire.RestrictReply(promise=await self._subjects.restrict(*said))

    @streaming("gateway", endless=True)
    async def Releases(self, request: wire.ReleasesRequest, peer: Peer) -> AsyncIterator[wire.Release]:
        """Stream released groups."""
        await self._compared()
        async for entry in self._outbox.follow(request.after):
            release = wire.Release(cursor=entry.cursor, party=entry.party, epoch=entry.epoch, group=entry.group)
            release.audience = entry.audience
            if kind_and_number(entry.group)[0] == "contents":
                release.contents = entry.records[0]
            else:
                release.records.extend(map(encoded_to_wire, entry.records))
            yield release

    @unary("gateway")
    async def Acknowledge(self, request: wire.AcknowledgeReleases, peer: Peer) -> wire.AcknowledgeReleasesReply:
        """Forget what IS has stored."""
        await self._compared()
        await self._outbox.trim(request.cursor)
        return wire.AcknowledgeReleasesReply()
