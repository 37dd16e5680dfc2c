"""Hostile clients of a trial, for benchmarks: each sends the largest messages that the wire allows, without a pause."""

import asyncio
import itertools
import os
import time
from pathlib import Path
from typing import Final

import grpc

from gateway.config import GatewayConfig
from proxid.cli.demo.trial import SERVICES, DemoTrial
from proxid.clients.household.config import DeviceConfig
from proxid.errors import UpstreamError
from proxid.runtime.config import load
from proxid.runtime.transport.channel import TlsFiles
from proxid.runtime.transport.fields import MOST

_ASK: Final = "/proxid.wire.v1.Gateway/Ask"
_MESSAGE, _BLOCKS = 1, 2
"""Field of a request that holds the signed message; of that, its blocks."""
_ROOM: Final = 64
"""Bytes for what is around a message."""
_CALL_SECONDS: Final = 30.0
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_UNANSWERED: Final = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)


def messages(limit: int) -> list[bytes]:
    """Requests of nearly `limit` bytes: of one block, of as many as may be, of as many as there is room for."""
    room = limit - _ROOM
    return [_filled(room, 1), _filled(room, MOST - 2), _filled(room, room // 2)]


def _filled(room: int, blocks: int) -> bytes:
    return _field(_MESSAGE, _field(_BLOCKS, bytes(room // blocks - 2)) * blocks)


def _field(number: int, data: bytes) -> bytes:
    size, out = len(data), bytes([number << 3 | 2])
    while size > 0x7F:
        out, size = out + bytes([size & 0x7F | 0x80]), size >> 7
    return out + bytes([size]) + data


async def abuse(trial: DemoTrial, clients: int, seconds: float) -> int:
    """Let clients with the certificate of a household send to the gateway; how many messages were answered.

    Raises:
        UpstreamError: none was.
    """
    config, deadline = trial.devices()[0], time.monotonic() + seconds
    limit = load(GatewayConfig, trial.folder / "gateway/gateway.toml").max_message
    answered = await asyncio.gather(*(_client(config, limit, i, deadline) for i in range(clients)))
    if not sum(answered):
        raise UpstreamError("the gateway answered none of the messages")
    return sum(answered)


async def _client(config: DeviceConfig, limit: int, number: int, deadline: float) -> int:
    kinds, answered = messages(limit), 0
    async with _channel(config) as channel:
        call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(_ASK)
        for turn in itertools.count(number):
            if time.monotonic() >= deadline:
                break
            try:
                await call(kinds[turn % len(kinds)], timeout=_CALL_SECONDS)
            except grpc.aio.AioRpcError as error:
                answered += error.code() not in _UNANSWERED
    return answered


def _channel(config: DeviceConfig) -> grpc.aio.Channel:
    """A channel with a connection of its own: others of a process share theirs."""
    key, certificate, authority = TlsFiles(config.tls.key, config.tls.certificate, config.tls.ca).read()
    credentials = grpc.ssl_channel_credentials(authority, key, certificate)
    options = [("grpc.use_local_subchannel_pool", 1), ("grpc.ssl_target_name_override", config.gateway_name)]
    return grpc.aio.secure_channel(config.gateway, credentials, options=options)


def memory(trial: DemoTrial) -> dict[str, float]:
    """Resident memory in MiB by service, with its workers and without its store, read from /proc."""
    found = dict.fromkeys(SERVICES, 0.0)
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes().decode("utf-8", "replace")
            pages = int((entry / "statm").read_text().split()[1])
        except OSError:
            continue
        for name in SERVICES:
            if f"{trial.folder}/{name}/" in line and "server" not in line.split("\0")[0]:
                found[name] += pages * _PAGE / 2**20
    return found
