"""A message of too many fields or bytes is refused before it is parsed, by every method, and takes no memory."""

import asyncio
import gc
import resource
from contextlib import suppress
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf import descriptor_pool

from proxid.errors import Code, OversizedError
from proxid.runtime.transport.channel import open_channel
from proxid.runtime.transport.fields import MOST, request_type, verify_count
from proxid.runtime.transport.methods import MAX_BATCH_MESSAGE, unary
from proxid.runtime.transport.status import code_of
from proxid.wire.v1 import common_pb2, gateway_pb2, main_service_pb2
from proxid.wire.v1.gateway_pb2_grpc import GatewayServicer
from tests.support.rpc_trial import channel, files, make_trial, peers, serving
from tests.support.trial import Trial, running

EMPTY = b"\x12\x00"
"""An empty field 2: of SignedMessage a block, of others something unknown."""
# Who may call: the frame looks at the caller before it looks at the message.
WHO = {"Gateway": "devices/household-1", "Feed": "parties/acme", "Evidence": "auditor", "MainService": "gateway"}


class Refusing(GatewayServicer):
    """Refuses whoever asks."""

    def __init__(self, folder: Path) -> None:
        self.peers = peers(folder)

    @unary("device")
    async def Ask(self, request: Any, peer: Any) -> Any:
        raise OversizedError("refused")


def resident() -> float:
    """MiB of memory that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


def nested(*levels: int) -> bytes:
    """A message within messages, whose inmost has so many blocks."""
    data = EMPTY * levels[-1]
    for number in reversed(levels[:-1]):
        data = bytes([number << 3 | 2]) + _varint(len(data)) + data
    return data


def _varint(value: int) -> bytes:
    out = b""
    while value > 0x7F:
        out, value = out + bytes([value & 0x7F | 0x80]), value >> 7
    return out + bytes([value])


async def answer(trial: Trial, server: str, method: str, data: bytes) -> grpc.aio.AioRpcError | None:
    """What a method says to bytes."""
    service = method.split("/")[1].rpartition(".")[2]
    who = "witness" if method.endswith(("/Cosign", "/ShowHeads")) else WHO[service]
    async with open_channel(trial.config(server).listen, files(trial.folder / who), server) as channel:
        try:
            stream = channel.stream_stream(method)(timeout=20)
            await stream.write(data)
            await stream.done_writing()
            await stream.read()
        except grpc.aio.AioRpcError as error:
            return error
    return None


def methods(*services: str) -> list[str]:
    found = []
    for name in services:
        service = descriptor_pool.Default().FindServiceByName(f"proxid.wire.v1.{name}")
        found += [f"/{service.full_name}/{method.name}" for method in service.methods]
    return found


async def test_every_method_counts_fields_and_bytes_before_it_parses(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        for server, services in (
            ("gateway", ("Gateway", "Feed", "Evidence")),
            ("main-service", ("MainService", "Evidence")),
        ):
            for method in methods(*services):
                kind = request_type(method)
                assert kind is not None
                for data in (EMPTY * (MOST + 1), nested(1, MOST + 1), nested(1, 2, MOST + 1)):
                    with suppress(OversizedError):
                        verify_count(data, kind)
                        continue  # to this type it is one field that it does not know
                    error = await answer(trial, server, method, data)
                    assert error is not None and code_of(error) is Code.OVERSIZED, method
                size = 70_000 if server == "gateway" else MAX_BATCH_MESSAGE
                error = await answer(trial, server, method, b"\x0a" + _varint(size) + bytes(size))
                assert error is not None and error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED, method


async def test_many_messages_of_many_blocks_take_no_memory_and_hold_nobody_up(tmp_path: Path) -> None:
    data = nested(1, 1, 120_000)
    async with running(tmp_path) as trial:
        await trial.ask("node question", ("person-0",))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        hostile = [answer(trial, "main-service", "/proxid.wire.v1.MainService/Forward", data) for _ in range(24)]
        refused = await asyncio.gather(*hostile)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        assert {code_of(error) for error in refused if error is not None} == {Code.OVERSIZED} and len(refused) == 24
        assert grown < 64, "the messages themselves, 240 kB each and twice over, and not a hundred MB of their blocks"
        await trial.ask("node question", ("person-0",))


@pytest.mark.parametrize(
    "data", [nested(1, 1_000_000), b"\x0a" + _varint(2_000_000) + bytes(2_000_000), b"\xff" * 2_000_000]
)
async def test_a_refused_message_is_let_go_without_the_garbage_collector(tmp_path: Path, data: bytes) -> None:
    """Refused as of too many fields, by the servicer, and as no message: its memory is free once the call is over."""
    folder = make_trial(tmp_path)
    async with serving(folder, Refusing(folder)) as (_, address), channel(folder, address, "devices/home") as found:
        call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = found.unary_unary("/proxid.wire.v1.Gateway/Ask")

        async def refused(times: int) -> None:
            for _ in range(times):
                with pytest.raises(grpc.aio.AioRpcError):
                    await call(data, timeout=20)

        gc.collect()
        gc.disable()
        try:
            await refused(5)
            before = resident()
            await refused(30)
            assert resident() - before < 30, "less than half of what 30 messages of 2 MB take"
        finally:
            gc.enable()


def test_honest_messages_are_far_below_the_limit_and_counting_agrees_with_the_parser() -> None:
    signed = common_pb2.SignedMessage(
        header=bytes(200), blocks=[b"u", bytes(16_000), bytes(32), b"answer"], signature=b"s"
    )
    batch = main_service_pb2.ForwardBatch(
        requests=[main_service_pb2.ForwardRequest(number=n, message=signed, credential=bytes(300)) for n in range(64)]
    )
    kind = main_service_pb2.ForwardBatch.DESCRIPTOR
    verify_count(batch.SerializeToString(), kind, most=64 * 10)
    with pytest.raises(OversizedError):
        verify_count(batch.SerializeToString(), kind, most=64 * 9 - 1)
    for count in (0, 1, 99, 100):
        data = gateway_pb2.AskRequest(message=common_pb2.SignedMessage(blocks=[b""] * count)).SerializeToString()
        verify_count(data, gateway_pb2.AskRequest.DESCRIPTOR, most=count + 1)
    # Bytes that are no message at all end, and are the parser's to refuse.
    for torn in (b"\xff" * 30, b"\x0a\xff\xff\xff\xff\x0f", b"\x0b", b"\x0a", b"\x07", b"\x09\x01"):
        verify_count(torn, gateway_pb2.AskRequest.DESCRIPTOR, most=40)
