"""A retry that overtakes its original at MS: one answer for both, and none of the two takes the other along."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from main_service.requests import RequestPath
from proxid.runtime.transport.fairness import Turn


class Held(RequestPath):
    """Answers by number, each attempt when it is let go."""

    def __init__(self) -> None:
        self._running = {}
        self.gates: list[asyncio.Event] = []

    async def _ask(self, *_: Any) -> Any:
        number = len(self.gates)
        self.gates.append(asyncio.Event())
        await self.gates[number].wait()
        return number, True


SIGNED: Any = SimpleNamespace(session_id=b"session")


async def started(path: Held, count: int) -> list[asyncio.Task[Any]]:
    tasks = [asyncio.create_task(path.ask(SIGNED, b"")) for _ in range(count)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return tasks


async def test_both_get_the_one_answer() -> None:
    path = Held()
    tasks = await started(path, 2)
    path.gates[0].set()
    assert await asyncio.gather(*tasks) == [(0, True), (0, True)] and len(path.gates) == 1


async def test_an_original_that_is_given_up_leaves_the_retry_its_place() -> None:
    path = Held()
    original, *retries = await started(path, 3)
    original.cancel()
    with pytest.raises(asyncio.CancelledError):
        await original
    async with asyncio.timeout(10):
        while len(path.gates) < 2:  # noqa: ASYNC110 - one turn of the loop
            await asyncio.sleep(0)
        path.gates[1].set()
        assert await asyncio.gather(*retries) == [(1, True), (1, True)] and len(path.gates) == 2


async def test_a_retry_that_is_given_up_leaves_the_original_alone() -> None:
    path = Held()
    original, retry = await started(path, 2)
    retry.cancel()
    with pytest.raises(asyncio.CancelledError):
        await retry
    path.gates[0].set()
    assert await original == (0, True)


async def test_both_given_up_at_once_are_both_given_up() -> None:
    path = Held()
    tasks = await started(path, 2)
    for task in tasks:
        task.cancel()
    found = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(one, asyncio.CancelledError) for one in found) and len(path.gates) == 1


async def test_what_a_retry_waits_for_its_original_costs_nothing() -> None:
    path, turn = Held(), Turn()
    original = asyncio.create_task(path.ask(SIGNED, b""))
    await asyncio.sleep(0)
    retry = asyncio.create_task(path.ask(SIGNED, b"", turn))
    await asyncio.sleep(0.05)
    path.gates[0].set()
    await asyncio.gather(original, retry)
    assert turn.waited >= 0.04
