"""The gateway's path over its bound: refused in time, before anything is looked at, and served again after it."""

import asyncio
import time
from types import SimpleNamespace
from typing import Any, cast

import pytest

from gateway.requests import RequestPath
from proxid.errors import OverloadedError
from proxid.runtime.transport.fairness import Turn
from proxid.runtime.transport.places import FEWEST, FIRST, LONGEST

NOTHING: Any = None


class Slow(RequestPath):
    """Answers once it is told to."""

    def __init__(self) -> None:
        super().__init__(*[NOTHING] * 6)
        self.looked_at, self.told = 0, asyncio.Event()

    async def _ask(self, signed: Any, turn: Turn) -> Any:
        self.looked_at += 1
        await self.told.wait()
        return signed


def turns(path: Slow, count: int, left_ms: int = 0) -> list[asyncio.Task[Any]]:
    signed = cast(Any, SimpleNamespace(session_id=b""))
    return [asyncio.create_task(path.ask(signed, Turn.of(left_ms, n, n))) for n in range(count)]


async def test_over_the_bound_it_refuses_soon_and_looks_at_nothing_and_then_serves_again() -> None:
    path, begun = Slow(), time.monotonic()
    tasks = turns(path, FIRST + 100)
    async with asyncio.timeout(60):  # a busy machine gets there later
        while sum(task.done() for task in tasks) < 100 or path.looked_at < FIRST:  # noqa: ASYNC110
            await asyncio.sleep(LONGEST / 10)
    refused = [task for task in tasks if task.done()]
    assert len(refused) == 100 and time.monotonic() - begun >= LONGEST
    for task in refused:
        error = task.exception()
        assert isinstance(error, OverloadedError) and error.pushback > 0
    assert path.looked_at == FIRST
    path.told.set()
    served = await asyncio.gather(*(task for task in tasks if task not in refused))
    served += await asyncio.gather(*turns(path, FEWEST))
    assert len(served) == FIRST + FEWEST and path._admission._places.held == 0


async def test_what_is_past_its_callers_time_is_not_looked_at() -> None:
    path = Slow()
    path.told.set()
    with pytest.raises(OverloadedError):
        await path.ask(NOTHING, Turn(until=time.monotonic() - 1))
    assert path.looked_at == 0 and path._admission._places.held == 0


async def test_a_caller_that_goes_gives_its_place_back() -> None:
    path = Slow()
    tasks = turns(path, FIRST + 10)
    await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert (path._admission._places.held, path._admission._places.waiting) == (0, 0)


async def test_a_request_that_finds_no_place_is_refused_while_the_log_cannot_be_looked_at() -> None:
    """As when the store stands still: whoever waits for it has a place, and nobody else waits with them."""

    class Unheard:
        async def head(self) -> bytes:
            return await asyncio.get_running_loop().create_future()

    path = RequestPath(*[NOTHING] * 5, cast(Any, Unheard()))
    tasks = turns(cast(Any, path), FIRST + 10)
    async with asyncio.timeout(60):
        while sum(task.done() for task in tasks) < 10:  # noqa: ASYNC110
            await asyncio.sleep(LONGEST / 10)
    assert sum(isinstance(task.exception(), OverloadedError) for task in tasks if task.done()) == 10
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
