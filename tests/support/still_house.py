"""Both services with real stores, keys, TLS and logs, whose time and whose jobs go on when a history says so.

Nothing waits for time to pass: clocks stand still until they are moved, and what a service runs beside its calls is
held until somebody runs a step of it. A service ends without a farewell, at any step of its store if a history says
which (`Fuse`). Stores and keys are made once: `begin` puts everything back as it was, which takes no new process.
"""

import asyncio
import shutil
import weakref
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest

from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.gateway import GatewayClient
from proxid.clients.household.household import Household
from proxid.clients.household.rights import RightsClient
from proxid.errors import ProxidError, StoreError, UpstreamError
from proxid.runtime.clock import Clocks
from proxid.runtime.config import load
from proxid.runtime.store import connect
from proxid.runtime.store.embedded import EmbeddedStore
from proxid.runtime.store.functions import FunctionLibrary
from tests.support.lies import GATEWAY, MAIN
from tests.support.still_jobs import LOGS, MOMENT, STEPS, TURNS, Held
from tests.support.trial import Trial, provision

PREFIXES = {GATEWAY: "{gw}", MAIN: "{ms}"}
HOME = "devices/household-1"
STUCK = 20.0
"""Seconds after which something hangs that nothing here waits for."""
_WHILE = 0.4
"""Seconds after which a call is taken to wait for a job."""
_PEER = 1.0
"""Seconds for which a service asks another before it goes on without: a busy machine must not decide that."""
_HELD = 200.0
"""Seconds after which somebody else may tell what is owed."""
_ROUNDS = 12

T = TypeVar("T")


class StillClock:
    """A wall clock and a monotonic one that stand still until they are moved."""

    def __init__(self, at: float) -> None:
        self.at, self.set, self.passed = at, 0.0, 0.0
        self.clocks = Clocks(self.wall, self.monotonic)

    def wall(self) -> float:
        return self.at + self.set + self.passed

    def monotonic(self) -> float:
        return 1000.0 + self.passed


@dataclass(slots=True)
class Fuse:
    """At which of its store's steps from now on a service dies, and whether that step is made."""

    left: int
    after: bool


class StillHouse(Trial):
    """See the module; `opened` makes one."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.jobs: dict[str, dict[str, Any]] = {}
        """Of each service that runs, by the names of their types."""
        self.stored: dict[str, Any] = {}
        """Clients of the stores."""
        self.fuses: dict[str, Fuse] = {}
        self.died = asyncio.Event()
        self.rights: RightsClient
        self._urls: dict[str, str] = {}
        self._libraries: dict[str, weakref.WeakSet[FunctionLibrary]] = {p: weakref.WeakSet() for p in PREFIXES.values()}
        self._dead: weakref.WeakSet[FunctionLibrary] = weakref.WeakSet()
        self.erasing: asyncio.Future[Any] | None = None

    async def start(self, stack: AsyncExitStack) -> None:
        for role in (MAIN, GATEWAY):
            store = self.stores[role] = EmbeddedStore(self.folder / role / "data/store", self.appendfsync)
            self._urls[role] = stack.enter_context(store).url
            self.stored[role] = connect(self._urls[role])
            stack.push_async_callback(self.stored[role].aclose)
        stack.push_async_callback(self.finish)
        self._swap(self.folder, self.folder / "kept")

    def _swap(self, source: Path, target: Path) -> None:
        """Copy all that lies in data folders, but for stores."""
        roots = [GATEWAY, MAIN, "auditor", HOME, *(f"parties/{path.name}" for path in (source / "parties").iterdir())]
        for root in roots:
            data = target / root / "data"
            data.mkdir(parents=True, exist_ok=True)
            for old in data.iterdir():
                if old.name != "store":
                    shutil.rmtree(old) if old.is_dir() else old.unlink()
            if (source / root / "data").exists():
                skip = shutil.ignore_patterns("store")
                shutil.copytree(source / root / "data", data, ignore=skip, dirs_exist_ok=True)

    # A history.

    async def begin(self, at: float) -> None:
        """A new history: nothing has happened yet.

        Args:
            at: Unix seconds that all clocks show.
        """
        self.fuses.clear()
        self.died.clear()
        for client in self.stored.values():
            await client.flushall()
        await asyncio.to_thread(self._swap, self.folder / "kept", self.folder)
        self.clocks = {role: StillClock(at) for role in (GATEWAY, MAIN, "device")}  # type: ignore[misc]
        for role in (MAIN, GATEWAY):
            await self.serve(role)
        await self.open_device()

    async def finish(self) -> None:
        """Everything ends that a history began."""
        await self.close_device()
        await self.stop()

    async def open_device(self) -> None:
        config = load(DeviceConfig, self.folder / HOME / "device.toml")
        config = config.model_copy(update={"attempts": 3, "timeout": STUCK})
        clock = self.clocks["device"].wall
        self.device = Household(config, GatewayClient.open(config), clock)
        self.rights = RightsClient(config, self.device, clock)

    async def close_device(self) -> None:
        if hasattr(self, "device"):
            await self.rights.close()
            await self.device.close()

    async def halt(self, role: str) -> None:
        """A service is killed: what it had under way comes to nothing."""
        self.fuses.pop(PREFIXES[role], None)
        for library in self._libraries[PREFIXES[role]]:
            self._dead.add(library)
        self._libraries[PREFIXES[role]].clear()
        if role == GATEWAY and self.erasing is not None:
            self.erasing.cancel()
            await asyncio.gather(self.erasing, return_exceptions=True)
            self.erasing = None
        await super().halt(role)

    async def kill(self, *roles: str, told: bool = True) -> None:
        """Services are killed, and started again.

        Args:
            told: whether each hears at once what time it is with the other.
        """
        for role in roles:
            await self.halt(role)
        for role in (MAIN, GATEWAY):
            if role in roles:
                await self.serve(role)
        await self.ready(told)

    async def ready(self, told: bool = True) -> None:
        """What a service does at once that has just been started."""
        for name in ("clock gateway", "clock main-service", "heads", *(["time"] if told else []), *LOGS):
            await self.step(name)

    async def pass_time(self, seconds: float) -> None:
        """For everybody; logs are written meanwhile, and what is owed to the main service may be told."""
        for name in LOGS:
            await self.step(name)
        for clock in self.clocks.values():
            clock.passed += seconds
        if seconds >= _HELD:
            await self.due()

    @contextmanager
    def held(self) -> Iterator[None]:
        """While the block runs, services that start have their jobs held, and fuses burn."""
        step, house = FunctionLibrary.call, self

        async def call(library: FunctionLibrary, function: str, keys: Sequence[str], *arguments: Any) -> Any:
            if library in house._dead:
                raise StoreError("this process is dead")
            house._libraries[keys[0]].add(library)
            fuse = house.fuses.get(keys[0])
            if fuse is None:
                return await step(library, function, keys, *arguments)
            fuse.left -= 1
            if fuse.left > 0:
                return await step(library, function, keys, *arguments)
            if fuse.left == 0:
                if fuse.after:
                    await step(library, function, keys, *arguments)
                house.died.set()
            return await asyncio.Event().wait()

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(FunctionLibrary, "call", call)
            patch.setattr("proxid.runtime.evidence_log.promising._FRESH", -1.0)  # of machine time, which hardly passes
            for module in ("proxid.runtime.transport.heads", "main_service.openings"):
                patch.setattr(f"{module}.PEER_SECONDS", _PEER)
            patch.setattr("main_service.epochs._SETTLE_SECONDS", _WHILE)
            patch.setattr("gateway.erasures.OPEN_SECONDS", _WHILE)
            patch.setattr("gateway.server.run", Held(self.jobs, GATEWAY).run)
            patch.setattr("main_service.server.run", Held(self.jobs, MAIN).run)
            yield

    # What a history does.

    async def acting(self, act: Coroutine[Any, Any, T], pumped: bool = False, limit: float = STUCK) -> T:
        """Until something that a device or party does has an outcome; a service that dies of it is started again.

        Args:
            pumped: it waits for jobs. limit: seconds after which it is given up.

        Raises:
            UpstreamError: it was given up. What it raises itself.
        """
        task, begun = asyncio.ensure_future(act), asyncio.get_running_loop().time()
        try:
            while not task.done():
                await self._alive(task, MOMENT if pumped else _WHILE)
                if not task.done():
                    await self.round()
                    await self.step("time")
                if asyncio.get_running_loop().time() > begun + limit:
                    assert limit < STUCK, "it hangs"
                    raise UpstreamError("given up")
            return task.result()
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _alive(self, task: asyncio.Future[Any], seconds: float) -> None:
        """Until a task is done, for so many seconds, or until a service dies, which is started again."""
        died = asyncio.ensure_future(self.died.wait())
        await asyncio.wait({task, died}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        died.cancel()
        if self.died.is_set():
            self.died.clear()
            await self.kill(*(role for role, prefix in PREFIXES.items() if self._burnt(prefix)))

    async def step(self, name: str) -> None:
        """One step of a job, by its name in `STEPS`; nothing of a service that is away."""
        role, job, act = STEPS[name]
        owner = self.jobs.get(role, {}).get(job)
        if owner is None:
            return
        task, begun = asyncio.ensure_future(act(self, owner)), asyncio.get_running_loop().time()
        while not task.done():
            await self._alive(task, STUCK)
            assert asyncio.get_running_loop().time() < begun + STUCK, f"{name} hangs"
            if self.jobs.get(role, {}).get(job) is not owner:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                return
        with suppress(ProxidError):
            task.result()

    def _burnt(self, prefix: str) -> bool:
        return prefix in self.fuses and self.fuses[prefix].left <= 0

    async def round(self) -> None:
        """Every job has its turn that has something to do."""
        for name in TURNS:
            await self.step(name)

    async def settle(self) -> None:
        """Until no job has anything to do."""
        seen: Any = None
        for _ in range(_ROUNDS):
            await self.round()
            before, seen = seen, await self._waiting()
            if seen == before:
                return

    async def _waiting(self) -> list[Any]:
        main, gateway = self.stored[MAIN], self.stored[GATEWAY]
        found = [await main.zcard("{ms}:pending"), await main.xlen("{ms}:outbox"), await main.get("{ms}:events:n")]
        found += [await gateway.scard("{gw}:jobs"), await gateway.get("{gw}:events:n")]
        return [*found, await main.xlen("{ms}:events"), await gateway.xlen("{gw}:events")]

    async def due(self) -> None:
        """What is owed to the main service may be told now: the store's own clock, which says when, moves no faster."""
        gateway = self.stored[GATEWAY]
        for name in await gateway.zrange("{gw}:owed", 0, -1):
            await gateway.zadd("{gw}:owed", {name: 0}, xx=True)

    async def compare(self) -> None:
        """Both services look at their clocks, and hear of each other's."""
        for name in ("heads", "time", "clock gateway", "clock main-service"):
            await self.step(name)


@asynccontextmanager
async def opened(
    folder: Path, before: Callable[[Path], None] = lambda _: None, **options: Any
) -> AsyncIterator[StillHouse]:
    """A house whose stores run; `begin` begins a history.

    Args:
        before: what is done to the folder, and counts in each history.
    """
    provision(folder, **options)
    house = StillHouse(folder)
    with house.held():
        async with AsyncExitStack() as stack:
            await asyncio.to_thread(before, folder)
            await house.start(stack)
            yield house
