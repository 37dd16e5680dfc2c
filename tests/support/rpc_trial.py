"""A server with mutual TLS and the certificates of a trial, for tests of what lies between a device and a servicer."""

import datetime
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc

from proxid.runtime.config import Trust
from proxid.runtime.config.loading import load_section
from proxid.runtime.provision import TrialOptions, init_trial
from proxid.runtime.provision.templates import Settings
from proxid.runtime.transport.channel import TlsFiles, new_server, open_channel
from proxid.runtime.transport.peers import PeerRegistry
from proxid.wire.v1 import common_pb2, gateway_pb2
from proxid.wire.v1.gateway_pb2_grpc import GatewayServicer, add_GatewayServicer_to_server


def make_trial(folder: Path) -> Path:
    """Keys and certificates of one household and one party."""
    init_trial(folder, TrialOptions(("acme",), ("home",), Settings()), datetime.datetime.now(datetime.UTC))
    return folder


def files(folder: Path) -> TlsFiles:
    """The certificate in a folder of the trial."""
    return TlsFiles(folder / "tls.key", folder / "tls.crt", folder / "ca.crt")


def peers(folder: Path) -> PeerRegistry:
    """Whom the trial's gateway lets in."""
    return PeerRegistry(load_section(Trust, folder / "gateway/trust.toml").allow_list())


@asynccontextmanager
async def serving(
    folder: Path, servicer: GatewayServicer, max_streams: int | None = None
) -> AsyncIterator[tuple[grpc.aio.Server, str]]:
    """A server and its address."""
    server, port = new_server(files(folder / "gateway"), "127.0.0.1:0", max_streams=max_streams)
    add_GatewayServicer_to_server(servicer, server)
    await server.start()
    try:
        yield server, f"127.0.0.1:{port}"
    finally:
        await server.stop(None)


def channel(folder: Path, address: str, who: str) -> grpc.aio.Channel:
    """A channel to it, shown the certificate in a folder of the trial."""
    return open_channel(address, files(folder / who), "gateway")


def said(text: str) -> gateway_pb2.AskRequest:
    """A request that is nothing but a word, in its header."""
    return gateway_pb2.AskRequest(message=common_pb2.SignedMessage(header=text.encode()))


def refused(code: str, text: str, _pushback_ms: int = 0) -> gateway_pb2.AskOutcome:
    """An answer that refuses."""
    return gateway_pb2.AskOutcome(refused=gateway_pb2.Refusal(code=code, message=text))
