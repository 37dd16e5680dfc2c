"""How a call's end counts for its caller; and a refusal that waits is told at once when the service stops."""

import asyncio
import time
from types import SimpleNamespace

import pytest

from proxid.errors import EncodingError, OverloadedError, RateLimitError, SignatureInvalidError
from proxid.runtime.transport.methods import held_back
from proxid.runtime.transport.peers import Peer, PeerRegistry

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
