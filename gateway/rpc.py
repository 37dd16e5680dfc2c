"""The gateway's gRPC surface: translates, and calls the plain classes (DESIGN 5.2, 9)."""

from collections.abc import AsyncIterator

from gateway.consents import Consents
from gateway.epochs import OpenEpochs
from gateway.feeds import Feeds, WrittenNotice
from gateway.links import Links
from gateway.notices import Notices
from gateway.requests import RequestPath
from gateway.rights import Rights
from proxid.crypto.sansig import SignedMessage
from proxid.runtime.evidence_log.promising import Promises
from proxid.runtime.transport.convert import from_wire, to_wire
from proxid.runtime.transport.fairness import Turn
from proxid.runtime.transport.methods import streaming, unary
from proxid.runtime.transport.peers import Peer, PeerRegistry
from proxid.runtime.transport.streams import ordered_stream
from proxid.wire.v1 import gateway_pb2 as wire
from proxid.wire.v1.gateway_pb2_grpc import FeedServicer, GatewayServicer


def _refused(code: str, text: str, pushback_ms: int) -> wire.AskOutcome:
    return wire.AskOutcome(refused=wire.Refusal(code=code, message=text, pushback_ms=pushback_ms))


def _room(service: "GatewayService", peer: Peer) -> None:
    service._requests.require_room(peer)


class GatewayService(GatewayServicer):
    """What devices call.

    Args:
        promises: without a log that is written in time nothing new is taken.
    """

    def __init__(
        self, peers: PeerRegistry, epochs: OpenEpochs, promises: Promises,
        parts: tuple[Links, Consents, RequestPath, Rights],
    ) -> None:  # fmt: skip
        self.peers = peers
        self._epochs = epochs
        self._promises = promises
        self._links, self._consents, self._requests, self._rights = parts

    @unary("device")
    async def GetParameters(self, request: wire.ParametersRequest, peer: Peer) -> wire.Parameters:
        """The current epoch and MS's signed key for it."""
        key = await self._epochs.current()
        return wire.Parameters(epoch=key.epoch, epoch_key=key.encode(), time_ms=self._epochs.time_ms)

    @unary("device")
    async def Link(self, request: wire.LinkRequest, peer: Peer) -> wire.LinkReply:
        """Register an epoch key."""
        await self._promises.head()
        credential = await self._links.link(request.enrolment, request.link)
        return wire.LinkReply(prox_id=credential.prox_id, seasoned=credential.seasoned)

    @unary("device")
    async def Consent(self, request: wire.ConsentRequest, peer: Peer) -> wire.ConsentReply:
        """Change a consent."""
        await self._promises.head()
        acknowledgement, (promise, theirs), sent = await self._consents.change(
            request.vector, from_wire(request.message)
        )
        rows = [wire.SentBefore(**row._asdict()) for row in sent]
        acknowledged = to_wire(acknowledgement)
        return wire.ConsentReply(acknowledgement=acknowledged, sent=rows, promise=promise, service_promise=theirs)

    @unary("device", before=_room)
    async def Ask(self, request: wire.AskRequest, peer: Peer) -> wire.AskReply:
        """Answer a request."""
        return wire.AskReply(message=to_wire(await self._ask(request, peer)))

    @ordered_stream("Ask", _refused, "device", before=_room)
    async def Converse(self, request: wire.AskRequest, peer: Peer) -> wire.AskOutcome:
        """Answer one request of a stream."""
        return wire.AskOutcome(message=to_wire(await self._ask(request, peer)))

    async def _ask(self, request: wire.AskRequest, peer: Peer) -> SignedMessage:
        signed = from_wire(request.message)
        return await self._requests.ask(signed, Turn.of(request.left_ms, peer, signed.header.signer))

    @unary("device")
    async def Right(self, request: wire.RightRequest, peer: Peer) -> wire.RightReply:
        """Carry out a right of the data subject."""
        await self._promises.head()
        granted = await self._rights.grant(request.enrolment, request.request)
        receipt = b"" if granted.receipt is None else granted.receipt.encode()
        pending = granted.receipt is None
        return wire.RightReply(receipt=receipt, share=granted.share, pending=pending, promise=granted.promise)

    @unary("device")
    async def GetPolicy(self, request: wire.PolicyRequest, peer: Peer) -> wire.PolicyReply:
        """The text of a policy document."""
        return wire.PolicyReply(text=self._epochs.policies.text(request.digest))


class FeedService(FeedServicer):
    """What third parties call; the party is the one that the certificate names."""

    def __init__(self, peers: PeerRegistry, feeds: Feeds, notices: Notices) -> None:
        self.peers = peers
        self._feeds = feeds
        self._notices = notices

    @streaming("party", endless=True)
    async def Subscribe(self, request: wire.SubscribeRequest, peer: Peer) -> AsyncIterator[wire.FeedGroup]:
        """Stream the caller's feed."""
        async for group in self._feeds.stream(peer.name, request.after, request.follow):
            if isinstance(group, WrittenNotice):
                yield wire.FeedGroup(party=peer.name, notice=group.sealed)
                continue
            entry = group.entry
            yield wire.FeedGroup(
                cursor=entry.cursor, party=peer.name, epoch=entry.epoch, group=entry.group,
                records=[to_wire(r) for r in group.records], contents=group.contents, feed_key=group.feed_key,
            )  # fmt: skip

    @unary("party")
    async def Acknowledge(self, request: wire.AcknowledgeRequest, peer: Peer) -> wire.AcknowledgeReply:
        """Take an acknowledgement."""
        if request.notice:
            await self._notices.acknowledge(peer.name, request.acknowledgement)
            return wire.AcknowledgeReply()
        promise = await self._feeds.acknowledge(peer.name, request.cursor, request.acknowledgement)
        return wire.AcknowledgeReply(promise=promise)
