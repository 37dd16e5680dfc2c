"""A trial with a proxy on each of its lines, clocks that a schedule moves, and folders that can be full."""

import asyncio
import errno
import os
import shutil
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from proxid.runtime.evidence_log import files, promising
from proxid.runtime.folder import make_private, socket_path
from proxid.runtime.store import connect
from proxid.runtime.transport import places
from tests.schedules.line import Line
from tests.schedules.script import HOUR, PEOPLE, SERVICES
from tests.support.trial import Trial, provision

PLACES: Final = 16
"""Requests that a gateway carries at once; as many more may wait."""
_DEVICE_KEYS = 'timeout = "20 s"\ndeadline = "60 s"\n'
_GATEWAY_KEYS = 'forward_timeout = "10 s"\n'


class FullDisk:
    """What `os` is to the evidence: a volume on which some folders have no room, as the kernel would say it."""

    def __init__(self) -> None:
        self.folders: dict[str, Path] = {}
        self.refused: dict[str, int] = {}
        """Writes that found no room, by the service whose folder it is."""

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def write(self, descriptor: int, data: Any) -> int:
        path = os.readlink(f"/proc/self/fd/{descriptor}")
        for role, folder in self.folders.items():
            if path.startswith(f"{folder}/"):
                self.refused[role] = self.refused.get(role, 0) + 1
                raise OSError(errno.ENOSPC, "no room")
        return os.write(descriptor, data)


class World(Trial):
    """Both services, their stores, a household and two parties, and what lies between them."""

    appendfsync = "everysec"  # no machine loses its power here, and a store that is killed loses nothing

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.lines: dict[str, Line] = {}
        self.disk = FullDisk()
        self._passed: list[tuple[float, float]] = []
        # Every schedule begins at the same time of the day, wherever the machine's clock is.
        self.leap(8 * HOUR)

    async def start(self, stack: AsyncExitStack) -> None:
        stack.enter_context(self._patched())
        gateway, service = self.config("gateway").listen, self.config("main-service").listen
        for name, target in (("device", gateway), ("subscriber", gateway), ("forward", service)):
            self.lines[name] = await stack.enter_async_context(Line(target).running())
        for role in SERVICES:
            folder = (self.folder / role / "data/store").absolute()
            near = socket_path(folder, "line.sock")
            for place in (folder, near.parent):
                make_private(place)
            line = Line(f"unix://{socket_path(folder)}", near)
            self.lines[f"{role}-store"] = await stack.enter_async_context(line.running())
        _tell(self.folder / "devices/household-1/device.toml", _DEVICE_KEYS, "gateway", self.lines["device"])
        _tell(self.folder / "gateway/gateway.toml", _GATEWAY_KEYS, "main_service", self.lines["forward"])
        for path in self.folder.glob("parties/*/party.toml"):
            _tell(path, "", "gateway", self.lines["subscriber"])
        await super().start(stack)

    async def serve(self, role: str) -> None:
        direct = self._urls[role]
        self._urls[role] = self.lines[f"{role}-store"].address
        serving = asyncio.ensure_future(super().serve(role))
        await asyncio.sleep(0)  # it has read its configuration
        self._urls[role] = direct
        await serving
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().remove_signal_handler(number)  # they are this process's

    def is_up(self, role: str) -> bool:
        """Whether a service was started, and not halted since."""
        return role in self._tasks

    def ended(self) -> list[str]:
        """Services that ended by themselves, and of what."""
        done = {role: task for role, task in self._tasks.items() if task.done()}
        return [f"{role} ended by itself: {task.exception()!r}" for role, task in done.items()]

    async def kill_store(self, role: str) -> None:
        """A store's process dies, and is there again."""
        store = self.stores[role]
        if store.pid is not None:
            os.kill(store.pid, signal.SIGKILL)
        await asyncio.to_thread(store._spawn)
        await asyncio.to_thread(store._wait_ready)

    async def pass_time(self, seconds: float) -> None:
        """Time passes for everybody's clocks, and for what stores keep for a time.

        What is recorded is written before, if it can be: a jump is no time for whoever has something to do.
        """
        await self._written()
        self._passed.append((time.time(), seconds))
        for clock in self.clocks.values():
            clock.passed += seconds
        for role in SERVICES:
            client = connect(self.url(role))
            keys = [key async for key in client.scan_iter(count=1000)]
            async with client.pipeline(transaction=False) as step:
                for key in keys:
                    step.ttl(key)
                left = await step.execute()
                for key, ttl in zip(keys, left, strict=True):
                    if 0 <= ttl <= seconds:
                        step.delete(key)
                    elif ttl > seconds:
                        step.expire(key, int(ttl - seconds))
                await step.execute()
            await client.aclose()

    async def _written(self) -> None:
        for role, prefix in (("gateway", "{gw}"), ("main-service", "{ms}")):
            client = connect(self.url(role))
            for _ in range(10):
                if not await client.xlen(f"{prefix}:events"):
                    break
                await asyncio.sleep(0.1)
            await client.aclose()

    @contextmanager
    def _patched(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(files, "os", self.disk)
            # Fewer questions are a crowd, and clocks are compared often: what takes long elsewhere takes long here.
            patch.setattr(places.Places.__init__, "__defaults__", (PLACES, PLACES // 2, PLACES))
            patch.setattr(places, "WAITING", PLACES)
            patch.setattr("gateway.timekeeping.PAUSE", 1.0)
            patch.setattr("proxid.runtime.store.clock.PAUSE", 0.3)
            patch.setattr(promising.Promises, "_behind", _method(self._behind))
            yield

    async def _behind(self, promises: Any) -> float:
        """What a service asks its store's clock, which no schedule can move: the age of what is not in the log yet."""
        waiting: Any = await promises._client.xrange(promises._stream, count=1)
        if not waiting:
            return 0.0
        seconds, _, micros = waiting[0][1][b"u"].partition(b".")
        since = int(seconds) + int(micros) / 1e6
        return time.time() - since + sum(passed for at, passed in self._passed if at >= since)


def _tell(path: Path, keys: str, name: str, line: Line) -> None:
    """Have a party's configuration lead to a proxy."""
    rows = path.read_text().splitlines()
    told = [f'{name} = "{line.address}"' if row.startswith(f"{name} = ") else row for row in rows]
    path.write_text(keys + "\n".join(told) + "\n")


def _method(called: Callable[[Any], Awaitable[float]]) -> Any:
    """What stands in a class for a method that gets the object."""

    async def method(own: Any) -> float:
        return await called(own)

    return method


def made(folder: Path, form: str) -> Path:
    """A provisioned trial to copy, made once."""
    path = folder / form
    if not path.exists():
        issuers = 2 if form == "split" else 1
        provision(path, PEOPLE, anonymiser={"form": form, "sybil_margin": 0, "min_text_users": issuers})
    return path


@asynccontextmanager
async def world(template: Path, folder: Path) -> AsyncIterator[World]:
    """A fresh world that runs."""
    shutil.copytree(template, folder)
    async with AsyncExitStack() as stack:
        found = World(folder)
        await found.start(stack)
        yield found
