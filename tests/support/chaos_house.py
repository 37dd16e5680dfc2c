"""The demo's house, with lines that can be parted and services whose clocks can be set, each from outside.

devices ──▶ people ──▶ gateway ──▶ services ──▶ main service            parties ──▶ feeds ──▶ gateway
"""

import os
import signal
import struct
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cached_property
from pathlib import Path
from typing import Final

from redis import Redis

from proxid.cli.demo.trial import PARTIES, SERVICES, WITNESS, WITNESS_SECONDS, DemoOptions, DemoTrial
from proxid.clients.household.config import DeviceConfig
from proxid.runtime.folder import socket_path
from proxid.runtime.process.child import Child
from tests.support.parted_line import PartedLine

LINES: Final = ("people", "services", "feeds")
EPOCH: Final = 120
"""Seconds, of form `split`: several end while faults strike."""
START_SECONDS: Final = 300.0
_MOVED: Final = Path(__file__).parent / "moved_clock"
_PATIENT: Final = {"timeout": 10.0, "deadline": 30.0}


class ChaosHouse(DemoTrial):
    """See the module.

    Args:
        people: how many. form: of what is released. planted: a defect, as a program that changes a service.

    Attributes:
        ended: what ended by itself and was started again, by name, as a supervisor does it.
        full: from when to when a service could not write its log, in monotonic seconds.
    """

    def __init__(self, folder: Path, people: int, form: str, planted: str = "") -> None:
        super().__init__(folder, DemoOptions(people=people, form=form))
        self.full: list[tuple[float, float]] = []
        self._planted = planted
        self.lines: dict[str, PartedLine] = {}
        self.ended: Counter[str] = Counter()
        self._clocks = folder / "clocks"

    @cached_property
    def epoch(self) -> int:
        return EPOCH

    def provision(self) -> None:
        super().provision()
        self._clocks.mkdir()
        for name in SERVICES:
            (self._clocks / name).write_bytes(struct.pack("d", 0.0))

    @asynccontextmanager
    async def running(self) -> AsyncIterator["ChaosHouse"]:
        """All parts, once provisioned, each at its line."""
        async with AsyncExitStack() as stack:
            gateway, service = self._gateway, self._main_service
            for name, target in zip(LINES, (gateway, service, gateway), strict=True):
                self.lines[name] = await stack.enter_async_context(PartedLine(target).running())
            self._lead(self.folder / "gateway/gateway.toml", "main_service", service, "services")
            for path in self.folder.glob("devices/*/device.toml"):
                self._lead(path, "gateway", gateway, "people")
            for path in self.folder.glob("parties/*/party.toml"):
                self._lead(path, "gateway", gateway, "feeds")
            try:
                self.start()
                yield self
            finally:
                for pid in self._pids():
                    os.kill(pid, signal.SIGCONT)
                self.stop()

    def start_services(self) -> None:
        """On a machine that does other things too."""
        for name in SERVICES:
            self._serve(name)
        for name in SERVICES:
            self.children[name].wait_ready(START_SECONDS)

    def _lead(self, path: Path, key: str, target: str, line: str) -> None:
        text, old = path.read_text(), f'{key} = "{target}"'
        assert text.count(old) == 1, path
        path.write_text(text.replace(old, f'{key} = "{self.lines[line].address}"'))

    def _start(self, name: str, arguments: list[str]) -> Child:
        clock = self._clocks / name
        moved = {"PYTHONPATH": str(_MOVED), "PROXID_MOVED_CLOCK": str(clock), "PROXID_PLANTED": self._planted}
        self.children[name] = child = Child(name, arguments, self.logs, moved if clock.exists() else {})
        child.start()
        return child

    def devices(self) -> list[DeviceConfig]:
        return [config.model_copy(update=_PATIENT) for config in super().devices()]

    def set_clock(self, service: str, off: float) -> None:
        """From now on a service's clock is off by so many seconds."""
        with (self._clocks / service).open("r+b") as file:
            file.write(struct.pack("d", off))

    def supervise(self) -> None:
        """Start again what has ended by itself."""
        for name, child in self.children.items():
            if name in (*SERVICES, *PARTIES, WITNESS) and not child.running:
                self.ended[name] += 1
                child.start()

    def pid(self, name: str) -> int:
        """Of a part, or of a service's store (`gateway-store`); 0 if it is away."""
        if not name.endswith("-store"):
            return self.children[name].pid if self.children[name].running else 0
        return next(_stores((self.folder / name.removesuffix("-store") / "data/store").resolve()), 0)

    def store(self, service: str) -> Redis:
        """A client of a service's store."""
        path = socket_path(self.folder / service / "data/store")
        return Redis(unix_socket_path=str(path), socket_timeout=5, socket_connect_timeout=5)

    def _pids(self) -> list[int]:
        names = [*self.children, *(f"{name}-store" for name in SERVICES)]
        return [pid for name in names if (pid := self.pid(name))]

    def witness_again(self) -> None:
        """The witness that runs on, after one that cosigned once."""
        self._start(WITNESS, [*self._witness(), "--every", str(WITNESS_SECONDS)])


def _stores(folder: Path) -> Iterator[int]:
    """Servers that run in a folder, whatever they call themselves."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if b"server" in (entry / "cmdline").read_bytes() and Path(os.readlink(entry / "cwd")) == folder:
                yield int(entry.name)
        except OSError:
            continue
