"""Whatever any caller sends to any method of any service: a typed refusal, or what was signed; nothing personal told.

Real services, connections and certificates. A longer run, or another: PROXID_FUZZ_ROUNDS, PROXID_FUZZ_SEED.
"""

import asyncio
from collections.abc import Collection, Coroutine, Iterable
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from google.protobuf import descriptor_pool

pytest.importorskip("starlette")

from tests.support.chosen import again_of
from tests.support.chosen import number as number_of
from tests.support.fuzzed_house import CALLERS, GRPCS, House, fuzzed_house
from tests.support.fuzzing.calls import (
    SIGNED,
    UNSIGNED,
    Method,
    accepted_unsigned,
    call,
    fields_of_bytes,
    methods_of,
    wrong,
)
from tests.support.fuzzing.changes import Changer

SEED: Final = number_of("PROXID_FUZZ_SEED", 1)
ROUNDS: Final = number_of("PROXID_FUZZ_ROUNDS", 30)
FEW: Final = 10
"""Methods that every run of the tests calls."""
AT_ONCE: Final = 8
ROUNDS_OF_A_DAY: Final = 25
"""After which everybody is asked anew whether they are served, and what is sent is fresh."""
MANY: Final = 40
INSIDER: Final = "gateway"
OUTSIDERS: Final = {*CALLERS, "household"} - {INSIDER}
Call = tuple[str, Method, str]
"""Server, method, caller."""


def served() -> list[str]:
    """Every service that our proto files define."""
    pool, found = descriptor_pool.Default(), []
    for path in sorted(Path("proto").rglob("*.proto")):
        file = pool.FindFileByName(str(path.relative_to("proto")))
        found += [service.full_name for service in file.services_by_name.values()]
    return found


def test_every_field_of_bytes_is_signed_or_said_why_not() -> None:
    fields = {name for method in methods_of(*served()) for name in fields_of_bytes(method.request)}
    signed = {name for name in fields if name.partition(".")[0] != "SignedMessage"}
    assert signed == SIGNED | UNSIGNED.keys()


class Fuzz:
    """One run against a house."""

    def __init__(self, house: House, seed: int, whole: bool) -> None:
        self._house, self._seed, self._whole, self._genuine = house, seed, whole, set[bytes]()
        self._pool: list[bytes] = []
        self.found: dict[str, str] = {}
        self.sent = self.answered = 0

    async def run(self, rounds: int, calls: list[Call], audited: bool) -> None:
        """Send each call so many changed messages, and open it in every shape; honest callers are served as before."""
        self._learn()
        for number in range(rounds):
            await _some_at_once(self._once(number, *one) for one in calls)
            if number % ROUNDS_OF_A_DAY == ROUNDS_OF_A_DAY - 1:
                await self._house.evening(audited)
                self._learn()
        await _some_at_once((self._shapes(*one) for one in calls), 4 * AT_ONCE)
        await self._house.evening(audited)

    def _learn(self) -> None:
        """Take what honest callers have said since."""
        self._genuine |= self._house.genuine
        self._pool = [data for _, method in self._house.methods for data in self._house.honest(method)]

    async def _once(self, number: int, server: str, method: Method, caller: str) -> None:
        source = Random(f"{self._seed}/{number}/{server}{method.path}/{caller}")
        changer = Changer(source, self._pool)
        data = changer.message(source.choice(self._house.honest(method)))
        outcome = await call(self._house.channels[server, caller], method, [data])
        self.sent += 1
        self.answered += outcome.answered
        reason = wrong(method, outcome, self._house.personal()) or accepted_unsigned(
            method, data, outcome, self._genuine
        )
        if reason is not None:
            where = f"round {number}, {caller} to {server}{method.path}"
            self.found.setdefault(f"{method.path}: {reason}", f"{where}: {'; '.join(changer.said)}: {data.hex()[:400]}")

    async def _shapes(self, server: str, method: Method, caller: str) -> None:
        """A call of no message, left open or not; of two; many left open at once."""
        channel, one = self._house.channels[server, caller], self._house.honest(method)[0]
        for name, messages, close in (("nothing", [], True), ("left open", [], False), ("two", [one, one], True)):
            reason = wrong(method, await call(channel, method, messages, close), self._house.personal())
            if reason is not None:
                self.found.setdefault(f"{method.path}: {reason}", f"{caller} to {server}{method.path}: {name}")
        outcomes = await asyncio.gather(
            *(call(channel, method, [], close=False) for _ in range(MANY if self._whole else 1))
        )
        reasons = {wrong(method, outcome, self._house.personal()) for outcome in outcomes} - {None}
        self.found.update({f"{method.path}: {reason}": f"{caller} to {server}: many at once" for reason in reasons})

    def told(self) -> str:
        """What was found, with how to see it again."""
        chosen = f"PROXID_FUZZ_SEED={self._seed} PROXID_FUZZ_ROUNDS={ROUNDS}"
        again = f"{chosen} python -m pytest {again_of(__file__, self._whole)}"
        return "\n".join([again, *(f"{what}\n  {where}" for what, where in sorted(self.found.items()))])


async def _some_at_once(work: Iterable[Coroutine[Any, Any, None]], count: int = AT_ONCE) -> None:
    waiting = list(work)
    for at in range(0, len(waiting), count):
        await asyncio.gather(*waiting[at : at + count])


async def calls_of(house: House, methods: Iterable[tuple[str, Method]], callers: Collection[str]) -> list[Call]:
    """Every call of these that some certificate of these allows."""
    return [
        (server, method, caller)
        for server, method in methods
        for caller in await house.callers(server, method, callers)
    ]


@pytest.mark.parametrize(
    "whole", [pytest.param(False, id="few"), pytest.param(True, id="many", marks=pytest.mark.slow)]
)
async def test_whatever_is_sent_is_refused_by_a_rule_or_is_what_was_signed(tmp_path: Path, whole: bool) -> None:
    async with fuzzed_house(tmp_path) as house:
        silent = {method.path for _, method in house.methods if not house.honest(method)}
        assert not silent, "nobody says anything to these: add them to an evening, or to MADE"
        assert {method.path.split("/")[1] for _, method in house.methods} == {*served(), *GRPCS}
        methods = house.methods if whole else Random(0).sample(house.methods, FEW)
        fuzz, done = Fuzz(house, SEED, whole), set[str]()
        # What the gateway alone may say to the main service its own log does not show: an audit would rightly say so.
        for callers in (OUTSIDERS, {INSIDER}) if whole else (OUTSIDERS,):
            calls = await calls_of(house, methods, callers)
            await fuzz.run(ROUNDS if whole else 1, calls, audited=INSIDER not in callers)
            done |= {method.path for _, method, _ in calls}
        if whole:
            assert done == {method.path for _, method in methods}, "no certificate may call the others"
        assert not fuzz.found, fuzz.told()
        assert house.logged() == []
        assert fuzz.answered > 0
