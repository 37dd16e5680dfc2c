"""How a call's end counts for its caller; and a refusal that waits is told at once when the service stops."""

import asyncio
import time
import weakref
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import grpc
import pytest

from proxid.errors import EncodingError, OverloadedError, RateLimitError, SignatureInvalidError
from proxid.runtime.transport.methods import held_back, unary
from proxid.runtime.transport.peers import Peer, PeerRegistry
from proxid.runtime.transport.streams import ordered_stream

HOSTILE = Peer("device", "hostile")
LONG = 3600.0


def service() -> SimpleNamespace:
    return SimpleNamespace(peers=PeerRegistry({}))


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Little is spared, and nothing forgotten."""
    monkeypatch.setattr("proxid.runtime.transport.throttle.SPARE_REFUSALS", 4)
    monkeypatch.setattr("proxid.runtime.transport.throttle.MEMORY", 1e9)


async def waits(of: SimpleNamespace) -> bool:
    """Whether the next refusal of a flooder is told later."""
    held = asyncio.ensure_future(held_back(of, HOSTILE, OverloadedError("too much", LONG)))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    done = held.done()
    held.cancel()
    return not done


@pytest.mark.parametrize("cheap", [SignatureInvalidError("made up"), RateLimitError("sixty a minute"), ValueError("x")])
async def test_a_call_that_is_refused_at_once_makes_up_for_no_refusal(cheap: Exception) -> None:
    of = service()
    for _ in range(4):
        await held_back(of, HOSTILE, OverloadedError("too much", 0.0))
        await held_back(of, HOSTILE, cheap)
    assert await waits(of)


async def test_what_is_answered_does() -> None:
    of = service()
    for _ in range(8):
        await held_back(of, HOSTILE, OverloadedError("too much", 0.0))
        await held_back(of, HOSTILE, None)
    assert not await waits(of)


async def test_a_refusal_that_waits_is_told_when_the_service_stops() -> None:
    of = service()
    for _ in range(4):
        await held_back(of, HOSTILE, OverloadedError("too much", 0.0))
    held = [asyncio.ensure_future(held_back(of, HOSTILE, OverloadedError("too much", LONG))) for _ in range(3)]
    await asyncio.sleep(0)
    assert not any(one.done() for one in held)
    of.peers.close()
    async with asyncio.timeout(20):
        assert max(await asyncio.gather(*held)) < LONG
        assert await held_back(of, HOSTILE, OverloadedError("too much", LONG)) < LONG


async def test_a_broken_message_is_told_later_once_there_were_many_and_never_to_the_other_service() -> None:
    of, service_peer = service(), Peer("gateway", "gateway")
    for _ in range(40):
        of.peers.heed.breaks(HOSTILE, time.monotonic())
        of.peers.heed.breaks(service_peer, time.monotonic())
    held = asyncio.ensure_future(held_back(of, HOSTILE, EncodingError("message is not of its type")))
    await asyncio.sleep(0)
    assert not held.done()
    assert await held_back(of, HOSTILE, RateLimitError("sixty a minute")) == 0.0
    assert await held_back(of, service_peer, EncodingError("message is not of its type")) == 0.0
    of.peers.close()
    async with asyncio.timeout(20):
        await held


class Message:
    def __len__(self) -> int:
        return 1

    def parsed(self) -> "Message":
        return self


@pytest.mark.parametrize("stream", [False, True])
async def test_a_refusal_that_waits_keeps_nothing_of_its_message(monkeypatch: pytest.MonkeyPatch, stream: bool) -> None:
    async def method(self: Any, request: Message, peer: Peer) -> None:
        raise OverloadedError("too much", LONG)

    kept = list[bool]()

    async def held(servicer: Any, peer: Peer, error: Exception | None) -> float:
        kept.append((error is not None and error.__traceback__ is not None) or alive() is not None)
        return 0.0

    of = service()
    monkeypatch.setattr(of.peers, "identify", lambda _: HOSTILE)
    monkeypatch.setattr(f"proxid.runtime.transport.{'streams' if stream else 'methods'}.held_back", held)
    messages = [Message()]
    alive = weakref.ref(messages[0])

    class Context:
        async def read(self) -> Any:
            return messages.pop() if messages else grpc.aio.EOF

        async def write(self, _: Any) -> None: ...

        async def send_initial_metadata(self, _: Any) -> None: ...

        async def abort(self, *_: Any) -> None:
            raise grpc.aio.AbortError

    if stream:
        await ordered_stream("Ask", lambda *_: None, "device")(method)(of, None, Context())
    else:
        with suppress(grpc.aio.AbortError):
            await unary("device")(method)(of, messages.pop(), Context())
    assert kept == [False]
