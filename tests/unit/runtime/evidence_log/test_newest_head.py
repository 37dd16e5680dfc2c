"""Nobody waits for a head that is looked at before the one in hand is too old (DESIGN 10.4)."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from proxid.errors import LogFullError
from proxid.runtime.evidence_log.promising import Promises

NOTHING: Any = None


class Looks(Promises):
    """Looks for as long as it is told; each head is the moment at which its look began."""

    def __init__(self) -> None:
        self.now, self.gate, self.fails = SimpleNamespace(monotonic=100.0), asyncio.Event(), False
        super().__init__(NOTHING, "x", NOTHING, NOTHING, "first", cast(Any, self.now))

    async def _look(self) -> None:
        began = self._watch.monotonic
        await self.gate.wait()
        if self.fails:
            raise LogFullError("not written in time")
        self._head, self._read = b"%d" % (10 * began), began


async def test_a_head_is_looked_for_before_it_is_needed_and_waited_for_when_it_is() -> None:
    looks = Looks()
    first = asyncio.create_task(looks.head())
    await asyncio.sleep(0)
    assert not first.done()
    looks.gate.set()
    assert await first == b"1000"
    looks.gate.clear()
    looks.now.monotonic = 100.8
    assert await looks.head() == b"1000" == await looks.head(), "while somebody looks"
    await asyncio.sleep(0)  # it looks
    looks.gate.set()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    looks.now.monotonic = 101.2
    assert await looks.head() == b"1008", "a head of this second, which nobody waited for"
    looks.gate.clear()
    looks.now.monotonic = 102.0
    old = asyncio.create_task(looks.head())
    await asyncio.sleep(0)
    assert not old.done(), "none is older than a second"
    looks.gate.set()
    assert await old == b"1020"


async def test_a_log_that_is_behind_is_told_within_the_second() -> None:
    looks = Looks()
    looks.gate.set()
    await looks.head()
    looks.fails, looks.now.monotonic = True, 100.8
    assert await looks.head() == b"1000"
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    looks.now.monotonic = 101.1
    with pytest.raises(LogFullError):
        await looks.head()


async def test_a_machine_that_slept_while_a_head_was_read_looks_again() -> None:
    """What was promised before it slept is in none of its log yet, and a promise now would say that it is late."""

    class Sleeps(Looks):
        def _looked(self, task: Any) -> None:
            super()._looked(task)
            self.now.monotonic = 700.0

    looks = Sleeps()
    looks.gate.set()
    assert await looks.head() == b"7000"


async def test_a_machine_that_slept_while_many_ask_answers_them() -> None:
    """Who asks between the end of the look and its being noted waits for another one, and not for ever for that."""

    class Clock:
        passed, asked = 100.0, 0

        @property
        def monotonic(self) -> float:
            self.asked += 1
            assert self.asked < 100, "it turns in a circle, and nobody else is served"
            return self.passed

    class Slept(Looks):
        async def _look(self) -> None:
            await super()._look()
            clock.passed = 700.0

    looks, clock = Slept(), Clock()
    looks._watch = cast(Any, clock)
    first = asyncio.create_task(looks.head())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    looks.gate.set()
    then = asyncio.create_task(looks.head())
    assert await first == b"7000" == await then
