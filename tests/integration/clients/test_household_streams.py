"""The streams on which a device asks: kept, replaced when they have ended, given up when no answer comes."""

import asyncio
from pathlib import Path
from typing import Any

import grpc
import pytest

from proxid.clients.household.stream_pool import StreamPool
from proxid.errors import Code, RefusedError, UpstreamError
from proxid.wire.v1 import gateway_pb2
from proxid.wire.v1.gateway_pb2_grpc import GatewayServicer, GatewayStub
from tests.support.rpc_trial import channel, make_trial, refused, said, serving


class Counter(GatewayServicer):
    """Answers; counts streams and messages; is silent at "silence"; ends a stream after a "bye"."""

    def __init__(self) -> None:
        self.streams = self.messages = 0
        self.gate = asyncio.Barrier(1)

    async def Converse(self, _requests: Any, context: Any) -> None:
        self.streams += 1
        while (request := await context.read()) is not grpc.aio.EOF:
            self.messages += 1
            await self.gate.wait()
            match request.message.header:
                case b"silence":
                    await asyncio.sleep(60)
                case b"refuse":
                    await context.write(refused("rate_limited", "too many"))
                    continue
            await context.write(gateway_pb2.AskOutcome(message=request.message))
            if request.message.header == b"bye":
                return


@pytest.fixture
def trial(tmp_path: Path) -> Path:
    return make_trial(tmp_path)


async def test_one_stream_serves_one_question_after_another(trial: Path) -> None:
    counter = Counter()
    async with serving(trial, counter) as (_, address), channel(trial, address, "devices/home") as to:
        streams = StreamPool(GatewayStub(to), 20)
        assert [(await streams.ask(said(f"{n}"))).message.header for n in range(3)] == [b"0", b"1", b"2"]
        with pytest.raises(RefusedError) as caught:
            await streams.ask(said("refuse"))
        assert caught.value.remote is Code.RATE_LIMITED
        await streams.ask(said("again"))
        assert (counter.streams, counter.messages) == (1, 5)


async def test_questions_at_once_get_streams_of_their_own(trial: Path) -> None:
    counter = Counter()
    counter.gate = asyncio.Barrier(3)  # nobody is answered before all three have been asked
    async with serving(trial, counter) as (_, address), channel(trial, address, "devices/home") as to:
        streams = StreamPool(GatewayStub(to), 20)
        for _ in range(2):
            found = await asyncio.gather(*(streams.ask(said(f"{n}")) for n in range(3)))
            assert [one.message.header for one in found] == [b"0", b"1", b"2"]
        assert counter.streams == 3


async def test_a_stream_that_ended_while_idle_costs_no_attempt(trial: Path) -> None:
    counter = Counter()
    async with serving(trial, counter) as (_, address), channel(trial, address, "devices/home") as to:
        streams = StreamPool(GatewayStub(to), 20)
        for _ in range(3):
            await streams.ask(said("bye"))
        assert (counter.streams, counter.messages) == (3, 3)


async def test_no_answer_in_time_gives_the_stream_up(trial: Path) -> None:
    counter = Counter()
    async with serving(trial, counter) as (_, address), channel(trial, address, "devices/home") as to:
        with pytest.raises(UpstreamError):
            await StreamPool(GatewayStub(to), 1).ask(said("silence"))
        streams = StreamPool(GatewayStub(to), 20)
        assert (await streams.ask(said("hello"))).message.header == b"hello"


async def test_nobody_there_is_an_error_of_the_way(trial: Path) -> None:
    async with serving(trial, Counter()) as (_, address):
        pass
    async with channel(trial, address, "devices/home") as to:
        with pytest.raises((grpc.aio.AioRpcError, UpstreamError)):
            await StreamPool(GatewayStub(to), 2).ask(said("hello"))


async def test_calls_beyond_the_limit_of_a_connection_wait_for_one_to_end(trial: Path) -> None:
    counter = Counter()
    async with serving(trial, counter, max_streams=2) as (_, address), channel(trial, address, "devices/home") as to:
        stub = GatewayStub(to)
        kept = [stub.Converse(), stub.Converse()]
        for stream in kept:
            await stream.write(said("hello"))
            await stream.read()
        third = asyncio.create_task(StreamPool(stub, 20).ask(said("third")))
        for _ in range(20):  # round trips on the same connection, in which the third would have been answered
            await kept[0].write(said("hello"))
            await kept[0].read()
        assert counter.streams == 2 and not third.done()
        kept[1].cancel()
        assert (await third).message.header == b"third"
