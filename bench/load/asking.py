"""Devices of many households in one process: so many questions at once, or so many a second.

They ask by the library's client, with its streams and retries. Answers are taken as they are: whether they hold costs
this process and no service, and is looked at elsewhere.
"""

import asyncio
import math
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import count, cycle
from typing import Any, Final

from device_sim.corpus import shipped_events
from proxid.cli.demo.trial import DemoTrial
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.gateway import GatewayClient
from proxid.clients.household.household import Household
from proxid.clients.household.state import HouseholdState
from proxid.clients.household.stream_pool import StreamPool
from proxid.errors import OverloadedError, ProxidError
from proxid.protocol import request
from proxid.protocol.request import Utterance
from proxid.runtime.transport.throttle import Throttle

_TICK: Final = 0.005


@dataclass(frozen=True, slots=True)
class Asked:
    """One question: monotonic time, and the seconds until its answer, or refusal; none came if that is infinite."""

    begun: float
    took: float


@dataclass(slots=True)
class Refusals:
    """Refusals for overload, those that came when nobody waited any more, and how many a client told by itself."""

    told: list[Asked] = field(default_factory=list)
    late: list[Asked] = field(default_factory=list)
    own: int = 0

    @property
    def count(self) -> int:
        """All of them."""
        return len(self.told) + len(self.late) + self.own


class _Streams(StreamPool):
    """Notes how long a refusal for overload took."""

    def __init__(self, stub: Any, timeout: float, refusals: Refusals) -> None:
        super().__init__(stub, timeout)
        self._refusals = refusals
        self._begun: dict[Any, float] = {}
        self._throttle = _Throttle(refusals)

    async def _exchange(self, *asked: Any) -> Any:
        begun = self._begun[asyncio.current_task()] = time.monotonic()
        try:
            found = await super()._exchange(*asked)
        finally:
            del self._begun[asyncio.current_task()]
        if found is not None and found.refused.code == OverloadedError.code:
            self._refusals.told.append(Asked(begun, time.monotonic() - begun))
        return found

    def _late(self, stream: Any, reading: Any) -> None:
        begun = self._begun[asyncio.current_task()]

        def came(done: Any) -> None:
            found = None if done.cancelled() or done.exception() is not None else done.result()
            if found is not None and found.refused.code == OverloadedError.code:
                self._refusals.late.append(Asked(begun, time.monotonic() - begun))

        reading.add_done_callback(came)
        super()._late(stream, reading)


class _Throttle(Throttle):
    """Counts what it does not let through."""

    def __init__(self, refusals: Refusals) -> None:
        super().__init__()
        self._refusals = refusals

    def admits(self, now: float) -> bool:
        admitted = super().admits(now)
        self._refusals.own += not admitted
        return admitted


class Devices:
    """All households of a trial.

    Args:
        patience: seconds that a question may take in all, its retries included.

    Attributes:
        people: USER_ID and household of everybody, household by household in turns.
        asked: questions that have ended, since `begin`. refusals: since then, too. lag: the longest that this process
            was late.
    """

    def __init__(self, trial: DemoTrial, patience: float) -> None:
        self._trial, self._patience = trial, patience
        self.people: list[tuple[str, Household]] = []
        self._texts = cycle([event.text for event in shipped_events()])
        self._stack = AsyncExitStack()
        self._tasks: set[asyncio.Task[None]] = set()
        self.asked: list[Asked] = []
        self.refusals = Refusals()
        self.lag = 0.0

    async def __aenter__(self) -> "Devices":
        homes = [self._open(config) for config in self._trial.devices()]
        for household in homes:
            self._stack.push_async_callback(household.close)
        # In turns, so that each household asks as much as another.
        turns = [[(user, home) for user in home.users] for home in homes]
        self.people = [pair for number in range(max(map(len, turns))) for t in turns for pair in t[number : number + 1]]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    def _open(self, config: DeviceConfig) -> Household:
        patient = config.model_copy(update={"timeout": self._patience, "deadline": self._patience})
        gateway = GatewayClient.open(patient)
        gateway._streams = _Streams(gateway._stub, self._patience, self.refusals)
        return Household(patient, gateway)

    async def consent(self) -> None:
        """Everybody links a key and allows everything."""
        for user, household in self.people:
            await household.consent(user, "everything")

    async def ask(self, user: str, household: Household) -> None:
        """One question."""
        begun, took = time.monotonic(), math.inf
        try:
            session, now_ms = await household.session(user), int(time.time() * 1000)
            signed = request.make(Utterance.new(next(self._texts), now_ms), user, session.key, session.route, now_ms)
            await household._gateway.ask(signed, household._gateway.attempts())
            took = time.monotonic() - begun
        except ProxidError:
            pass  # it had no answer: that is what is counted
        self.asked.append(Asked(begun, took))

    async def closed(self, concurrency: int, seconds: float) -> float:
        """So many questions under way all the time; answers a second."""
        people, end, begun = cycle(self.people), time.monotonic() + seconds, len(self.asked)

        async def one() -> None:
            while time.monotonic() < end:
                await self.ask(*next(people))

        await asyncio.gather(*(one() for _ in range(concurrency)))
        return sum(a.took < math.inf for a in self.asked[begun:]) / seconds

    def begin(self) -> None:
        """Forget what was asked so far."""
        self.asked, self.lag = [], 0.0
        self.refusals.told, self.refusals.late, self.refusals.own = [], [], 0

    async def open(self, rate: float, seconds: float, households: int | None = None) -> None:
        """So many questions a second, whatever becomes of them.

        Args:
            households: only the people of the last so many ask.
        """
        chosen = self._trial.devices()[-(households or 0) :]
        users = {user for config in chosen for user in HouseholdState(config.data_dir).users()}
        people = cycle([pair for pair in self.people if pair[0] in users])
        begun = time.monotonic()
        for number in count():
            due = begun + number / rate
            if due - begun >= seconds:
                return
            while (now := time.monotonic()) < due:
                await asyncio.sleep(_TICK)
                self.lag = max(self.lag, time.monotonic() - now - _TICK)
            task = asyncio.create_task(self.ask(*next(people)))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            if number % 16 == 0:
                await asyncio.sleep(0)

    async def end(self) -> None:
        """Wait for what is under way."""
        if self._tasks:
            await asyncio.wait(set(self._tasks))


def per_second(asked: Sequence[Asked], patience: float, first: int, last: int) -> list[int]:
    """Answers in time, by the second in which they came, from the first question on."""
    begin, found = min(a.begun for a in asked), [0] * last
    for one in asked:
        second = one.begun + one.took - begin
        if one.took <= patience and second < last:
            found[int(second)] += 1
    return found[first:]


def answered_within(asked: Sequence[Asked], patience: float) -> float:
    """The share of questions that were answered in time."""
    return sum(a.took <= patience for a in asked) / max(len(asked), 1)


def settled(asked: Sequence[Asked], begin: float, patience: float) -> float:
    """Seconds after `begin` from which on, of each second's questions, nineteen in twenty were answered in time."""
    seconds: dict[int, list[Asked]] = {}
    for one in asked:
        seconds.setdefault(int(one.begun - begin), []).append(one)
    bad = [second for second, found in seconds.items() if answered_within(found, patience) < 0.95]
    return float(max(bad) + 1) if bad else 0.0


def quantile(values: Sequence[float], share: float) -> float:
    """A quantile; 0 without values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0
