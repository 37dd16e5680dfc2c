"""Plays a schedule in a world, and remembers what everybody was told."""

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.rights import RightsClient
from proxid.clients.subscriber.config import PartyConfig
from proxid.clients.subscriber.subscriber import open_subscriber
from proxid.errors import Code, ProxidError, RefusedError, StoreError
from proxid.protocol.consent import NOTHING
from proxid.protocol.rights import Right
from proxid.runtime.config import load
from proxid.runtime.evidence_log.stream import counted
from proxid.runtime.store import connect
from tests.schedules.doubles import Doubles
from tests.schedules.line import Fault
from tests.schedules.pace import patience
from tests.schedules.script import PARTIES, PEOPLE, SERVICES, Step
from tests.schedules.world import World

_ALL: Final = (0, 1 << 40)


@dataclass(frozen=True, slots=True)
class Taken:
    """From where in the gateway's log on nothing of a person may be sent to a party, and where that ends, if it does.

    Attributes:
        epochs: the first and the last one whose records it is about. by: what took it back.
    """

    person: str
    party: str
    epochs: tuple[int, int]
    after: int
    by: str


@dataclass(slots=True)
class Told:
    """What everybody was told."""

    answered: dict[bytes, str] = field(default_factory=dict)
    """Sessions and whose they are."""
    refused: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    """What may not happen, whatever fails."""
    taken: list[Taken] = field(default_factory=list)
    until: dict[Taken, int] = field(default_factory=dict)
    """Where in the gateway's log it was allowed again."""
    erased: set[str] = field(default_factory=set)
    erasing: set[str] = field(default_factory=set)
    """Who asked for it, whether or not they were told that it is done."""
    rows: dict[tuple[str, int, int], set[str]] = field(default_factory=lambda: defaultdict(set))
    alone: bool = False
    """An hour passed while the main service's clock was wrong: it may have ended the day by itself (DESIGN 4.3)."""
    clocks: set[str] = field(default_factory=set)
    """Whose clock was wrong at some time."""
    leapt: bool = False
    """An hour passed within a moment: what was begun before ends after it, as when a machine sleeps."""


class Play:
    """Everybody's part; each step of a script is one of its methods."""

    def __init__(self, world: World, doubles: Doubles) -> None:
        self.world, self.told = world, Told()
        self._doubles = doubles
        self._tasks: set[asyncio.Task[Any]] = set()
        self._turns: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._texts = 0
        self._noticing: dict[str, asyncio.Task[Any]] = {}
        self._store = connect(world.url("gateway"))
        self._device = load(DeviceConfig, world.folder / "devices/household-1/device.toml")

    async def close(self) -> None:
        """What is still under way is given up."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._store.aclose()

    async def step(self, step: Step) -> None:
        """Begin one step, and let its pause go by."""
        found = getattr(self, step.kind)(*step.arguments)
        if found is not None:
            await found
        await asyncio.sleep(step.pause)

    async def done(self) -> None:
        """Until everything that was begun has ended."""
        begun = time.monotonic()
        while self._tasks and time.monotonic() - begun < patience():
            await asyncio.wait(set(self._tasks), timeout=1.0)
        if self._tasks:
            self.told.wrong.append(f"{len(self._tasks)} calls never end")

    # What people do.

    def ask(self, person: str, node: str) -> None:
        self._texts += 1
        self._begin(self._ask(person, f"{node} question {self._texts}"))

    def chorus(self, node: str) -> None:
        self._texts += 1
        for person in PEOPLE:
            self._begin(self._ask(person, f"{node} together {self._texts}"))

    def consent(self, person: str, bundle: str) -> None:
        self._begin(self._consent(person, bundle))

    async def everybody(self, bundle: str) -> None:
        """Until they withdraw; waits for it, so that there is something to take back."""
        await asyncio.gather(*(self._consent(person, bundle, lasting=True) for person in PEOPLE))

    def right(self, right: str, person: str) -> None:
        self._begin(self._right(Right(right), person))

    def crowd(self, count: int) -> None:
        for number in range(count):
            self.ask(PEOPLE[number % len(PEOPLE)], "crowd")

    def receive(self, party: str) -> None:
        self._begin(self._receive(party))

    def receive_broken(self, party: str, seconds: float) -> None:
        """The party's process ends in the middle."""
        self._begin(self._receive(party, seconds))

    # What fails, and is over again.

    def strike(self, line: str, fault: Fault, seconds: float, way: int) -> None:
        self.world.lines[line].strike(fault, seconds, way)

    def heal(self, line: str) -> None:
        self.world.lines[line].heal()

    def clock(self, role: str, seconds: float) -> None:
        if seconds:
            self.told.clocks.add(role)
        self.world.clocks[role].set = seconds

    async def time(self, seconds: float) -> None:
        self.told.leapt |= seconds >= 3600
        if seconds >= 3600 and self.world.clocks["main-service"].set:
            self.told.alone = True
        await self.world.pass_time(seconds)

    async def epoch(self, seconds: float) -> None:
        """To so many seconds after the next end of an epoch, before it if they are negative."""
        length, now = self.world.config("gateway").epoch_seconds, self._now()
        end = (now // length + 1) * length
        await self.time(end + seconds - now if end + seconds > now else length)

    async def halt(self, role: str) -> None:
        if self.world.is_up(role):
            await self.world.halt(role)

    async def serve(self, role: str) -> None:
        if not self.world.is_up(role):
            try:
                await self.world.serve(role)
            except ProxidError as error:
                self.told.refused[f"serve {role} {error.code} {error.rule}"] += 1
                await self.world.halt(role)

    async def kill_store(self, role: str) -> None:
        await self.world.kill_store(role)

    def disk_full(self, role: str) -> None:
        self.world.disk.refused.pop(role, None)
        self.world.disk.folders[role] = self.world.folder / role / "data"
        self._noticing[role] = self._begin(self._nothing_is_taken(role))

    async def disk_room(self, role: str, noticed: bool = False) -> None:
        """There is room again, perhaps once the service has noticed that there was none."""
        if noticed and role in self._noticing:
            await asyncio.wait({self._noticing[role]})
        self.world.disk.folders.pop(role, None)

    def double(self, line: str, later: float) -> None:
        self._doubles.next(line, later)

    # How they do it.

    def _now(self) -> float:
        """The true time."""
        clock = self.world.clocks["device"]
        return clock.wall() - clock.set

    def _begin(self, doing: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
        task = asyncio.ensure_future(doing)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _tried(self, what: str, doing: Callable[[], Awaitable[Any]]) -> Any:
        """The result, or None if it was refused; notes what may not happen."""
        try:
            return await doing()
        except RefusedError as error:
            self.told.refused[f"{what} {error.remote}"] += 1
            if error.remote is Code.INTERNAL:
                self.told.wrong.append(f"{what} ends in an error that nobody foresaw")
        except ProxidError as error:
            self.told.refused[f"{what} {error.code} here"] += 1
        except Exception as error:
            self.told.wrong.append(f"{what} raises {error!r}")
        return None

    async def _ask(self, person: str, text: str) -> bool:
        answer = await self._tried("ask", lambda: self.world.device.ask(person, text))
        if answer is not None:
            self.told.answered[answer.session] = person
            if person in self.told.erased:
                self.told.wrong.append(f"{person} was erased and is answered")
        return answer is not None

    async def place(self) -> int:
        """Number of the newest event of the gateway's log."""
        while True:
            try:
                return (await counted(self._store, "{gw}")).last
            except StoreError:  # killed just now
                await asyncio.sleep(0.1)

    async def _consent(self, person: str, bundle: str, lasting: bool = False) -> None:
        async with self._turns[person]:
            granted = set(PARTIES) if bundle in ("everything", "searches") else set()
            granted |= {"acme"} if bundle == "only-acme" else set()
            epoch = int(self._now() // self._device.epoch_seconds)
            if bundle != NOTHING:
                await self._again(person, granted, "consent", epoch)
            if await self._tried("consent", lambda: self.world.device.consent(person, bundle, lasting)) is not None:
                # Under an alias a party goes on getting what it got; what it was to get by name before comes by name.
                first = epoch if bundle == "aliased" else 0
                await self._take(person, set(PARTIES) - granted, "consent", (first, epoch))

    async def _right(self, right: Right, person: str) -> None:
        async with self._turns[person]:
            if right is Right.RESUME:
                await self._again(person, set(PARTIES), "object")
            if right is Right.ERASE:
                self.told.erasing.add(person)
            client = RightsClient(self._device, self.world.device, self.world.clocks["device"].wall)
            try:
                doing = client.access(person) if right is Right.ACCESS else client.exercise(right, person)
                async with asyncio.timeout(60):
                    found = await self._tried(right, lambda: doing)
            except TimeoutError:
                found = None
            finally:
                await client.close()
            if found is not None and right in {Right.ERASE, Right.OBJECT}:
                await self._take(person, set(PARTIES), right.value)
                if right is Right.ERASE:
                    self.told.erased.add(person)

    async def _take(self, person: str, parties: set[str], by: str, epochs: tuple[int, int] = _ALL) -> None:
        place = await self.place()
        self.told.taken += [Taken(person, party, epochs, place, by) for party in parties]

    async def _again(self, person: str, parties: set[str], by: str, last: int = _ALL[1]) -> None:
        place = await self.place()
        for taken in self.told.taken:
            if (taken.person, taken.by, taken.epochs[1]) == (person, by, last) and taken.party in parties:
                self.told.until.setdefault(taken, place)

    async def _receive(self, party: str, seconds: float = 60.0) -> None:
        async with self._turns[party]:
            config = load(PartyConfig, self.world.folder / f"parties/{party}/party.toml")
            try:
                async with asyncio.timeout(seconds):
                    await self._tried("receive", lambda: self._groups(party, config))
            except TimeoutError:
                self.told.refused["receive ends"] += 1

    async def _groups(self, party: str, config: PartyConfig) -> None:
        async with open_subscriber(config) as subscriber:
            async for group in subscriber.groups(False):
                self.told.rows[party, group.id.epoch, group.id.group] |= {record.user for record in group.records}

    async def _nothing_is_taken(self, role: str) -> None:
        """While a log cannot be written nothing new is acknowledged, once its service has noticed."""
        disk = self.world.disk
        for _ in range(20):
            self.ask(PEOPLE[0], "full")
            await asyncio.sleep(0.5)
            if disk.refused.get(role) or role not in disk.folders:
                break
        await asyncio.sleep(1.0)
        if not disk.refused.get(role):
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(30.0):
                answered = await self._ask(PEOPLE[1], "full disk")
                if answered and role in disk.folders:
                    self.told.wrong.append(f"{role}'s log cannot be written, and a question is answered")

    # Afterwards.

    async def mend(self) -> None:
        """Everything works again."""
        for line in self.world.lines.values():
            line.heal()
        for role in SERVICES:
            await self.disk_room(role)
        for role in self.world.clocks:
            self.clock(role, 0.0)
        for role in SERVICES:
            await self.serve(role)
