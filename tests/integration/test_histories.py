"""Histories of choices, objections, erasures, policies, epochs, kills, wrong clocks: after an acknowledgement nothing
of that person goes to a party, and no audit accuses anybody.

Histories are drawn from a seed (`PROXID_HISTORIES_SEED`), so many of them of each form of a release
(`PROXID_HISTORIES`), on one pair of real services whose clocks and jobs go on when the history says so. One that fails
is printed, with what makes it again.
"""

from collections.abc import Awaitable, Callable, Iterator

import pytest

from tests.support.chosen import number
from tests.support.history import PEOPLE, History
from tests.support.history_faults import FAULTS, believes_its_clock
from tests.support.history_machine import Histories, of_rules, one_house, run
from tests.support.lies import GATEWAY, MAIN

HISTORIES = number("PROXID_HISTORIES", 120)
SEED = number("PROXID_HISTORIES_SEED", 1)
PLANTED, ENOUGH = 1, 30
"""A seed of which so many histories find each fault: tried, and the same whatever PROXID_HISTORIES_SEED says."""

Play = Callable[[Callable[[History], Awaitable[None]]], None]


@pytest.fixture(scope="module")
def machine() -> Iterator[type[Histories]]:
    with one_house() as found:
        yield found


@pytest.fixture(scope="module")
def of_split() -> Iterator[type[Histories]]:
    with one_house("split") as found:
        yield found


@pytest.fixture
def play(machine: type[Histories]) -> Play:
    """Plays one history, and ends it."""

    def played(told: Callable[[History], Awaitable[None]]) -> None:
        async def whole() -> None:
            history = History(machine.house)
            await history.begin()
            try:
                await told(history)
                await history.end()
            finally:
                await history.close()

        machine.loop.run_until_complete(whole())

    return played


@pytest.mark.parametrize("by", [-3_000.0, pytest.param(3_000.0, marks=pytest.mark.slow)])
def test_a_main_service_that_starts_with_a_wrong_clock_promises_nothing_by_it(play: Play, by: float) -> None:
    """What it promises then would lie before what it had promised, or behind what it promises with the right time."""

    async def told(history: History) -> None:
        for person in PEOPLE[:2]:
            await history.choose(person, "everything")
        history.house.clocks[MAIN].set = by
        await history.house.kill(MAIN, told=False)
        for person in PEOPLE[2:4]:
            await history.choose(person, "everything")
        history.house.clocks[MAIN].set = 0.0
        await history.house.kill(MAIN)
        await history.house.compare()
        for person in PEOPLE:
            await history.choose(person, "searches")

    play(told)


@pytest.mark.parametrize("by", [-3_000.0, pytest.param(3_000.0, marks=pytest.mark.slow)])
def test_a_gateway_whose_clock_is_wrong_promises_no_party_anything_by_it(play: Play, by: float) -> None:
    async def told(history: History) -> None:
        for person in PEOPLE:
            await history.choose(person, "everything")
        await history.ask(PEOPLE[:3], "node0")
        await history.house.settle()
        history.house.clocks[GATEWAY].set = by
        await history.house.kill(GATEWAY, told=False)
        await history.receive("acme")
        history.house.clocks[GATEWAY].set = 0.0
        await history.house.kill(GATEWAY)
        await history.house.compare()
        await history.choose(PEOPLE[3], "searches")
        await history.receive("globex")

    play(told)


def test_what_was_asked_while_somebody_objected_and_took_that_back_at_once_accuses_nobody(play: Play) -> None:
    """A request's time is told in whole minutes, a right's is not: it seems to come after the objection was over."""

    async def told(history: History) -> None:
        person = PEOPLE[0]
        await history.choose(person, "everything")
        await history.house.pass_time(50.0)
        await history.object(person)
        assert await history.ask([person], "node0") == 1
        await history.object(person, resume=True)
        for _ in range(4):
            await history.day(7_200.0)
            await history.house.compare()
            await history.ask(PEOPLE[1:2], "node1")
            await history.house.settle()

    play(told)


@pytest.mark.slow
def test_a_main_service_that_believes_its_own_clock_is_found(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ended the day, as it did once: nobody is served when its clock is right again."""

    async def told(history: History) -> None:
        await history.choose(PEOPLE[0], "everything")
        await history.wrong(MAIN, 86_400.0)
        await history.house.settle()

    believes_its_clock(monkeypatch)
    with pytest.raises(AssertionError, match="is not served"):
        play(told)


def test_a_history_of_pairs(machine: type[Histories]) -> None:
    run(machine, 1, 1)


def test_a_history_of_split(of_split: type[Histories]) -> None:
    run(of_split, 1, 1)


@pytest.mark.slow
@pytest.mark.timeout(0)
def test_many_histories_of_pairs(machine: type[Histories]) -> None:
    run(machine, HISTORIES, SEED)


@pytest.mark.slow
@pytest.mark.timeout(0)
def test_many_histories_of_split(of_split: type[Histories]) -> None:
    run(of_split, HISTORIES, SEED)


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_the_past_is_found(machine: type[Histories], name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fault = FAULTS[name]
    fault.plant(monkeypatch)
    some = of_rules(machine, *fault.rules)
    with pytest.raises((AssertionError, BaseExceptionGroup)):
        run(some, ENOUGH, PLANTED, steps=12)
    assert any(words in some.found for words in fault.found), some.found
