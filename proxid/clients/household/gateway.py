"""A device's calls to the gateway, repeated when they fail on the way (DESIGN 5.2(5))."""

import time
from dataclasses import dataclass
from typing import NamedTuple

import grpc

from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.stream_pool import StreamPool
from proxid.crypto.identity import Enrolment, Link
from proxid.crypto.sansig import SignedMessage
from proxid.runtime.transport.channel import TlsFiles, open_channel
from proxid.runtime.transport.convert import from_wire, to_wire
from proxid.runtime.transport.retry import SECONDS, Attempts, call
from proxid.wire.v1 import common_pb2 as common
from proxid.wire.v1 import gateway_pb2 as wire
from proxid.wire.v1.common_pb2_grpc import EvidenceStub
from proxid.wire.v1.gateway_pb2_grpc import GatewayStub


@dataclass(frozen=True, slots=True)
class Parameters:
    """What the gateway says of the current epoch, and its time; not trusted until verified."""

    epoch: int
    epoch_key: bytes
    time_ms: int


class SentBefore(NamedTuple):
    """What a party was sent of a person's before a consent changed: no change takes it back.

    Attributes:
        records: under the person's name or alias. unacknowledged: of these, which the party may hold.
        contents: messages without names among which the person's contents may be.
    """

    party: str
    records: int
    unacknowledged: int
    contents: int


class GatewayClient:
    """One channel to the gateway, with the household's certificate.

    Args:
        channel: closed by `close`. timeout: seconds of one call. limit: calls, and deadline: seconds before giving up.
        peer: for messages.
    """

    def __init__(
        self, channel: grpc.aio.Channel, timeout: float, limit: int, peer: str = "the gateway",
        deadline: float = SECONDS,
    ) -> None:  # fmt: skip
        self._channel = channel
        self._stub = GatewayStub(channel)
        self._evidence = EvidenceStub(channel)
        self._streams = StreamPool(self._stub, timeout)
        self._timeout = timeout
        self._limit = limit
        self._peer = peer
        self._deadline = deadline

    @classmethod
    def open(cls, config: DeviceConfig) -> "GatewayClient":
        """The client of a configuration; raises ConfigError for a bad certificate, or if no gateway is accepted."""
        tls = TlsFiles(config.tls.key, config.tls.certificate, config.tls.ca)
        tls.verify_issued()
        return cls(
            open_channel(config.gateway, tls, config.gateway_name, config.trust.certificates("gateway")),
            config.timeout,
            config.attempts,
            f"the gateway at {config.gateway}",
            config.deadline,
        )

    def attempts(self) -> Attempts:
        """A fresh count."""
        return Attempts(self._limit, self._peer, until=time.monotonic() + self._deadline)

    async def close(self) -> None:
        """Close the channel."""
        await self._channel.close()

    async def parameters(self) -> Parameters:
        """The current epoch; raises RefusedError, UpstreamError."""
        request = wire.ParametersRequest()
        reply = await call(lambda: self._stub.GetParameters(request, timeout=self._timeout), self.attempts())
        return Parameters(reply.epoch, bytes(reply.epoch_key), reply.time_ms)

    async def policy(self, digest: bytes) -> str:
        """The text of a policy document, to be checked by its digest; raises RefusedError, UpstreamError."""
        request = wire.PolicyRequest(digest=digest)
        return str((await call(lambda: self._stub.GetPolicy(request, timeout=self._timeout), self.attempts())).text)

    async def link(self, enrolment: Enrolment, link: Link) -> tuple[str, bool]:
        """Register an epoch key: PROX_ID, and whether it counts as seasoned. Raises RefusedError, UpstreamError."""
        request = wire.LinkRequest(enrolment=enrolment.encode(), link=link.encode())
        reply = await call(lambda: self._stub.Link(request, timeout=self._timeout), self.attempts())
        return reply.prox_id, reply.seasoned

    async def consent(
        self, vector: bytes, message: SignedMessage
    ) -> tuple[SignedMessage, tuple[bytes, bytes], tuple[SentBefore, ...]]:  # fmt: skip
        """Change a consent: the acknowledgement, both services' promises that it is logged, what had been sent before.

        Raises:
            RefusedError, UpstreamError.
        """
        request = wire.ConsentRequest(vector=vector, message=to_wire(message))
        reply = await call(lambda: self._stub.Consent(request, timeout=self._timeout), self.attempts())
        sent = (SentBefore(row.party, row.records, row.unacknowledged, row.contents) for row in reply.sent)
        return from_wire(reply.acknowledgement), (bytes(reply.promise), bytes(reply.service_promise)), tuple(sent)

    async def right(self, enrolment: Enrolment, signed: bytes) -> tuple[bytes, str, bytes]:
        """Exercise a right: receipt, empty while an erasure is under way; for access and status IS's share; the promise
        that it is logged.

        Raises:
            RefusedError, UpstreamError.
        """
        request = wire.RightRequest(enrolment=enrolment.encode(), request=signed)
        reply = await call(lambda: self._stub.Right(request, timeout=self._timeout), self.attempts())
        return bytes(reply.receipt), reply.share, bytes(reply.promise)

    async def consistency(self, old: int, size: int, generation: int, other: bool) -> list[bytes]:
        """Proof that one head of a service's log is the beginning of another; raises RefusedError, UpstreamError."""
        request = common.ConsistencyRequest(old=old, size=size, log=generation, other=other)
        reply = await call(lambda: self._evidence.Consistency(request, timeout=self._timeout), self.attempts())
        return list(reply.hashes)

    async def ask(self, message: SignedMessage, attempts: Attempts) -> SignedMessage:
        """Ask: the response. Raises RefusedError, UpstreamError; `attempts` tells how many calls it took."""
        request = wire.AskRequest(message=to_wire(message))
        outcome = await call(lambda: self._streams.ask(request, attempts.until), attempts)
        return from_wire(outcome.message)
