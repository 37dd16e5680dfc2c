"""Places on an event loop: who waits for too long is told when it is, and not when it would have been before."""

import asyncio
from contextlib import AsyncExitStack

from proxid.runtime.transport.admission import Admission
from proxid.runtime.transport.fairness import Turn
from proxid.runtime.transport.places import LONGEST, Places


async def wait(admission: Admission, turn: Turn) -> None:
    async with admission.place(turn):
        pass


async def test_when_too_much_is_asked_the_next_look_is_sooner() -> None:
    admission, loop = Admission(), asyncio.get_running_loop()
    admission._places = Places(most=2, fewest=2)
    async with AsyncExitStack() as held:
        for who in ("one", "two"):
            await held.enter_async_context(admission.place(Turn(who)))
        waiting = [asyncio.create_task(wait(admission, Turn("three")))]
        await asyncio.sleep(0)
        assert admission._timer is not None
        first = admission._timer.when()
        admission._places._over, admission._places._served = loop.time(), 1e9
        waiting.append(asyncio.create_task(wait(admission, Turn("four"))))
        await asyncio.sleep(0)
        assert admission._timer.when() < first - LONGEST / 4
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def test_waiting_for_a_place_is_no_sign_that_the_house_is_slow() -> None:
    admission, turn = Admission(), Turn("home")
    admission._places = Places(most=1, fewest=1)
    async with AsyncExitStack() as held:
        await held.enter_async_context(admission.place(Turn("home")))
        task = asyncio.create_task(wait(admission, turn))
        await asyncio.sleep(LONGEST)
    await task
    assert turn.waited >= LONGEST / 2
