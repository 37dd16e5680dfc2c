"""A main service that starts with a wrong clock lets nothing go by it that does not come back (DESIGN 4.3, 8.6)."""

from typing import Any, cast

import pytest
from redis.asyncio import Redis

from main_service.jobs.timekeeping import Timekeeper
from main_service.store.epochs import EpochStore
from main_service.store.library import library
from proxid.runtime.clock import ALONE_SECONDS
from tests.integration.gateway.test_epochs_once import DAY, TODAY, Day, Nothing


class Acts(Nothing):
    """Where nothing waits; remembers what it was told to do, and by which times."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.times: set[float] = set()

    def __getattr__(self, name: str) -> Any:
        self.told.append(name)
        does = super().__getattr__(name)

        async def done(*arguments: Any) -> Any:
            self.times |= {argument for argument in arguments if isinstance(argument, float)}
            return await does(*arguments)

        return done


class Waiting(Day):
    """With records that wait in all forms."""

    def restart(self) -> None:
        super().restart()
        self.acts = Acts()
        keeper, acts = self.timekeeper, cast(Any, self.acts)
        stores = (acts, acts, acts, self.store)
        self.timekeeper = Timekeeper(keeper._service, stores, self.keys, keeper._release, acts)

    async def tick(self) -> set[str]:
        """What becomes of what waits: moved up, slots closed, the tick of form `split` made."""
        self.acts.told.clear()
        await self.timekeeper.tick()
        return set(self.acts.told) & {"tick", "close"}


@pytest.fixture
async def day(client: Redis) -> Waiting:
    functions = library(client)
    await functions.load()
    found = Waiting(client, EpochStore(functions))
    await found.open()
    return found


async def test_nothing_moves_by_a_clock_that_nobody_has_confirmed(day: Waiting) -> None:
    assert await day.tick() == {"tick", "close"}
    day.ours = float(DAY)
    day.restart()
    assert await day.tick() == set()
    await day.tell()
    assert await day.tick() == set()  # the two differ
    day.ours = 0.0
    await day.tell()
    assert await day.tick() == {"tick", "close"}


async def test_a_main_service_that_hears_nobody_waits_for_an_hour(day: Waiting) -> None:
    day.restart()
    assert await day.tick() == set()
    day.truth += ALONE_SECONDS
    assert day.truth < (TODAY + 1) * DAY and await day.tick() == {"tick", "close"}


async def test_a_clock_that_is_set_while_a_tick_is_made_is_not_what_the_tick_goes_by(day: Waiting) -> None:
    right = day.truth

    class SetMeanwhile(EpochStore):
        async def open_epochs(self) -> list[int]:
            day.ours = float(DAY)
            return await super().open_epochs()

    day.timekeeper._epoch_store = SetMeanwhile(library(day.client))
    await day.tick()
    assert day.acts.times == {right}
