"""What a request waits for somebody else is told however that ends, and nothing else is (DESIGN 5.7)."""

import asyncio
import threading
import time

import pytest

from main_service.responder import BuiltInSkills, Context, Reply
from main_service.responder.answering import Answering
from main_service.responder.config import UpstreamSettings
from main_service.responder.upstream import Upstream
from proxid.errors import ResponderError
from proxid.runtime.transport.fairness import Turn
from tests.support.upstream import chat_server

HERE = Context(1_700_000_000_000, "en-US")


class Late:
    async def answer(self, utterance: str, context: Context) -> Reply:
        await asyncio.sleep(3600)
        raise AssertionError


async def test_a_plug_in_that_is_late_or_given_up_was_waited_for() -> None:
    turn = Turn()
    with pytest.raises(ResponderError):
        await Answering(Late(), 0.05).answer("hello", HERE, turn)
    assert turn.waited >= 0.04
    turn = Turn()
    task = asyncio.create_task(Answering(Late(), 3600).answer("hello", HERE, turn))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert turn.waited > 0


async def test_the_skills_of_this_house_are_its_own_time() -> None:
    turn = Turn()
    await Answering(BuiltInSkills(), 5).answer("what time is it", HERE, turn)
    assert turn.waited == 0


async def test_of_an_upstream_what_its_server_takes_is_waiting() -> None:
    held, turn = threading.Event(), Turn()
    with chat_server(lambda _: str(held.wait(30))) as server:
        settings = UpstreamSettings(url=server.url, model="small", identifiers="off", concurrency=1)
        upstream = Upstream(settings)
        first = asyncio.create_task(upstream.answer("one", HERE, turn))
        while not server.seen:  # noqa: ASYNC110 - of a thread
            await asyncio.sleep(0.01)
        second, begun = Turn(), time.monotonic()
        queued = asyncio.create_task(upstream.answer("two", HERE, second))
        await asyncio.sleep(0.1)
        held.set()
        await asyncio.gather(first, queued)
        assert turn.waited >= 0.09 and second.waited <= time.monotonic() - begun - 0.09
        await upstream.aclose()
