"""Streams that wait cost one look for all of them, and each hears of whatever is new (gateway/arrivals.py)."""

import asyncio

import pytest

from gateway import arrivals
from gateway.arrivals import Arrivals
from proxid.errors import StoreError


class Feed:
    """What is looked at, how often, and when it was looked at so often."""

    def __init__(self) -> None:
        self.state, self.looks, self.error = 1, 0, False
        self.looked = asyncio.Event()

    async def look(self, party: str) -> int:
        self.looks += 1
        if self.looks % 5 == 0:
            self.looked.set()
        if self.error:
            raise StoreError("store failed")
        return self.state


async def test_streams_that_wait_share_a_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "PAUSE", 0)
    feed = Feed()
    arrived = Arrivals(feed.look)
    assert await asyncio.gather(*(arrived.after("acme", None) for _ in range(300))) == [1] * 300
    waiting = [asyncio.create_task(arrived.after("acme", 1)) for _ in range(300)]
    for _ in range(2):
        feed.looked.clear()
        await feed.looked.wait()
    assert feed.looks <= 15 and not any(task.done() for task in waiting)
    waiting[0].cancel()
    feed.state = 2
    assert await asyncio.gather(*waiting[1:]) == [2] * 299
    assert await arrived.after("acme", 1) == 2, "what came before it waited is not missed"


async def test_whoever_waits_hears_that_the_store_is_away_and_may_wait_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "PAUSE", 0)
    feed = Feed()
    arrived = Arrivals(feed.look)
    waiting = [asyncio.create_task(arrived.after("acme", 1)) for _ in range(3)]
    await feed.looked.wait()
    feed.error = True
    said = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(one) for one in said] == [StoreError] * 3
    feed.error = False
    assert await arrived.after("acme", 0) == 1
