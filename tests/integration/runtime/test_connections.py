"""Connections that come to nothing, or to nothing any more, end; whoever asks again is answered on another."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from proxid.clients.household.stream_pool import StreamPool
from proxid.runtime.transport.channel import new_server
from proxid.runtime.transport.streams import ordered_stream
from proxid.wire.v1 import gateway_pb2
from proxid.wire.v1.gateway_pb2_grpc import GatewayServicer, GatewayStub
from tests.support.rpc_trial import channel, files, make_trial, peers, refused, said, serving

TIMEOUT = 20
LIMITS = "proxid.runtime.transport.channel"


class Echo(GatewayServicer):
    """Says what it hears."""

    def __init__(self, folder: Path) -> None:
        self.peers = peers(folder)

    @ordered_stream("Ask", refused, "device")
    async def Converse(self, request: gateway_pb2.AskRequest, peer: Any) -> gateway_pb2.AskOutcome:
        return gateway_pb2.AskOutcome(message=request.message)


async def test_a_connection_on_which_nobody_greets_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{LIMITS}.HANDSHAKE", 300)
    server, port = new_server(files(make_trial(tmp_path) / "gateway"), "127.0.0.1:0")
    await server.start()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    async with asyncio.timeout(TIMEOUT):
        assert await reader.read() == b""
    writer.close()
    await server.stop(None)


async def test_an_old_connection_ends_with_its_idle_streams_and_the_next_question_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, milliseconds in (("AGE", 300), ("AGE_GRACE", 200)):
        monkeypatch.setattr(f"{LIMITS}.{name}", milliseconds)
    folder = make_trial(tmp_path)
    async with (
        serving(folder, Echo(folder), max_streams=8) as (_, address),
        channel(folder, address, "devices/home") as to,
    ):
        streams = StreamPool(GatewayStub(to), TIMEOUT)
        assert (await streams.ask(said("first"))).message.header == b"first"
        (idle,) = streams._idle
        async with asyncio.timeout(TIMEOUT):
            while not idle.done():  # noqa: ASYNC110 - nothing signals it
                await asyncio.sleep(0.02)
        assert (await streams.ask(said("second"))).message.header == b"second"
