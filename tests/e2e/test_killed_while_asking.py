"""Whoever is killed while an upstream thinks about a question: a sentence is said, and it is asked once (DESIGN 5.5).

Real processes: two workers of each service, an upstream that answers nothing of this, a household's agent.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

pytest.importorskip("starlette")

from bench.assistant.upstream import owner
from proxid.cli.demo.trial import DemoOptions, DemoTrial
from proxid.clients.agent.asking import AWAY
from proxid.clients.agent.people import Tokens
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.receipts import read_receipts
from proxid.runtime.config import load
from proxid.runtime.process.child import Child
from proxid.runtime.process.parent import die_with_parent
from tests.e2e.test_kills import audit, kill_service
from tests.e2e.test_workers import workers
from tests.support.addresses import free_port
from tests.support.waiting_upstream import ANSWER, SERVING

pytestmark = pytest.mark.slow
FAILED = "Sorry, I can't answer that just now."
PROMISED = 25
"""Seconds until a person hears something."""
PATIENCE = 120
"""Seconds that a process may take to start."""
ROOT = Path(__file__).resolve().parents[2]


class Upstream:
    """Its process, at one port however often it is started."""

    def __init__(self, folder: Path) -> None:
        self.port, self._output = free_port(), folder / "upstream.out"
        self._process: subprocess.Popen[bytes]

    def start(self) -> None:
        command = [*die_with_parent(), sys.executable, "-m", "tests.support.waiting_upstream", str(self.port)]
        with self._output.open("ab") as output:
            begin = output.tell()
            self._process = subprocess.Popen(command, cwd=ROOT, stdout=output)
        deadline = time.monotonic() + PATIENCE
        while SERVING not in self._output.read_text()[begin:]:
            assert time.monotonic() < deadline
            time.sleep(0.02)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def asked(self) -> list[tuple[int, str]]:
        """Ports and questions, each time that one was asked."""
        lines = (line.partition(" ") for line in self._output.read_text().splitlines())
        return [(int(port), text) for port, _, text in lines if text]


class House:
    """Services with an upstream, a household's agent, and somebody who asks it."""

    def __init__(self, folder: Path) -> None:
        self.trial = DemoTrial(folder, DemoOptions(people=10, form="pairs"))
        self.url, self.token = "", ""

    def start(self) -> None:
        self.trial.provision()
        self.upstream = Upstream(self.trial.logs)
        self.upstream.start()
        settings = {"upstream": {"url": f"http://127.0.0.1:{self.upstream.port}/v1", "model": "m"}}
        environment = {"PROXID_MAIN_SERVICE__RESPONDER": json.dumps(settings)}
        for name in ("main-service", "gateway"):
            config = str(self.trial.folder / name / f"{name}.toml")
            arguments = ["serve", name, "--config", config, "--workers", "2"]
            self.trial.children[name] = Child(name, arguments, self.trial.logs, environment)
        file = self.trial.folder / "devices/household-1/device.toml"
        file.write_text(f'{file.read_text()}\n[agent]\nopenai = "127.0.0.1:0"\npage = "127.0.0.1:0"\n')
        self.trial.children["agent"] = Child("agent", ["agent", "run", "--config", str(file)], self.trial.logs)
        for name in ("main-service", "gateway", "agent"):
            self.trial.children[name].start()
            self.ready(name)
        self.config = load(DeviceConfig, file)
        self.token = Tokens(self.config.data_dir, self.trial.users).make(self.trial.users[0])

    def ready(self, name: str) -> None:
        """Wait until it serves."""
        child = self.trial.children[name]
        child.wait_ready(PATIENCE)
        if name == "agent":
            self.url = child.output.read_text().split()[-1]

    def stop(self) -> None:
        self.trial.stop()
        self.upstream.kill()

    async def said(self, text: str) -> str:
        """What a person hears; raises HTTPError if that takes longer than promised, or nobody is there."""
        body = {"model": "proxid", "messages": [{"role": "user", "content": text}]}
        headers = {"authorization": f"Bearer {self.token}"}
        async with httpx.AsyncClient(trust_env=False, timeout=PROMISED, headers=headers) as client:
            answer = await client.post(f"{self.url}/chat/completions", json=body)
            return str(answer.json()["choices"][0]["message"]["content"])

    async def while_asking(self, text: str, strike: Callable[[int], None]) -> str:
        """Ask what the upstream is asked, strike once it was (by which port), and hear what is said."""
        asking = asyncio.create_task(self.said(text))
        async with asyncio.timeout(PROMISED):
            while not (ports := [port for port, asked in self.upstream.asked() if asked == text]):  # noqa: ASYNC110 - a process
                await asyncio.sleep(0.02)
        await asyncio.to_thread(strike, ports[0])
        return await asking

    def kill_worker(self, port: int) -> None:
        """The one of the main service that asked."""
        process = owner(port, workers(self.trial, "main-service").values())
        assert process is not None
        os.kill(process, signal.SIGKILL)

    def kill_upstream(self, _: int) -> None:
        self.upstream.kill()
        self.upstream.start()


@asynccontextmanager
async def house(folder: Path) -> AsyncIterator[House]:
    found = House(folder)
    try:
        await asyncio.to_thread(found.start)
        yield found
    finally:
        await asyncio.to_thread(found.stop)


async def test_a_sentence_is_said_and_the_upstream_is_asked_once(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        strikes: dict[str, tuple[Callable[[int], None], set[str]]] = {
            "worker": (home.kill_worker, {FAILED}),
            "upstream": (home.kill_upstream, {FAILED}),
            "main-service": (lambda _: kill_service(home.trial, "main-service"), {FAILED, AWAY}),
            "gateway": (lambda _: kill_service(home.trial, "gateway"), {FAILED, AWAY}),
        }
        questions, answered = 0, 0
        for who, (strike, sentences) in strikes.items():
            assert await home.while_asking(f"why was the {who} killed", strike) in sentences
            if who in home.trial.children:
                await asyncio.to_thread(home.ready, who)
            assert await home.said(f"who invented the {who}") == ANSWER
            assert await home.said("two times three") == "It is 6."
            questions, answered = questions + 3, answered + 2
        with pytest.raises(httpx.HTTPError):
            await home.while_asking("why was the agent killed", lambda _: kill_service(home.trial, "agent"))
        await asyncio.to_thread(home.ready, "agent")
        assert await home.said("who invented the agent") == ANSWER
        questions, answered = questions + 2, answered + 1
        calls = Counter(text for _, text in home.upstream.asked())
        assert len(calls) == 2 * (len(strikes) + 1) and set(calls.values()) == {1}
        await asyncio.to_thread(home.trial.children["agent"].stop)
        report = await asyncio.to_thread(audit, home.trial)
        assert report["violations"] == [] and report["counts"]["received"] == questions
        receipts = read_receipts(home.config.data_dir / "receipts.jsonl")
        assert len({receipt.session for receipt in receipts if receipt.kind == "response"}) >= answered
