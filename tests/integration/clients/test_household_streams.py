"""The streams on which a device asks: kept, replaced when they have ended, given up when no answer comes."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import pytest

from proxid.clients.household import stream_pool
from proxid.clients.household.stream_pool import StreamPool
from proxid.errors import Code, OverloadedError, RefusedError, UpstreamError
from proxid.runtime.transport.throttle import Throttle
from proxid.wire.v1 import gateway_pb2
from proxid.wire.v1.gateway_pb2_grpc import GatewayServicer, GatewayStub
from tests.support.rpc_trial import channel, make_trial, refused, said, serving


class Counter(GatewayServicer):
    """Answers; counts streams and messages; is silent at "silence", a while at "late"; ends a stream after a "bye"."""

    def __init__(self) -> None:
        self.streams = self.messages = 0
        self.gate, self.told = asyncio.Barrier(1), asyncio.Event()
        self.takes_up = asyncio.Event()
        self.takes_up.set()
        self.says_so, self.most = True, 1 << 30
        self.opened: list[float] = []

    async def Converse(self, _requests: Any, context: Any) -> None:
        self.streams += 1
        self.opened.append(time.monotonic())
        if self.streams > self.most:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "no more streams")
        await self.takes_up.wait()
        if self.says_so:
            await context.send_initial_metadata(())
        while (raw := await context.read()) is not grpc.aio.EOF:
            self.messages, request = self.messages + 1, raw.parsed()
            await self.gate.wait()
            match request.message.header:
                case b"silence":
                    await asyncio.sleep(60)
                case b"late":
                    await self.told.wait()
                case b"refuse":
                    await context.write(refused("rate_limited", "too many"))
                    continue
                case b"overloaded":
                    busy = gateway_pb2.Refusal(code="overloaded", message="too much", pushback_ms=1500)
                    await context.write(gateway_pb2.AskOutcome(refused=busy))
                    continue
            await context.write(gateway_pb2.AskOutcome(message=request.message))
            if request.message.header == b"bye":
                return


async def reached(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 - nothing signals it
            await asyncio.sleep(0.01)


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


async def test_more_questions_than_streams_wait_here_and_the_newest_is_next(
    trial: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_pool, "MOST", 2)
    counter, order = Counter(), list[int]()
    counter.gate = asyncio.Barrier(2)
    async with serving(trial, counter, max_streams=2) as (_, address), channel(trial, address, "devices/home") as to:
        streams = StreamPool(GatewayStub(to), 20)

        async def ask(number: int) -> None:
            await streams.ask(said(f"{number}"))
            order.append(number)

        await asyncio.gather(*(ask(n) for n in range(8)))
        assert (counter.streams, counter.messages) == (2, 8)
        assert sorted(order[:2]) == [0, 7] and sorted(order[2:4]) == [5, 6] and sorted(order[6:]) == [1, 2]


async def test_who_gave_up_while_waiting_opens_no_stream_and_the_next_are_answered(
    trial: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that asks more than is answered must not wear itself out with streams that ask nothing."""
    monkeypatch.setattr(stream_pool, "MOST", 2)
    counter = Counter()
    async with serving(trial, counter, max_streams=5) as (_, address), channel(trial, address, "devices/home") as to:
        await StreamPool(GatewayStub(to), 20).ask(said("hello"))  # the connection is there
        counter.streams = counter.messages = 0
        streams = StreamPool(GatewayStub(to), 2)
        given_up = await asyncio.gather(*(streams.ask(said("silence")) for _ in range(40)), return_exceptions=True)
        assert {type(one) for one in given_up} == {UpstreamError}
        assert counter.streams == counter.messages == 2
        found = await asyncio.gather(*(streams.ask(said(f"{n}")) for n in range(6)))
        assert len(found) == 6 and counter.streams == 4


async def test_a_stream_whose_answer_came_too_late_is_used_again_and_has_its_place_until_then(
    trial: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_pool, "LATE", 60.0)
    counter = Counter()
    async with serving(trial, counter) as (_, address), channel(trial, address, "devices/home") as to:
        streams = StreamPool(GatewayStub(to), 20)
        await streams.ask(said("hello"))
        streams._timeout = 0.3
        with pytest.raises(UpstreamError):
            await streams.ask(said("late"))
        assert streams._under_way == 1 and not streams._idle
        streams._timeout = 20
        counter.told.set()
        await reached(lambda: not streams._under_way)
        assert (await streams.ask(said("next"))).message.header == b"next"
        assert (counter.streams, counter.messages) == (1, 3)


async def test_few_streams_are_opened_that_a_busy_gateway_has_not_taken_up(trial: Path) -> None:
    """It takes one in a turn of its loop: what others open meanwhile would be looked at when nobody waits any more."""
    counter = Counter()
    counter.takes_up.clear()
    async with serving(trial, counter) as (_, address), channel(trial, address, "devices/home") as to:
        streams = StreamPool(GatewayStub(to), 20)
        asked = asyncio.gather(*(streams.ask(said(f"{n}")) for n in range(8)))
        await reached(lambda: counter.streams >= stream_pool.OPENING)
        hurried = StreamPool(GatewayStub(to), 20)  # has another connection's place: what it opens arrives after theirs
        late = asyncio.create_task(hurried.ask(said("next")))
        await reached(lambda: counter.streams != stream_pool.OPENING)
        assert counter.streams == stream_pool.OPENING + 1 and len(streams._waiting) == 8 - stream_pool.OPENING
        counter.takes_up.set()
        assert len(await asyncio.gather(asked, late)) == 2


async def test_nobody_waits_on_a_stream_that_is_not_taken_up_while_another_is_free(trial: Path) -> None:
    """A gateway that has much to do takes it up late: who asked meanwhile is answered on the stream that there is."""
    counter = Counter()
    async with serving(trial, counter) as (_, address), channel(trial, address, "devices/home") as to:
        streams = StreamPool(GatewayStub(to), 20)
        first = asyncio.create_task(streams.ask(said("late")))
        await reached(lambda: bool(counter.messages))
        counter.takes_up.clear()
        second = asyncio.create_task(streams.ask(said("second")))
        await reached(lambda: counter.streams >= 2)
        counter.told.set()
        assert (await first).message.header == b"late" and (await second).message.header == b"second"
        counter.takes_up.set()
        assert counter.streams == 2


async def test_a_gateway_that_says_nothing_before_its_first_answer_is_asked_all_the_same(
    trial: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_pool, "CALM", 0.2)
    counter = Counter()
    counter.says_so = False
    async with serving(trial, counter) as (_, address), channel(trial, address, "devices/home") as to:
        streams = StreamPool(GatewayStub(to), 20)
        await streams.ask(said("first"))
        counter.gate = asyncio.Barrier(3)
        found = await asyncio.gather(*(streams.ask(said(f"{n}")) for n in range(3)))
        assert [one.message.header for one in found] == [b"0", b"1", b"2"]


async def test_who_is_given_no_more_streams_does_not_ask_for_them_all_the_time(trial: Path) -> None:
    counter = Counter()
    counter.most = 1
    async with serving(trial, counter) as (_, address), channel(trial, address, "devices/home") as to:
        streams = StreamPool(GatewayStub(to), 20)
        first = asyncio.create_task(streams.ask(said("late")))
        await reached(lambda: bool(counter.messages))
        second = asyncio.create_task(streams.ask(said("second")))
        await reached(lambda: counter.streams >= 3)
        assert counter.opened[2] - counter.opened[1] >= stream_pool.CALM
        counter.told.set()
        assert (await first).message.header == b"late" and (await second).message.header == b"second"


async def test_who_waits_for_a_stream_to_be_opened_goes_in_turn(trial: Path) -> None:
    counter, order = Counter(), list[bytes]()
    async with serving(trial, counter) as (_, address), channel(trial, address, "devices/home") as to:
        streams = StreamPool(GatewayStub(to), 20)

        async def ask(number: int) -> None:
            order.append((await streams.ask(said(f"{number}"))).message.header)

        await asyncio.gather(*(ask(n) for n in range(stream_pool.FIRST)))
        last = {f"{n}".encode() for n in range(stream_pool.FIRST - 2, stream_pool.FIRST)}
        assert not last & set(order[:4]) and set(order) == {f"{n}".encode() for n in range(stream_pool.FIRST)}


async def test_an_answer_that_takes_long_keeps_nobody_from_a_stream(trial: Path) -> None:
    counter = Counter()
    async with serving(trial, counter) as (_, address), channel(trial, address, "devices/home") as to:
        streams = StreamPool(GatewayStub(to), 20)
        slow = [asyncio.create_task(streams.ask(said("late"))) for _ in range(stream_pool.FIRST - 1)]
        assert (await streams.ask(said("soon"))).message.header == b"soon"
        assert not any(one.done() for one in slow)
        counter.told.set()
        await asyncio.gather(*slow)


async def test_an_overloaded_gateway_says_when_to_come_back(trial: Path) -> None:
    async with serving(trial, Counter()) as (_, address), channel(trial, address, "devices/home") as to:
        streams = StreamPool(GatewayStub(to), 20)
        with pytest.raises(OverloadedError) as caught:
            await streams.ask(said("overloaded"))
        assert caught.value.pushback == 1.5
        assert (await streams.ask(said("again"))).message.header == b"again"


async def test_who_is_not_let_through_by_the_client_itself_may_come_back_soon(trial: Path) -> None:
    async with serving(trial, Counter()) as (_, address), channel(trial, address, "devices/home") as to:
        streams = StreamPool(GatewayStub(to), 20)
        streams._throttle = Throttle(lambda: 0.0)
        told = []
        for _ in range(4):
            with pytest.raises(OverloadedError) as caught:
                await streams.ask(said("overloaded"))
            told.append(caught.value.pushback)
    assert told == [1.5, 1.5, stream_pool.SOON, stream_pool.SOON]


async def test_no_stream_is_added_while_the_gateway_is_overloaded(trial: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counter = Counter()
    async with serving(trial, counter) as (_, address), channel(trial, address, "devices/home") as to:
        streams = StreamPool(GatewayStub(to), 20)
        with pytest.raises(OverloadedError):
            await streams.ask(said("overloaded"))
        await asyncio.gather(*(streams.ask(said(f"{n}")) for n in range(6)))
        assert counter.streams == 1, "the one that there is has to do"
        monkeypatch.setattr(stream_pool, "CALM", 0.0)
        await asyncio.gather(*(streams.ask(said(f"{n}")) for n in range(6)))
        assert counter.streams > 1


async def test_no_stream_is_added_after_one_that_was_taken_up_late(
    trial: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_pool, "PROMPT", 0.0)
    monkeypatch.setattr(stream_pool, "CALM", 0.5)
    counter = Counter()
    async with serving(trial, counter) as (_, address), channel(trial, address, "devices/home") as to:
        streams = StreamPool(GatewayStub(to), 20)
        assert (await streams.ask(said("soon"))).message.header == b"soon"
        slow = [asyncio.create_task(streams.ask(said("late"))) for _ in range(2)]
        await reached(lambda: not streams._opening and counter.streams >= 2)
        next_one = asyncio.create_task(streams.ask(said("next")))
        await asyncio.sleep(0)
        assert len(streams._waiting) == 1 and counter.streams == 2, "the gateway has much to do"
        assert (await next_one).message.header == b"next", "although nobody else has an answer"
        assert counter.streams == 3 and not any(one.done() for one in slow)
        counter.told.set()
        await asyncio.gather(*slow)


async def test_streams_become_as_many_as_are_answered_and_few_when_nothing_is(trial: Path) -> None:
    counter = Counter()
    async with serving(trial, counter) as (_, address), channel(trial, address, "devices/home") as to:
        streams = StreamPool(GatewayStub(to), 20)
        await asyncio.gather(*(streams.ask(said(f"{n}")) for n in range(20)))
        window = streams._window
        assert counter.streams < 20 and stream_pool.FIRST < window <= stream_pool.FIRST + 20
        for _ in range(3):
            await streams.ask(said("alone"))
        assert streams._window == window, "what is not used says nothing"
        await asyncio.gather(*(streams.ask(said("overloaded")) for _ in range(3)), return_exceptions=True)
        assert streams._window == window - (window + 1) // 2, "what many hear at once is said once"
        streams._timeout = 0.3
        await asyncio.gather(*(streams.ask(said("silence")) for _ in range(40)), return_exceptions=True)
        assert streams._window == stream_pool.LEAST
        before = counter.messages
        await asyncio.gather(*(streams.ask(said("silence")) for _ in range(40)), return_exceptions=True)
        assert counter.messages - before <= stream_pool.LEAST
        streams._timeout = 20
        assert await asyncio.gather(*(streams.ask(said(f"{n}")) for n in range(20)))
