"""Places on an event loop: who waits for too long is told when it is, and not when it would have been before."""

import asyncio
import gc
from contextlib import AsyncExitStack

import pytest
import uvloop

from proxid.errors import OverloadedError
from proxid.runtime.transport.admission import Admission
from proxid.runtime.transport.fairness import Turn
from proxid.runtime.transport.places import LONGEST, Places, Ticket


async def wait(admission: Admission, turn: Turn) -> None:
    async with admission.place(turn):
        pass


async def test_a_request_leaves_no_circle_behind() -> None:
    """Tens of thousands of them would be collected at once, for which a service stands still."""
    admission = Admission()
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)  # what is found is kept: other tests of this process may have left circles of theirs
    try:
        for number in range(10):
            await wait(admission, Turn(f"home {number}"))
        gc.collect()
        assert not [one for one in gc.garbage if isinstance(one, (Ticket, Turn, asyncio.Future))]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


async def test_waiting_for_a_place_is_no_sign_that_the_house_is_slow() -> None:
    admission, turn = Admission(), Turn("home")
    admission._places = Places(most=1, fewest=1)
    async with AsyncExitStack() as held:
        await held.enter_async_context(admission.place(Turn("home")))
        task = asyncio.create_task(wait(admission, turn))
        await asyncio.sleep(LONGEST)
    await task
    assert turn.waited >= LONGEST / 2


def test_who_is_to_be_told_within_the_millisecond_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the event loop of the services, which keeps no timer, and no time of it, for what is due so soon."""
    admission = Admission()
    places = admission._places
    monkeypatch.setattr(places, "limit", 1.0)
    monkeypatch.setattr(places, "due", lambda now: 0.0001 if places.waiting else None)
    monkeypatch.setattr(places, "look", lambda now: None)

    async def ask(peer: str) -> None:
        async with admission.place(Turn(peer)):
            await asyncio.sleep(0.01)

    async def everybody() -> list[BaseException | None]:
        return await asyncio.gather(*(ask(f"{n}") for n in range(4)), return_exceptions=True)

    found = uvloop.run(everybody())
    assert all(one is None or isinstance(one, OverloadedError) for one in found), found
