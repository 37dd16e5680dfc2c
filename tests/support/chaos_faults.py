"""Faults of a house of processes, drawn from a seed: killed, held, parted, its clocks set, its folders full."""

import asyncio
import os
import random
import resource
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from typing import Final

from redis.exceptions import RedisError

from proxid.cli.demo.trial import PARTIES, SERVICES
from tests.support.chaos_house import LINES, ChaosHouse
from tests.support.parted_line import WAYS

STORES: Final = tuple(f"{name}-store" for name in SERVICES)
KINDS: Final = ("kill", "pause", "part", "clock", "wrong start", "full")
_DAY: Final = 86_400.0
_CLOCKS: Final = {"pairs": (_DAY, -_DAY, 400 * _DAY, 30.0, -30.0), "split": (_DAY, -_DAY, 400 * _DAY, -400 * _DAY)}
"""Seconds by which a clock is set, by form: where an epoch lasts two minutes, less than clock_skew would end it."""
_ROOM: Final = 100
"""Bytes that a file may have while a folder is full."""
_DEVICES: Final = "devices"


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault: of whom, for how many seconds; how: the way in which a line is parted, the seconds of a clock.

    Attributes:
        waits: whether people are answered again before it strikes.
    """

    kind: str
    whom: str
    seconds: float
    how: str | float = ""
    waits: bool = True

    def __str__(self) -> str:
        return " ".join(filter(None, (self.kind, self.whom, str(self.how), f"{self.seconds:.1f} s")))


def drawn(seed: int, number: int, form: str) -> list[Fault]:
    """So many faults, the same ones for the same seed; every kind in turn."""
    source, found = random.Random(seed), []
    while len(found) < number:
        kinds = [*KINDS, "kill"]
        source.shuffle(kinds)
        found += [_fault(kind, source, form) for kind in kinds]
    return found[:number]


def _fault(kind: str, source: random.Random, form: str) -> Fault:
    seconds, waits = source.uniform(0.2, 3.0), source.random() < 0.8
    if kind in ("kill", "pause"):
        whom = source.choice([*SERVICES, *SERVICES, *STORES, *STORES, source.choice(PARTIES)])
        return Fault(kind, whom, 0.0 if kind == "kill" else 2 * seconds, "", waits)
    if kind == "part":
        return Fault(kind, source.choice(LINES), 2 * seconds, source.choice(WAYS), waits)
    if kind in ("clock", "wrong start"):
        return Fault(kind, source.choice(SERVICES), seconds, source.choice(_CLOCKS[form]), waits)
    whom = source.choice([*SERVICES, *STORES, source.choice(PARTIES), _DEVICES])
    return Fault(kind, whom, seconds + 5 if whom in SERVICES else seconds, "", waits)


async def strike(house: ChaosHouse, fault: Fault) -> None:
    """Let one happen, to its end."""
    with _STRIKES[fault.kind](house, fault):
        await asyncio.sleep(fault.seconds)
    house.supervise()


@contextmanager
def _kill(house: ChaosHouse, fault: Fault) -> Iterator[None]:
    pid = house.pid(fault.whom)
    if fault.whom.endswith("-store"):
        if pid:
            os.kill(pid, signal.SIGKILL)
    elif pid:
        house.children[fault.whom].kill()
        house.children[fault.whom].start()
    yield


@contextmanager
def _pause(house: ChaosHouse, fault: Fault) -> Iterator[None]:
    pid = house.pid(fault.whom)
    if not pid:
        yield
        return
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@contextmanager
def _part(house: ChaosHouse, fault: Fault) -> Iterator[None]:
    line = house.lines[fault.whom]
    line.part(str(fault.how))
    try:
        yield
    finally:
        line.mend()


@contextmanager
def _clock(house: ChaosHouse, fault: Fault) -> Iterator[None]:
    house.set_clock(fault.whom, float(fault.how))
    try:
        yield
    finally:
        house.set_clock(fault.whom, 0.0)


@contextmanager
def _wrong_start(house: ChaosHouse, fault: Fault) -> Iterator[None]:
    """A service starts with a wrong clock, which is set right once it runs."""
    with _clock(house, fault), _kill(house, fault):
        yield


@contextmanager
def _full(house: ChaosHouse, fault: Fault) -> Iterator[None]:
    if fault.whom.endswith("-store"):
        with _full_store(house, fault.whom.removesuffix("-store")):
            yield
        return
    pid = os.getpid() if fault.whom == _DEVICES else house.pid(fault.whom)
    if not pid:
        yield
        return
    usual, begun = resource.prlimit(pid, resource.RLIMIT_FSIZE), time.monotonic()
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (_ROOM, usual[1]))
    try:
        yield
    finally:
        if fault.whom in SERVICES:
            house.full.append((begun, time.monotonic()))
        if fault.whom == _DEVICES or house.pid(fault.whom) == pid:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, usual)


@contextmanager
def _full_store(house: ChaosHouse, service: str) -> Iterator[None]:
    store = house.store(service)
    with suppress(RedisError):  # it is away: that is worse
        store.config_set("maxmemory", 1)
    try:
        yield
    finally:
        while house.pid(f"{service}-store"):  # whichever it was that got the limit: another one has none
            try:
                store.config_set("maxmemory", 0)
                break
            except RedisError:
                time.sleep(0.1)
        store.close()


_STRIKES: Final[dict[str, Callable[[ChaosHouse, Fault], AbstractContextManager[None]]]] = {
    "kill": _kill, "pause": _pause, "part": _part, "clock": _clock, "wrong start": _wrong_start, "full": _full,
}  # fmt: skip
