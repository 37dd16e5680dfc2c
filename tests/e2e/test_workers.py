"""Several worker processes share a port and a store; a killed one is replaced; metrics are their sum (DESIGN 16)."""

import asyncio
import json
import os
import re
import signal
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from device_sim.commands.common import open_households
from device_sim.replay import Pace, Replay
from proxid.cli.demo.trial import SERVICES, DemoOptions, DemoTrial
from proxid.runtime.process.child import Child
from tests.support.addresses import free_port
from tests.support.processes import processes_under, wait_until_gone
from tests.support.trial import run_command

DEADLINE = 60


@pytest.fixture
def trial(tmp_path: Path) -> Iterator[DemoTrial]:
    """Both services with two workers each; no parties."""
    found = DemoTrial(tmp_path, DemoOptions(people=20, form="pairs"))
    found.provision()
    for name in SERVICES:
        variable = f"PROXID_{name.upper().replace('-', '_')}__METRICS_LISTEN"
        arguments = ["serve", name, "--config", str(tmp_path / name / f"{name}.toml"), "--workers", "2"]
        child = Child(name, arguments, found.logs, {variable: f"127.0.0.1:{free_port()}"})
        found.children[name] = child
        child.start()
        child.wait_ready()
    yield found
    found.stop()


def workers(trial: DemoTrial, name: str) -> dict[int, int]:
    """Process id by index of a service's workers."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if "--worker" in words and f"{trial.folder}/{name}/{name}.toml" in words and state != "Z":
            found[int(words[words.index("--worker") + 1])] = int(entry.name)
    return found


def metrics(trial: DemoTrial, name: str, path: str = "metrics") -> str:
    environment = trial.children[name].environment
    address = environment[f"PROXID_{name.upper().replace('-', '_')}__METRICS_LISTEN"]
    with urllib.request.urlopen(f"http://{address}/{path}", timeout=DEADLINE) as answer:
        return str(answer.read().decode())


async def test_two_workers_serve_survive_a_kill_and_are_counted_together(trial: DemoTrial) -> None:
    for name in SERVICES:
        await until(lambda name=name: set(workers(trial, name)) == {0, 1})
    before = {name: workers(trial, name) for name in SERVICES}
    killed = [before["gateway"][1], before["main-service"][0]]
    events = trial.events()

    def strike(summary: object) -> None:
        while killed and replay.summary.requests > len(events) // (len(killed) + 1):
            os.kill(killed.pop(), signal.SIGKILL)

    async with open_households(trial.devices()) as speakers:
        replay = Replay(speakers, Pace(12), strike)
        summary = await replay.run(events)
    assert (summary.answered, dict(summary.failed), dict(summary.refused)) == (len(events), {}, {})
    for name, index in (("gateway", 1), ("main-service", 0)):
        await until(lambda name=name: set(workers(trial, name)) == {0, 1})
        assert workers(trial, name)[index] != before[name][index]
    counted = re.search(r'proxid_calls_total\{code="ok",method="Ask"\} (\d+)', metrics(trial, "gateway"))
    assert counted is not None
    assert int(counted[1]) >= len(events)
    # Who died counts no more, and who came for it does once it serves.
    await until(lambda: "proxid_ready 2.0\n" in metrics(trial, "gateway"))
    assert "proxid_build_info{" in metrics(trial, "gateway")
    assert metrics(trial, "gateway", "readyz") == "ready\n"


@pytest.mark.slow
async def test_workers_that_are_killed_again_and_again_accuse_nobody(
    trial: DemoTrial, capfd: pytest.CaptureFixture[str]
) -> None:
    """Each of the four, twice, while people ask: whose requests one had under way, the other one goes on with."""
    for name in SERVICES:
        await until(lambda name=name: set(workers(trial, name)) == {0, 1})
    turns = [(name, index) for index in (1, 0) for name in SERVICES] * 2
    events, struck = trial.events(), 0

    def strike(summary: object) -> None:
        nonlocal struck
        if struck < len(turns) and replay.summary.requests > (struck + 1) * len(events) // (len(turns) + 1):
            name, index = turns[struck]
            running = workers(trial, name)
            if set(running) == {0, 1}:
                os.kill(running[index], signal.SIGKILL)
                struck += 1

    async with open_households(trial.devices()) as speakers:
        replay = Replay(speakers, Pace(12), strike)
        await replay.run(events)
    assert struck >= len(SERVICES)
    for name in SERVICES:
        await until(lambda name=name: set(workers(trial, name)) == {0, 1})
    await until(lambda: metrics(trial, "gateway", "readyz") == "ready\n")
    config, receipts = str(trial.folder / "auditor/auditor.toml"), str(trial.folder / "devices")
    for more in ((), ("--no-state",), ()):
        capfd.readouterr()
        await run_command("audit", "--config", config, "--receipts", receipts, "--json", *more)
        report = json.loads(capfd.readouterr().out.splitlines()[-1])
        assert report["violations"] == []
        assert all("cosigned" in reason["text"] for reason in report["unchecked"]), report["unchecked"]
        assert report["counts"]["receipts.compared.response"] > 0


async def until(condition: object) -> None:
    assert callable(condition)
    async with asyncio.timeout(DEADLINE):
        while not condition():  # noqa: ASYNC110 - nothing signals it
            await asyncio.sleep(0.05)


SIGNALS = [pytest.param(number, marks=pytest.mark.slow) for number in (signal.SIGTERM, signal.SIGHUP)]


@pytest.mark.parametrize("number", [*SIGNALS, signal.SIGKILL])
def test_parent_takes_its_workers_and_store_along(trial: DemoTrial, number: signal.Signals) -> None:
    deadline = time.monotonic() + DEADLINE
    while set(workers(trial, "gateway")) != {0, 1}:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    child = trial.children["gateway"]
    if number is signal.SIGKILL:
        child.kill()
    else:
        assert child.stop(number) == 0
    assert wait_until_gone(trial.folder / "gateway") == []
    assert processes_under(trial.folder / "main-service") != []
