"""Requests on one stream: each is answered or refused for itself, and the stream ends when it should."""

import asyncio
from pathlib import Path
from typing import Any

import grpc
import pytest

from proxid.errors import Code, RateLimitError
from proxid.rpc.conversation import conversation
from proxid.rpc.peers import Peer, PeerRegistry
from proxid.rpc.status import code_of
from proxid.wire.v1 import common_pb2, gateway_pb2
from proxid.wire.v1.gateway_pb2_grpc import GatewayServicer, GatewayStub
from tests.support.rpc_house import channel, make_house, peers, serving

TIMEOUT = 20
SECRET = "quetzal"


def said(text: str) -> gateway_pb2.AskRequest:
    return gateway_pb2.AskRequest(message=common_pb2.SignedMessage(header=text.encode()))


def refused(code: str, text: str) -> gateway_pb2.AskOutcome:
    return gateway_pb2.AskOutcome(refused=gateway_pb2.Refusal(code=code, message=text))


class Parrot(GatewayServicer):
    """Says what it hears; refuses "refuse", breaks at "break", thinks about "wait" until it is told."""

    def __init__(self, registry: PeerRegistry) -> None:
        self.peers = registry
        self.asked, self.told = asyncio.Event(), asyncio.Event()

    @conversation("Ask", refused, "device")
    async def Converse(self, request: gateway_pb2.AskRequest, peer: Peer) -> gateway_pb2.AskOutcome:
        match request.message.header:
            case b"refuse":
                raise RateLimitError("sixty a minute")
            case b"break":
                raise ValueError(SECRET)
            case b"wait":
                self.asked.set()
                await self.told.wait()
        return gateway_pb2.AskOutcome(message=request.message)


@pytest.fixture
def house(tmp_path: Path) -> Path:
    return make_house(tmp_path)


async def ask(stream: Any, text: str) -> gateway_pb2.AskOutcome:
    async with asyncio.timeout(TIMEOUT):
        await stream.write(said(text))
        found = await stream.read()
    assert isinstance(found, gateway_pb2.AskOutcome)
    return found


async def ended(stream: Any) -> Any:
    """What a stream ends with: EOF, or the error."""
    async with asyncio.timeout(TIMEOUT):
        try:
            return await stream.read()
        except grpc.aio.AioRpcError as error:
            return error


async def test_a_refusal_is_an_answer_and_the_stream_goes_on(house: Path) -> None:
    async with serving(house, Parrot(peers(house))) as (_, address), channel(house, address, "devices/home") as to:
        stream = GatewayStub(to).Converse()
        assert (await ask(stream, "hello")).message.header == b"hello"
        limited = (await ask(stream, "refuse")).refused
        assert limited.code == Code.RATE_LIMITED.value and limited.message.endswith("sixty a minute")
        broken = (await ask(stream, "break")).refused
        assert broken.code == Code.INTERNAL.value and SECRET not in broken.message
        assert (await ask(stream, "still there")).message.header == b"still there"
        await stream.done_writing()
        assert await ended(stream) is grpc.aio.EOF and await stream.code() is grpc.StatusCode.OK


async def test_bytes_that_are_no_message_end_the_stream_and_not_the_connection(house: Path) -> None:
    async with serving(house, Parrot(peers(house))) as (_, address), channel(house, address, "devices/home") as to:
        method = "/proxid.wire.v1.Gateway/Converse"
        stream = to.stream_stream(method)()
        await stream.write(b"\xff\xff\xff")
        error = await ended(stream)
        assert code_of(error) is Code.ENCODING_INVALID
        assert (await ask(GatewayStub(to).Converse(), "hello")).message.header == b"hello"


async def test_another_role_gets_no_stream(house: Path) -> None:
    async with serving(house, Parrot(peers(house))) as (_, address), channel(house, address, "parties/acme") as to:
        stream = GatewayStub(to).Converse()
        assert code_of(await ended(stream)) is Code.PEER_REFUSED


async def test_a_revoked_certificate_ends_an_idle_stream(house: Path) -> None:
    parrot = Parrot(peers(house))
    async with serving(house, parrot) as (_, address), channel(house, address, "devices/home") as to:
        stream = GatewayStub(to).Converse()
        await ask(stream, "hello")
        parrot.peers.replace({})
        assert code_of(await ended(stream)) is Code.PEER_REFUSED


async def test_a_service_that_stops_ends_idle_streams_at_once_and_answers_what_was_asked(house: Path) -> None:
    parrot = Parrot(peers(house))
    async with serving(house, parrot) as (server, address), channel(house, address, "devices/home") as to:
        idle, busy = GatewayStub(to).Converse(), GatewayStub(to).Converse()
        await ask(idle, "hello")
        answer = asyncio.create_task(ask(busy, "wait"))
        await parrot.asked.wait()
        stopped = asyncio.create_task(server.stop(TIMEOUT))
        await asyncio.sleep(0)
        parrot.peers.close()
        assert await ended(idle) is grpc.aio.EOF
        assert not answer.done() and not stopped.done()
        parrot.told.set()
        assert (await answer).message.header == b"wait"
        assert await ended(busy) is grpc.aio.EOF
        async with asyncio.timeout(TIMEOUT / 2):
            await stopped
