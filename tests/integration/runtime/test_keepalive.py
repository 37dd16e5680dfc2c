"""A stream on which nothing happens stays open: the server bears the pings of its clients."""

import asyncio
import datetime
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest

from proxid.runtime.provision import TrialOptions, init_trial
from proxid.runtime.provision.templates import Settings
from proxid.runtime.transport.channel import TlsFiles, new_server, open_channel

PING = 1_000
"""Milliseconds between pings here; a server's own rule would end the stream at the third, within seconds."""


async def idle(_request: bytes, _context: object) -> AsyncIterator[bytes]:
    yield b"begun"
    await asyncio.sleep(PING * 6 / 1000)
    yield b"still here"


def files(folder: Path) -> TlsFiles:
    return TlsFiles(folder / "tls.key", folder / "tls.crt", folder / "ca.crt")


async def test_an_idle_stream_outlives_many_pings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proxid.runtime.transport.channel.KEEPALIVE", PING)
    init_trial(tmp_path, TrialOptions(("acme",), ("home",), Settings()), datetime.datetime.now(datetime.UTC))
    server, port = new_server(files(tmp_path / "gateway"), "127.0.0.1:0")
    handler = grpc.unary_stream_rpc_method_handler(idle)
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("test.Idle", {"Wait": handler})])
    await server.start()
    async with open_channel(f"127.0.0.1:{port}", files(tmp_path / "parties/acme"), "gateway") as channel:
        call = channel.unary_stream("/test.Idle/Wait")
        assert [message async for message in call(b"")] == [b"begun", b"still here"]
    await server.stop(None)
