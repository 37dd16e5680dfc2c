"""People of a house under faults: they ask, consent, withdraw, ask to be erased, and remember what was acknowledged."""

import asyncio
import itertools
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Final

from device_sim.corpus import shipped_events
from proxid.cli.demo.trial import PARTIES
from proxid.clients.household.household import Household
from proxid.clients.household.rights import RightsClient
from proxid.errors import ProxidError, RefusedError
from proxid.protocol.rights import Right
from tests.support import own_count
from tests.support.chaos_house import ChaosHouse

_ERASED_ONE_IN: Final = 6
"""Of so many people one asks to be erased, sooner or later."""
_WITHDRAWS: Final = 0.03
FEW: Final = 5
"""Answers that are no chance."""
_NO_LOG: Final = ("log_full", "upstream_unreachable", "upstream_refused")
"""What devices hear of a service that cannot write its log, and of one that waits for it."""
_PAUSE: Final = 0.4
"""Seconds between two wishes of a person, at most."""

Rows = Mapping[str, Mapping[tuple[int, int], int]]
"""By party, rows under a name by group."""


@dataclass(frozen=True)
class Answered:
    """Who was answered; when it was asked and when the answer came, in monotonic seconds."""

    user: str
    asked: float
    came: float


@dataclass
class Withdrawal:
    """Somebody allows nothing from its acknowledgement on until they choose again.

    Attributes:
        before, after: what parties held under the name at both moments; after: None while it lasts.
        under_way: by party, records that the person was told it may still get.
    """

    user: str
    before: Rows
    under_way: Mapping[str, int]
    after: Rows | None = None


@dataclass
class People:
    """Everybody of a house.

    Attributes:
        answered: by session, what was acknowledged with a verified answer.
        failed: what else came of wishes, by code. refused: when that was for want of a log, perhaps.
        erased: whose erasure was acknowledged.
        answered_after_erasure: people who were answered nevertheless.
    """

    house: ChaosHouse
    seed: int
    answered: dict[bytes, Answered] = field(default_factory=dict)
    failed: Counter[str] = field(default_factory=Counter)
    refused: list[float] = field(default_factory=list)
    withdrawals: list[Withdrawal] = field(default_factory=list)
    erased: list[str] = field(default_factory=list)
    answered_after_erasure: list[str] = field(default_factory=list)
    done: asyncio.Event = field(default_factory=asyncio.Event)

    async def live(self) -> None:
        """Until `done`."""
        texts, numbers = itertools.cycle(event.text for event in shipped_events()), itertools.count()
        async with AsyncExitStack() as stack:
            lives: list[Awaitable[None]] = []
            for config in self.house.devices():
                household = Household.open(config)
                stack.push_async_callback(household.close)
                rights = RightsClient(config, household)
                stack.push_async_callback(rights.close)
                lives += [
                    _Person(self, user, household, rights, texts, next(numbers)).live() for user in household.users
                ]
            await asyncio.gather(*lives)

    def answered_without_a_log(self, noticed: float) -> list[tuple[float, float]]:
        """When a log could not be written, had not been for `noticed` seconds, and people were answered all the same.

        On a machine that is busy a service may see later that it cannot write; then it refuses after all.
        """
        found = []
        for begun, ended in self.house.full:
            since = begun + noticed
            answered = sum(since <= one.asked and one.came <= ended for one in self.answered.values())
            if answered >= FEW and not any(begun <= at <= ended for at in self.refused):
                found.append((begun, ended))
        return found

    def rows(self, user: str) -> Rows:
        """What parties hold under a name now."""
        return {party: own_count.rows_under(self.house.feed(party), user) for party in PARTIES}


class _Person:
    def __init__(
        self, people: People, user: str, household: Household, rights: RightsClient, texts: Iterator[str],
        number: int,
    ) -> None:  # fmt: skip
        self._all, self._user, self._household, self._rights, self._texts = people, user, household, rights, texts
        self._source = random.Random(f"{people.seed} {number}")
        self._left = self._source.randrange(5, 60) if number % _ERASED_ONE_IN == 0 else None
        """Wishes until this one asks to be erased."""

    async def live(self) -> None:
        everybody = self._all
        if not await self._insist(lambda: self._household.consent(self._user, "everything", True)):
            return
        for number in itertools.count():
            if everybody.done.is_set():
                return
            if number == self._left:
                await self._be_erased()
                return
            if self._source.random() < _WITHDRAWS:
                await self._withdraw()
            else:
                await self._try(self._ask())
            await asyncio.sleep(self._source.random() * _PAUSE)

    async def _ask(self) -> None:
        asked = time.monotonic()
        answer = await self._household.ask(self._user, next(self._texts))
        assert answer.session not in self._all.answered
        self._all.answered[answer.session] = Answered(self._user, asked, time.monotonic())

    async def _withdraw(self) -> None:
        if not await self._try(self._household.consent(self._user, "nothing")):
            return
        told = {sent.party: sent.unacknowledged for sent in self._household.sent_before(self._user)}
        withdrawal = Withdrawal(self._user, self._all.rows(self._user), told)
        self._all.withdrawals.append(withdrawal)
        await asyncio.sleep(self._source.random() * 4)
        withdrawal.after = self._all.rows(self._user)
        await self._insist(lambda: self._household.consent(self._user, "everything", True))

    async def _be_erased(self) -> None:
        if await self._insist(lambda: self._rights.exercise(Right.ERASE, self._user)):
            self._all.erased.append(self._user)
            if await self._try(self._ask()):
                self._all.answered_after_erasure.append(self._user)

    async def _try(self, wish: Awaitable[object]) -> bool:
        """Whether it was acknowledged."""
        try:
            await wish
        except ProxidError as error:
            code = error.remote.value if isinstance(error, RefusedError) else error.code.value
            self._all.failed[code] += 1
            if code in _NO_LOG:
                self._all.refused.append(time.monotonic())
            return False
        return True

    async def _insist(self, wish: Callable[[], Awaitable[object]]) -> bool:
        """The same again until it is acknowledged; False if everything has ended."""
        while not await self._try(wish()):
            if self._all.done.is_set():
                return False
            await asyncio.sleep(self._source.random())
        return True
