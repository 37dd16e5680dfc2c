"""Requests on one stream: each is answered or refused for itself, and the stream ends when it should."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from prometheus_client import REGISTRY

from proxid.errors import Code, OverloadedError, RateLimitError
from proxid.runtime.transport.channel import new_server
from proxid.runtime.transport.methods import streaming, unary
from proxid.runtime.transport.peers import Peer, PeerRegistry
from proxid.runtime.transport.status import code_of
from proxid.runtime.transport.streams import MESSAGE_BYTES, UNDER_WAY, multiplexed_stream, ordered_stream
from proxid.wire.v1 import common_pb2, gateway_pb2, main_service_pb2
from proxid.wire.v1.gateway_pb2_grpc import GatewayServicer, GatewayStub
from proxid.wire.v1.main_service_pb2_grpc import (
    MainServiceServicer,
    MainServiceStub,
    add_MainServiceServicer_to_server,
)
from tests.support.rpc_trial import channel, files, make_trial, peers, refused, said, serving

TIMEOUT = 20
SECRET = "quetzal"
PUSHBACK = 0.2


class Parrot(GatewayServicer):
    """Says what it hears; refuses "refuse", breaks at "break", thinks about "wait" until it is told."""

    def __init__(self, registry: PeerRegistry) -> None:
        self.peers = registry
        self.asked, self.told = asyncio.Event(), asyncio.Event()

    @ordered_stream("Ask", refused, "device")
    async def Converse(self, request: gateway_pb2.AskRequest, peer: Peer) -> gateway_pb2.AskOutcome:
        match request.message.header:
            case b"refuse":
                raise RateLimitError("sixty a minute")
            case b"break":
                raise ValueError(SECRET)
            case b"overload":
                raise OverloadedError("too much", PUSHBACK)
            case b"wait":
                self.asked.set()
                await self.told.wait()
        return gateway_pb2.AskOutcome(message=request.message)

    @unary("device")
    async def Ask(self, request: gateway_pb2.AskRequest, peer: Peer) -> gateway_pb2.AskReply:
        raise OverloadedError("too much", PUSHBACK)


@pytest.fixture
def trial(tmp_path: Path) -> Path:
    return make_trial(tmp_path)


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


async def test_a_refusal_is_an_answer_and_the_stream_goes_on(trial: Path) -> None:
    async with serving(trial, Parrot(peers(trial))) as (_, address), channel(trial, address, "devices/home") as to:
        stream = GatewayStub(to).Converse()
        assert (await ask(stream, "hello")).message.header == b"hello"
        limited = (await ask(stream, "refuse")).refused
        assert limited.code == Code.RATE_LIMITED.value and limited.message.endswith("sixty a minute")
        broken = (await ask(stream, "break")).refused
        assert broken.code == Code.INTERNAL.value and SECRET not in broken.message
        assert (await ask(stream, "still there")).message.header == b"still there"
        await stream.done_writing()
        assert await ended(stream) is grpc.aio.EOF and await stream.code() is grpc.StatusCode.OK


async def test_a_caller_that_comes_back_at_once_again_and_again_hears_of_its_refusals_later(
    trial: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing that it has sent on a stream is looked at meanwhile."""
    monkeypatch.setattr("proxid.runtime.transport.throttle.SPARE_REFUSALS", 4)
    monkeypatch.setattr("proxid.runtime.transport.throttle.MEMORY", 3600.0)
    async with serving(trial, Parrot(peers(trial))) as (_, address), channel(trial, address, "devices/home") as to:
        stream = GatewayStub(to).Converse()
        for _ in range(5):
            assert (await ask(stream, "overload")).refused.code == Code.OVERLOADED.value
        begun = time.monotonic()
        for _ in range(2):
            assert (await ask(stream, "overload")).refused.code == Code.OVERLOADED.value
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await GatewayStub(to).Ask(said("overload"))
        assert code_of(error.value) is Code.OVERLOADED and time.monotonic() - begun >= 3 * PUSHBACK
        assert (await ask(stream, "hello")).message.header == b"hello"


async def test_bytes_that_are_no_message_end_the_stream_and_not_the_connection(trial: Path) -> None:
    async with serving(trial, Parrot(peers(trial))) as (_, address), channel(trial, address, "devices/home") as to:
        method = "/proxid.wire.v1.Gateway/Converse"
        stream = to.stream_stream(method)()
        await stream.write(b"\xff\xff\xff")
        error = await ended(stream)
        assert code_of(error) is Code.ENCODING_INVALID
        assert (await ask(GatewayStub(to).Converse(), "hello")).message.header == b"hello"


async def test_another_role_gets_no_stream(trial: Path) -> None:
    async with serving(trial, Parrot(peers(trial))) as (_, address), channel(trial, address, "parties/acme") as to:
        stream = GatewayStub(to).Converse()
        assert code_of(await ended(stream)) is Code.PEER_REFUSED


async def test_a_revoked_certificate_ends_an_idle_stream(trial: Path) -> None:
    parrot = Parrot(peers(trial))
    async with serving(trial, parrot) as (_, address), channel(trial, address, "devices/home") as to:
        stream = GatewayStub(to).Converse()
        await ask(stream, "hello")
        parrot.peers.replace({})
        assert code_of(await ended(stream)) is Code.PEER_REFUSED


def cancelled_asks() -> float:
    return REGISTRY.get_sample_value("proxid_calls_total", {"method": "Ask", "code": "caller_gone"}) or 0.0


async def test_a_request_whose_caller_has_gone_is_counted_as_that(trial: Path) -> None:
    parrot, before = Parrot(peers(trial)), cancelled_asks()
    async with serving(trial, parrot) as (_, address), channel(trial, address, "devices/home") as to:
        stream = GatewayStub(to).Converse()
        await stream.write(said("wait"))
        await parrot.asked.wait()
        stream.cancel()
        async with asyncio.timeout(TIMEOUT):
            while cancelled_asks() == before:  # noqa: ASYNC110 - nothing signals it
                await asyncio.sleep(0.01)
    assert cancelled_asks() == before + 1


async def test_a_service_that_stops_ends_idle_streams_at_once_and_answers_what_was_asked(trial: Path) -> None:
    parrot = Parrot(peers(trial))
    async with serving(trial, parrot) as (server, address), channel(trial, address, "devices/home") as to:
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


def items(batch: main_service_pb2.ForwardBatch) -> list[main_service_pb2.ForwardRequest]:
    return list(batch.requests)


def together(done: list[main_service_pb2.ForwardOutcome]) -> main_service_pb2.ForwardOutcomes:
    return main_service_pb2.ForwardOutcomes(outcomes=done)


LARGE = 100_000
"""Bytes of an answer: sixty of them together are more than a peer accepts."""


class Many(MainServiceServicer):
    """Answers each with LARGE bytes, all of them when the last has come."""

    def __init__(self, registry: PeerRegistry, count: int) -> None:
        self.peers = registry
        self.all = asyncio.Barrier(count)
        self.taken = 0

    @multiplexed_stream(items, together, "device")
    async def Forward(self, request: main_service_pb2.ForwardRequest, peer: Peer) -> main_service_pb2.ForwardOutcome:
        self.taken += 1
        await self.all.wait()
        reply = main_service_pb2.ForwardReply(message=common_pb2.SignedMessage(header=bytes(LARGE)))
        return main_service_pb2.ForwardOutcome(number=request.number, reply=reply)

    @streaming("device", endless=True)
    async def Releases(self, request: object, peer: Peer) -> AsyncIterator[main_service_pb2.Release]:
        yield main_service_pb2.Release(cursor=1)
        await asyncio.sleep(3600)


def batch(numbers: range) -> main_service_pb2.ForwardBatch:
    return main_service_pb2.ForwardBatch(requests=[main_service_pb2.ForwardRequest(number=n) for n in numbers])


@asynccontextmanager
async def many(trial: Path, count: int) -> AsyncIterator[tuple[Many, Any]]:
    servicer = Many(peers(trial), count)  # type: ignore[abstract]
    server, port = new_server(files(trial / "gateway"), "127.0.0.1:0")
    add_MainServiceServicer_to_server(servicer, server)
    await server.start()
    async with channel(trial, f"127.0.0.1:{port}", "devices/home") as to:
        yield servicer, MainServiceStub(to)
    await server.stop(None)


async def test_answers_that_are_done_together_travel_in_messages_that_a_peer_accepts(trial: Path) -> None:
    async with many(trial, 60) as (_, stub):
        stream = stub.Forward()
        await stream.write(batch(range(60)))
        found: set[int] = set()
        async with asyncio.timeout(TIMEOUT):
            while len(found) < 60:
                outcomes = await stream.read()
                assert outcomes.ByteSize() <= MESSAGE_BYTES
                found |= {one.number for one in outcomes.outcomes}
        assert found == set(range(60))


async def test_who_does_not_take_answers_is_not_read_any_more(trial: Path) -> None:
    async with many(trial, 1) as (servicer, stub):
        stream = stub.Forward()

        async def send() -> None:
            for first in range(0, 6400, 64):
                await stream.write(batch(range(first, first + 64)))

        sending = asyncio.create_task(send())
        last = -1
        while last != servicer.taken or last < UNDER_WAY:  # until nothing more is taken
            last = servicer.taken
            await asyncio.sleep(0.5)
        assert last <= 4 * UNDER_WAY  # of 6,400
        sending.cancel()


async def test_a_service_that_stops_ends_what_would_never_end(trial: Path) -> None:
    async with many(trial, 1) as (servicer, stub):
        stream = stub.Releases(main_service_pb2.ReleasesRequest())
        assert (await stream.read()).cursor == 1
        servicer.peers.close()
        error = await ended(stream)
        assert error.code() is grpc.StatusCode.UNAVAILABLE
