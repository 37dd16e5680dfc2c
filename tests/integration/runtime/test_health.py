"""Health and reflection answer peers on the list alone; a stream ends with its caller's certificate."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from proxid.errors import Code
from proxid.runtime.transport.budget import OUTSIDERS
from proxid.runtime.transport.channel import new_server
from proxid.runtime.transport.health import WATCHES, Health, Reflection
from proxid.runtime.transport.methods import streaming
from proxid.runtime.transport.peers import PeerRegistry, peer_of_certificate
from proxid.runtime.transport.status import CODE_KEY, code_of
from proxid.runtime.transport.streams import ordered_stream
from proxid.wire.v1 import gateway_pb2
from proxid.wire.v1.gateway_pb2_grpc import (
    FeedServicer,
    FeedStub,
    GatewayServicer,
    GatewayStub,
    add_FeedServicer_to_server,
    add_GatewayServicer_to_server,
)
from tests.support.rpc_trial import channel, files, make_trial, peers, refused, said

SERVICE = "proxid.wire.v1.Gateway"


class Gateway(GatewayServicer, FeedServicer):
    def __init__(self, admitted: PeerRegistry) -> None:
        self.peers = admitted

    @ordered_stream("Ask", refused, "device")
    async def Converse(self, request: Any, peer: Any) -> gateway_pb2.AskOutcome:
        return gateway_pb2.AskOutcome(message=request.message)

    @streaming("party", endless=True)
    async def Subscribe(self, request: Any, peer: Any) -> AsyncIterator[gateway_pb2.FeedGroup]:
        yield gateway_pb2.FeedGroup(party=peer.name)
        await asyncio.sleep(60)


@asynccontextmanager
async def serving(folder: Path, admitted: PeerRegistry) -> AsyncIterator[str]:
    server, port = new_server(files(folder / "gateway"), "127.0.0.1:0")
    add_GatewayServicer_to_server(Gateway(admitted), server)
    add_FeedServicer_to_server(Gateway(admitted), server)
    health = Health(admitted)
    health_pb2_grpc.add_HealthServicer_to_server(health, server)
    reflection_pb2_grpc.add_ServerReflectionServicer_to_server(Reflection(admitted, (SERVICE,)), server)
    await health.set("", health_pb2.HealthCheckResponse.SERVING)
    await server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        await server.stop(None)


async def first(call: Any) -> Any:
    """The first reply, or the error."""
    try:
        reply = await call if hasattr(call, "__await__") else await call.read()
        if reply is not grpc.aio.EOF:
            return reply
        # A stream that ends while its request is on the way is over for the reader before its status is there.
        said = dict(await call.trailing_metadata())
        return Code(said[CODE_KEY]) if CODE_KEY in said else await call.code()
    except grpc.aio.AioRpcError as error:
        return code_of(error)


async def replies(found: grpc.aio.Channel) -> list[Any]:
    """What Check, Watch, reflection and List say."""
    stub = health_pb2_grpc.HealthStub(found)
    asked = iter([reflection_pb2.ServerReflectionRequest(list_services="")])
    reflected = reflection_pb2_grpc.ServerReflectionStub(found).ServerReflectionInfo(asked, timeout=20)
    request = health_pb2.HealthCheckRequest()
    listed = found.unary_unary(
        "/grpc.health.v1.Health/List", response_deserializer=health_pb2.HealthListResponse.FromString
    )
    calls = (stub.Check(request, timeout=20), stub.Watch(request), reflected, listed(b"", timeout=20))
    return [await first(call) for call in calls]


async def test_who_is_not_on_the_list_learns_nothing(tmp_path: Path) -> None:
    folder = make_trial(tmp_path)
    async with serving(folder, peers(folder)) as address:
        for who in ("devices/home", "parties/acme", "auditor", "witness"):
            async with channel(folder, address, who) as found:
                check, watch, reflected, listed = await replies(found)
                assert listed.statuses[""].status == check.status
                assert check.status == watch.status == health_pb2.HealthCheckResponse.SERVING
                assert [s.name for s in reflected.list_services_response.service] == [SERVICE]
        for who in ("main-service", "gateway"):  # of the CA, and on no list of the gateway's
            async with channel(folder, address, who) as found:
                assert await replies(found) == [Code.PEER_REFUSED] * 4


async def test_watches_are_bounded_and_end_with_the_list(tmp_path: Path) -> None:
    folder = make_trial(tmp_path)
    admitted = peers(folder)
    async with serving(folder, admitted) as address, channel(folder, address, "devices/home") as found:
        stub, request = health_pb2_grpc.HealthStub(found), health_pb2.HealthCheckRequest()
        watches = [stub.Watch(request) for _ in range(WATCHES)]
        assert all([(await first(watch)).status for watch in watches])
        assert await first(stub.Watch(request)) is Code.RATE_LIMITED
        admitted.replace({})
        assert {await first(watch) for watch in watches} == {Code.PEER_REFUSED}


async def test_reflection_is_bounded_and_ends_with_the_list(tmp_path: Path) -> None:
    folder = make_trial(tmp_path)
    admitted = peers(folder)
    request = reflection_pb2.ServerReflectionRequest(list_services="")
    async with (
        serving(folder, admitted) as address,
        channel(folder, address, "devices/home") as found,
        channel(folder, address, "parties/acme") as other,
    ):
        stub = reflection_pb2_grpc.ServerReflectionStub(found)
        calls = [stub.ServerReflectionInfo() for _ in range(OUTSIDERS.streams)]
        for call in calls:
            await call.write(request)
        assert all([(await first(call)).HasField("list_services_response") for call in calls])
        async with asyncio.timeout(20):
            assert await first(stub.ServerReflectionInfo()) is Code.OVERLOADED
        theirs = reflection_pb2_grpc.ServerReflectionStub(other).ServerReflectionInfo()
        await theirs.write(request)
        assert (await first(theirs)).HasField("list_services_response")
        admitted.replace({})
        async with asyncio.timeout(20):
            assert {await first(call) for call in (*calls, theirs)} == {Code.PEER_REFUSED}


@pytest.mark.parametrize("left", [1.0])
async def test_open_streams_end_with_their_certificate(tmp_path: Path, left: float) -> None:
    folder = make_trial(tmp_path)
    ends = min(
        peer_of_certificate((folder / who / "tls.crt").read_bytes()).ends for who in ("devices/home", "parties/acme")
    )
    begun = time.monotonic()
    admitted = peers(folder)
    admitted.clock = lambda: ends - left + time.monotonic() - begun
    async with (
        serving(folder, admitted) as address,
        channel(folder, address, "devices/home") as home,
        channel(folder, address, "parties/acme") as acme,
    ):
        talk = GatewayStub(home).Converse()
        await talk.write(said("hello"))
        assert (await talk.read()).HasField("message")
        feed = FeedStub(acme).Subscribe(gateway_pb2.SubscribeRequest())
        watch = health_pb2_grpc.HealthStub(home).Watch(health_pb2.HealthCheckRequest())
        assert (await feed.read()).party == "acme" and (await watch.read()).status
        async with asyncio.timeout(20):
            assert [await first(call) for call in (talk, feed, watch)] == [Code.PEER_REFUSED] * 3
        assert admitted.clock() >= ends
        assert await first(GatewayStub(home).Converse()) is Code.PEER_REFUSED
