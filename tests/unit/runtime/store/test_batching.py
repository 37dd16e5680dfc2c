"""Batches of calls: who travels together, and what each caller gets."""

import asyncio
from collections.abc import Sequence

import pytest

from proxid.runtime.store.batching import Coalescer


class Line:
    """A trip that ends when it is told to; remembers what it carried."""

    def __init__(self) -> None:
        self.carried: list[list[int]] = []
        self.gates: list[asyncio.Event] = []
        self.left = asyncio.Event()

    async def send(self, items: Sequence[int]) -> Sequence[int | BaseException]:
        gate = asyncio.Event()
        self.carried.append(list(items))
        self.gates.append(gate)
        self.left.set()
        await gate.wait()
        return [ValueError("thirteen") if item == 13 else 2 * item for item in items]

    async def departure(self, count: int) -> None:
        """Wait until `count` trips have left."""
        while len(self.carried) < count:
            self.left.clear()
            await self.left.wait()


async def test_first_call_leaves_at_once_and_the_rest_share_the_next_trip() -> None:
    line = Line()
    calls: Coalescer[int, int] = Coalescer(line.send, size=10)
    first = asyncio.create_task(calls.call(1))
    await line.departure(1)
    rest = [asyncio.create_task(calls.call(n)) for n in (2, 3, 4)]
    await asyncio.sleep(0)
    assert line.carried == [[1]]
    line.gates[0].set()
    await line.departure(2)
    assert line.carried == [[1], [2, 3, 4]]
    line.gates[1].set()
    assert await asyncio.gather(first, *rest) == [2, 4, 6, 8]


async def test_a_batch_is_bounded_and_what_is_left_over_still_leaves() -> None:
    line = Line()
    calls: Coalescer[int, int] = Coalescer(line.send, size=2)
    waiting = asyncio.gather(*(calls.call(n) for n in range(5)))
    for trip in range(3):
        await line.departure(trip + 1)
        line.gates[trip].set()
    assert await waiting == [0, 2, 4, 6, 8]
    assert line.carried == [[0, 1], [2, 3], [4]]


async def test_one_items_failure_is_its_callers_alone() -> None:
    line = Line()
    calls: Coalescer[int, int] = Coalescer(line.send, size=10)
    waiting = asyncio.gather(*(calls.call(n) for n in (1, 13, 2)), return_exceptions=True)
    await line.departure(1)
    line.gates[0].set()
    one, failed, two = await waiting
    assert (one, two) == (2, 4)
    assert isinstance(failed, ValueError)


@pytest.mark.parametrize("short", [False, True])
async def test_a_trip_that_fails_or_loses_a_result_fails_for_all_of_it_and_the_next_one_leaves(short: bool) -> None:
    attempts = 0

    async def send(items: Sequence[int]) -> Sequence[int | BaseException]:
        nonlocal attempts
        attempts += 1
        if attempts > 1:
            return list(items)
        if short:
            return []
        raise OSError

    calls: Coalescer[int, int] = Coalescer(send, size=10)
    failed = await asyncio.gather(calls.call(1), calls.call(2), return_exceptions=True)
    assert {type(one) for one in failed} == {RuntimeError if short else OSError}
    assert await calls.call(3) == 3


async def test_a_caller_that_went_away_leaves_the_others_their_results() -> None:
    line = Line()
    calls: Coalescer[int, int] = Coalescer(line.send, size=10)
    gone, stays = asyncio.create_task(calls.call(1)), asyncio.create_task(calls.call(2))
    await line.departure(1)
    gone.cancel()
    line.gates[0].set()
    assert await stays == 4
    assert gone.cancelled()
