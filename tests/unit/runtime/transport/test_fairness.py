"""What arrives together is computed in portions, between which the event loop turns."""

import asyncio
import time
from collections import Counter
from types import SimpleNamespace
from typing import Any, cast

import pytest

import gateway.requests
import main_service.requests
from proxid.errors import MessageInvalidError
from proxid.runtime.clock import Clocks, ClockWatch
from proxid.runtime.transport.fairness import PORTION, FairScheduler, Turn


class Turns:
    """Counts the turns of the event loop."""

    def __init__(self) -> None:
        self.count = 0
        self.stopped = False

    async def __aenter__(self) -> "Turns":
        asyncio.get_running_loop().call_soon(self._turn)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.stopped = True

    def _turn(self) -> None:
        self.count += 1
        if not self.stopped:
            asyncio.get_running_loop().call_soon(self._turn)


@pytest.mark.parametrize("portion", [1, 3])
async def test_no_turn_of_the_loop_has_more_than_a_portion_and_the_first_comes_first(portion: int) -> None:
    scheduler, begun = FairScheduler(portion), list[tuple[int, int]]()

    async def compute(number: int) -> None:
        await scheduler.slot()
        begun.append((number, turns.count))

    async with Turns() as turns:
        await asyncio.gather(*map(compute, range(20)))
    assert [number for number, _ in begun] == list(range(20))
    assert max(Counter(turn for _, turn in begun).values()) == portion


async def test_a_computation_alone_waits_for_nothing() -> None:
    turn = FairScheduler(1).slot()
    with pytest.raises(StopIteration):
        turn.send(None)


async def test_who_was_given_up_takes_nobodys_turn() -> None:
    scheduler = FairScheduler(1)
    waiting = [asyncio.create_task(scheduler.slot()) for _ in range(5)]
    await asyncio.sleep(0)
    for task in waiting[1:4]:
        task.cancel()
    async with asyncio.timeout(10):
        await waiting[4]
    assert [task.cancelled() for task in waiting] == [False, True, True, True, False]


def test_what_a_request_has_taken_leaves_out_what_somebody_else_took() -> None:
    turn = Turn(begun=time.monotonic() - 10)
    turn.waited += 9.5
    assert 0.5 <= turn.took < 9


class Refusing:
    """Refuses everything, and notes when."""

    async def _verify(self, *_: Any) -> Any:
        SEEN.append(TURNS[-1].count)
        raise MessageInvalidError("refused")


class Gateway(Refusing, gateway.requests.RequestPath):
    """The gateway's path."""


class MainService(Refusing, main_service.requests.RequestPath):
    """The main service's path."""


class Log:
    """Is written in time."""

    async def head(self) -> bytes:
        return b""


class Refusals:
    """Stands where a refusal would be recorded; nothing waits there."""

    async def pending(self, _: int) -> list[Any]:
        return []

    async def refuse(self, _session: bytes, rule: str, _ttl: int) -> str:
        return rule


class Epochs:
    async def terms(self, _: int) -> Any:
        return SimpleNamespace(clock_skew=120.0)


SEEN: list[int] = []
TURNS: list[Turns] = []
NOTHING, SERVICE = cast(Any, None), cast(Any, SimpleNamespace(nonce_ttl=300, watch=ClockWatch(Clocks(), 120.0)))
PATHS = {
    "gateway": lambda: Gateway(*[NOTHING] * 5, cast(Any, Log())).ask,
    "main service": lambda: MainService(SERVICE, *cast(Any, (Refusals(), Epochs())), *[NOTHING] * 5).ask,
}


@pytest.mark.parametrize("service", PATHS)
async def test_requests_of_one_message_are_verified_in_portions(service: str) -> None:
    SEEN.clear()
    ask: Any = PATHS[service]()
    async with Turns() as turns:
        TURNS.append(turns)
        signed = [SimpleNamespace(session_id=bytes([i]), header=SimpleNamespace(epoch=1)) for i in range(5 * PORTION)]
        found = await asyncio.gather(*(ask(*((one,) if service == "gateway" else (one, b""))) for one in signed),
                                     return_exceptions=True)  # fmt: skip
    assert {type(one) for one in found} == {MessageInvalidError}
    assert len(SEEN) == 5 * PORTION and max(Counter(SEEN).values()) <= PORTION
