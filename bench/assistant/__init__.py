"""`proxid bench assistant`: what an assistant waits for, and how often an upstream is asked.

The trial of the demo is started: gateway, main service and a household's agent as processes of their own, evidence and
classifier on. An upstream in this process answers after a chosen time.

    agent_added_ms_p50                        of `asks` questions that built-in skills answer: what the agent's
                                              OpenAI-compatible door adds to the median of `Household.ask`, home
                                              commands told apart; the two take turns
    builtin_p95_ratio_beside_slow_upstream    such questions while 64 others wait for an upstream that is asked four at
                                              a time, half a second each, next to alone
    upstream_calls_per_session_max            two workers of the main service; devices that give up after 1 s and ask
                                              again, an upstream that takes 3 s, one that takes 30 s (longer than
                                              anybody waits), and the asking worker killed: calls of the question that
                                              was asked most
    page_2000_rows_s, page_2000_rows_kb       a person's page with 2,000 questions of their own history

Options: asks (200), slow (64).
"""

import asyncio
import json
import os
import signal
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Final

import uvloop

from bench import Figure, parse_options
from bench.assistant.asking import assistant
from bench.assistant.page import page_figures
from bench.assistant.upstream import CountingUpstream, owner
from proxid.cli.demo.trial import DemoOptions, DemoTrial
from proxid.clients.agent.people import Tokens
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.household import Household
from proxid.clients.household.state import HouseholdState
from proxid.errors import ChildError, InputError, ProxidError
from proxid.runtime.process.child import Child

_PEOPLE: Final = 20
_AT_ONCE: Final = 4
_SLOW: Final = 0.5
_KILLS: Final = 4
_TIMES: Final = ((3.0, 6), (30.0, 2))
"""Seconds of an upstream, and how many ask it."""
_GIVE_UP: Final = 1.0


@dataclass(frozen=True, slots=True)
class Options:
    """See the module."""

    asks: int = 200
    slow: int = 64

    @classmethod
    def parse(cls, options: Mapping[str, str]) -> "Options":
        """Options from the command line; raises InputError."""
        chosen = parse_options(cls, options)
        if min(chosen.asks, chosen.slow) < 20:
            raise InputError("asks and slow are at least 20: there are percentiles of them")
        return chosen


def run(options: Mapping[str, str]) -> dict[str, Figure]:
    """Measure; raises InputError for an option that cannot be measured."""
    chosen = Options.parse(options)
    with tempfile.TemporaryDirectory(prefix="proxid-bench-") as folder:
        trial = DemoTrial(Path(folder), DemoOptions(people=_PEOPLE, k=10, form="pairs"))
        trial.provision()
        try:
            measured = uvloop.run(_measure(trial, chosen))
        finally:
            trial.stop()
    return {**measured, **page_figures()}


async def _measure(trial: DemoTrial, options: Options) -> dict[str, Figure]:
    async with CountingUpstream().running() as upstream:
        await asyncio.to_thread(_start, trial, upstream.url, 1)
        first, second = trial.devices()
        async with AsyncExitStack() as stack:
            household = Household.open(second)
            stack.push_async_callback(household.close)
            user = household.users[0]
            direct, door = await _added(trial, first, lambda text: household.ask(user, text), options.asks)
            alone, beside = await _beside(household, upstream, options.slow)
        for name in ("main-service", "gateway"):
            await asyncio.to_thread(trial.children[name].stop)
        await asyncio.to_thread(_start, trial, upstream.url, 2)
        calls = await _calls(trial, second, upstream)
    return {
        "agent_added_ms_p50": {
            "value": round(1e3 * (door - direct), 2), "unit": "ms", "reach": 5.0,
            "baseline": f"Household.ask {1e3 * direct:.1f} ms",
        },
        "builtin_p95_ratio_beside_slow_upstream": {
            "value": round(beside / alone, 2), "unit": "ratio", "reach": 2.0, "baseline": f"alone {1e3 * alone:.1f} ms",
        },
        "upstream_calls_per_session_max": {"value": calls, "unit": "calls", "reach": 1.0},
    }  # fmt: skip


def _start(trial: DemoTrial, url: str, workers: int) -> None:
    settings = {"upstream": {"url": url, "model": "m", "concurrency": _AT_ONCE}}
    environment = {"PROXID_MAIN_SERVICE__RESPONDER": json.dumps(settings)}
    for name in ("main-service", "gateway"):
        arguments = ["serve", name, "--config", str(trial.folder / name / f"{name}.toml"), "--workers", str(workers)]
        trial.children[name] = child = Child(name, arguments, trial.logs, environment)
        child.start()
    for name in ("main-service", "gateway"):
        trial.children[name].wait_ready()


async def _seconds(asked: Awaitable[object]) -> float:
    begun = time.perf_counter()
    await asked
    return time.perf_counter() - begun


async def _added(
    trial: DemoTrial, config: DeviceConfig, ask: Callable[[str], Awaitable[object]], asks: int
) -> tuple[float, float]:
    """Medians of `Household.ask` and of the door of another household's agent, in turns."""
    file = trial.folder / "devices/household-1/device.toml"
    file.write_text(f'{file.read_text("utf-8")}\n[agent]\nopenai = "127.0.0.1:0"\npage = "127.0.0.1:0"\n', "utf-8")
    trial.children["agent"] = agent = Child("agent", ["agent", "run", "--config", str(file)], trial.logs)
    agent.start()
    await asyncio.to_thread(agent.wait_ready)
    url = agent.output.read_text("utf-8").split()[-1]
    users = HouseholdState(config.data_dir).names()
    token = Tokens(config.data_dir, users).make(users[0])
    direct, door = [], []
    async with assistant(url, token) as through:
        for at in range(asks + 5):
            text = f"what is {at} plus {at + 2}"
            direct.append(await _seconds(ask(text)))
            door.append(await _seconds(through(text)))
    await asyncio.to_thread(agent.stop)
    return median(direct[5:]), median(door[5:])  # the first ones link keys


async def _beside(household: Household, upstream: CountingUpstream, slow: int) -> tuple[float, float]:
    """95th percentiles of built-in answers alone, and while others wait for the upstream."""
    upstream.delay = _SLOW
    users = household.users

    async def builtin(at: int) -> float:
        return await _seconds(household.ask(users[0], f"what is {at} plus {at + 3}"))

    alone = [await builtin(at) for at in range(4 * slow)]
    waiting = [
        asyncio.create_task(household.ask(users[1 + at % (len(users) - 1)], f"why is number {at} odd"))
        for at in range(slow)
    ]
    beside: list[float] = []
    while not all(task.done() for task in waiting):
        beside.append(await builtin(len(beside)))
    await asyncio.gather(*waiting)
    return quantiles(alone, n=20)[-1], quantiles(beside, n=20)[-1]


async def _calls(trial: DemoTrial, config: DeviceConfig, upstream: CountingUpstream) -> int:
    """How often the most asked question was asked, whatever breaks."""
    upstream.calls.clear()
    household = Household.open(config.model_copy(update={"timeout": _GIVE_UP, "attempts": 60}))
    try:
        for delay, asks in _TIMES:
            upstream.delay = delay
            texts = [f"why is {delay:g} times {at} so" for at in range(asks)]
            await asyncio.gather(*(_whatever(household, text) for text in texts))
        upstream.delay = _TIMES[0][0]
        for at in range(_KILLS):
            text = f"why was worker {at} killed"
            asking = asyncio.create_task(_whatever(household, text))
            while text not in upstream.ports:  # noqa: ASYNC110 - what another process does
                await asyncio.sleep(0.02)
            worker = owner(upstream.ports[text], _workers(trial))
            if worker is None:
                raise ChildError("nobody is found who asked")
            os.kill(worker, signal.SIGKILL)
            await asking
    finally:
        await household.close()
    return max(upstream.calls.values())


async def _whatever(household: Household, text: str) -> None:
    """Ask; no answer is one, too: what counts is how often the upstream was asked."""
    try:
        await household.ask(household.users[0], text)
    except ProxidError:
        return


def _workers(trial: DemoTrial) -> list[int]:
    """The main service's workers."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
        except OSError:
            continue
        if "--worker" in words and str(trial.folder / "main-service/main-service.toml") in words:
            found.append(int(entry.name))
    return found
