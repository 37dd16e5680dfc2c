"""The Identity Screener's client of the Main Service: the one caller that MS accepts."""

import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

import grpc

from gateway.forwarding import Forwarding
from proxid.crypto.sansig import SignedMessage
from proxid.errors import (
    Code,
    EpochError,
    OverloadedError,
    PolicyError,
    ProxidError,
    StaleKeyError,
    UpstreamClockError,
    UpstreamError,
    UpstreamRefusedError,
)
from proxid.evidence.events import EpochOpened
from proxid.protocol import record, request
from proxid.protocol.opening import EpochOpening
from proxid.runtime.transport.convert import from_wire, to_wire
from proxid.runtime.transport.fairness import Turn
from proxid.runtime.transport.status import TABLE, code_of
from proxid.wire.v1 import common_pb2
from proxid.wire.v1 import main_service_pb2 as wire
from proxid.wire.v1.common_pb2_grpc import EvidenceStub
from proxid.wire.v1.main_service_pb2_grpc import MainServiceStub

_UNREACHED: Final = frozenset({
    grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED,
    grpc.StatusCode.UNKNOWN, grpc.StatusCode.INTERNAL,
})  # fmt: skip
_KNOWN_KEYS: Final = 100_000
_Asked = TypeVar("_Asked")
_Reply = TypeVar("_Reply")
_ERASE_SECONDS: Final = 120.0
"""MS waits for a group with the person to be released, and rewrites its store's files."""


@dataclass(frozen=True, slots=True)
class ReleasedGroup:
    """One group, portion of entries or content message for one party, as MS sends it: nothing is checked yet.

    Attributes:
        records: none if one of them is no record. audience: `TYPE|AUDIENCE` of entries and contents.
    """

    cursor: int
    party: str
    epoch: int
    group: int
    records: tuple[SignedMessage, ...]
    contents: bytes = b""
    audience: str = ""


class MainServiceClient:
    """Calls MS over one channel; a credential travels with the first message of each epoch key.

    Args:
        channel: to MS, with the gateway's certificate. timeout: seconds for one call.
    """

    def __init__(self, channel: grpc.aio.Channel, timeout: float = 20.0) -> None:
        self._channel = channel
        self._stub = MainServiceStub(channel)
        self._evidence = EvidenceStub(channel)
        self._timeout = timeout
        self._known: OrderedDict[bytes, None] = OrderedDict()
        self._asked = Forwarding(self._stub, timeout)

    @property
    def connected(self) -> bool:
        """Whether there is a line to MS, and not an attempt at one alone."""
        return bool(self._channel.get_state() is grpc.ChannelConnectivity.READY)

    async def close(self) -> None:
        """End the stream of requests."""
        await self._asked.close()

    async def time(self, opening: bytes, nonce: bytes) -> bytes:
        """MS's signed time, in answer to a nonce; raises UpstreamError, UpstreamRefusedError.

        Args:
            opening: the signed word that the current epoch has begun, or empty.
        """
        asked = wire.TimeRequest(opening=opening, nonce=nonce)
        return bytes((await self._call(self._stub.TellTime, asked)).time)

    async def epoch(self, opening: EpochOpening, policies: Sequence[bytes]) -> tuple[EpochOpened, bytes]:
        """MS's signed keys of an epoch, and the digest of the policy document that MS would have it go by.

        Args:
            opening: the signed word that the epoch has begun.
            policies: digests of the documents that are held here, the one that should count first.

        Raises:
            EpochError: MS has ended it. PolicyError: MS holds none of them. UpstreamError, UpstreamRefusedError.
        """
        asked = wire.EpochRequest(epoch=opening.epoch, policies=policies, opening=opening.encode())
        with _heard():
            try:
                reply = _said(await self._stub.GetEpoch(asked, timeout=self._timeout))
            except grpc.aio.AioRpcError as error:
                if code_of(error) is Code.EPOCH_NOT_CURRENT:
                    raise EpochError("the main service has ended this epoch: the next one is served") from None
                if code_of(error) is Code.NO_COMMON_POLICY:
                    text = "no policy document counts at both services: activate the same one at both"
                    raise PolicyError(text) from None
                raise
        return EpochOpened(bytes(reply.epoch_key), feeds=tuple(reply.feed_keys)), bytes(reply.newest)

    async def ask(self, message: SignedMessage, credential: bytes, turn: Turn | None = None) -> SignedMessage:
        """Forward a sanitised request; the answer.

        Args:
            turn: its caller's time; how long MS says that it has waited for somebody else is added.

        Raises:
            UpstreamError: it may not have arrived. UpstreamRefusedError: MS refused it. OverloadedError: MS is, or did
                not come to it in its caller's time.
        """
        method = self._ask_alone if request.asks_access(message) else partial(self._ask_on_stream, turn=turn or Turn())
        return from_wire((await self._forward(method, message, credential)).message)

    async def _ask_alone(self, asked: wire.ForwardRequest) -> wire.ForwardReply:
        # It makes MS read all that it holds of a person: nobody else's answer shall wait for that.
        return await self._call(self._stub.Ask, asked)

    async def _ask_on_stream(self, asked: wire.ForwardRequest, turn: Turn) -> wire.ForwardReply:
        begun = time.monotonic()
        try:
            outcome = await self._asked.ask(asked, turn.until)
        except UpstreamError:
            turn.untold = time.monotonic() - begun >= self._timeout
            raise
        turn.waited += outcome.waited_ms / 1000
        if outcome.HasField("reply"):
            return outcome.reply
        raise _refusal(outcome.refused)

    async def consent(self, message: SignedMessage, credential: bytes) -> tuple[SignedMessage, bytes]:
        """Forward a sanitised consent message; the acknowledgement, and MS's promise. Raises as `ask`."""
        reply = await self._forward(self._consent, message, credential)
        return from_wire(reply.message), bytes(reply.promise)

    async def _consent(self, asked: wire.ForwardRequest) -> wire.ForwardReply:
        return await self._call(self._stub.Consent, asked)

    async def consistency(self, old: int, size: int, generation: int) -> Sequence[bytes]:
        """Proof that one head of MS's log is the beginning of another; raises as `erase`."""
        request = common_pb2.ConsistencyRequest(old=old, size=size, log=generation)
        return list((await self._call(self._evidence.Consistency, request)).hashes)

    async def erase(self, prox_id: str, tag: bytes) -> None:
        """Have MS forget a PROX_ID, whose evidence has this subject tag; raises UpstreamError, UpstreamRefusedError."""
        await self._call(self._stub.Erase, wire.EraseRequest(prox_id=prox_id, tag=tag), _ERASE_SECONDS)

    async def restrict(
        self, prox_id: str, restricted: bool, lost: bool = False, word: bytes = b"", credential: bytes = b""
    ) -> bytes:
        """Have MS log and release nothing of a PROX_ID, or again what is consented to; raises as `erase`.

        Args:
            lost: its key was lost, so that this does not end. word: of an objection, which MS logs. credential: of the
                key, with a word.

        Returns:
            MS's promise that the word is in its log; empty of one from before there were any.
        """
        asked = wire.RestrictRequest(
            prox_id=prox_id, restricted=restricted, lost=lost, word=word, credential=credential
        )
        return bytes((await self._call(self._stub.Restrict, asked, _ERASE_SECONDS)).promise)

    async def _forward(
        self, method: Callable[[wire.ForwardRequest], Awaitable[wire.ForwardReply]], message: SignedMessage,
        credential: bytes,
    ) -> wire.ForwardReply:  # fmt: skip
        key = message.header.signer
        asked = wire.ForwardRequest(message=to_wire(message))
        if key not in self._known:
            asked.credential = credential
        try:
            reply = await method(asked)
        except _CredentialNeeded:
            asked.credential = credential
            reply = await method(asked)
        self._remember(key)
        return reply

    async def _call(
        self, method: grpc.aio.UnaryUnaryMultiCallable[_Asked, _Reply], asked: _Asked, seconds: float | None = None
    ) -> _Reply:
        with _heard():
            return _said(await method(asked, timeout=seconds or self._timeout))

    def _remember(self, key: bytes) -> None:
        self._known[key] = None
        if len(self._known) > _KNOWN_KEYS:
            self._known.popitem(last=False)

    async def releases(self, after: int) -> AsyncIterator[ReleasedGroup]:
        """Groups released after a cursor, as they come; ends with UpstreamError when the stream breaks."""
        with _heard():
            async for found in self._stub.Releases(wire.ReleasesRequest(after=after)):
                release = _said(found)
                records = _readable(release.records)
                place = (release.cursor, release.party, release.epoch, release.group)
                yield ReleasedGroup(*place, records, release.contents, release.audience)

    async def acknowledge(self, cursor: int) -> None:
        """Tell MS that everything up to a cursor is stored here."""
        await self._call(self._stub.Acknowledge, wire.AcknowledgeReleases(cursor=cursor))


def _readable(records: Iterable[common_pb2.SignedMessage]) -> tuple[SignedMessage, ...]:
    try:
        found = tuple(from_wire(one) for one in records)
    except ProxidError:
        return ()
    return found if all(signed.header.blocks == record.BLOCKS for signed in found) else ()


class _CredentialNeeded(UpstreamRefusedError):
    """MS wants to see the credential again."""


_KINDS: Final[dict[Code, type[UpstreamRefusedError]]] = {
    Code.CREDENTIAL_NEEDED: _CredentialNeeded,
    Code.SEAL_INVALID: StaleKeyError,
    Code.EPOCH_NOT_CURRENT: StaleKeyError,
    Code.CLOCK_DOUBTED: UpstreamClockError,
}


@contextmanager
def _heard() -> Iterator[None]:
    """A call to MS: raises UpstreamError, UpstreamRefusedError."""
    try:
        yield
    except grpc.aio.AioRpcError as error:
        raise _translated(error) from None


def _said(reply: _Reply | None) -> _Reply:
    """What MS said; gRPC gives None for bytes that are no message, which is as if nothing had come."""
    if reply is None:
        raise UpstreamError("what the Main Service says cannot be read")
    return reply


def _translated(error: grpc.aio.AioRpcError) -> UpstreamError | UpstreamRefusedError:
    code = code_of(error)
    if error.code() in _UNREACHED or code is None:
        return UpstreamError("the Main Service cannot be reached")
    return _refused(code)


def _refusal(code: str) -> UpstreamError | UpstreamRefusedError | OverloadedError:
    """What a code in a batch means to its request; one that is not in the table may mean anything."""
    if code == Code.OVERLOADED:
        return OverloadedError("the Main Service is")
    known = TABLE.get(Code(code)) if code in set(Code) else None
    if known is None or known[0] in _UNREACHED:
        return UpstreamError("the Main Service cannot be reached")
    return _refused(Code(code))


def _refused(code: Code) -> UpstreamRefusedError:
    return _KINDS.get(code, UpstreamRefusedError)(f"the Main Service refused the message ({code.value})")
