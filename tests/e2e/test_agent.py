"""A household's agent as a process: killed in the middle of a question, it keeps the next one from nothing."""

import asyncio
import signal
import stat
from pathlib import Path

import httpx
import pytest

pytest.importorskip("starlette")

from proxid.clients.agent.people import Tokens
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.household import Household
from proxid.clients.household.remote_home import agent_socket, open_home
from proxid.errors import HouseholdBusyError
from proxid.runtime.config import load
from proxid.runtime.process.child import Child
from tests.support.trial import PEOPLE, running

ANN = PEOPLE[0]
SECRETS = ("the cat is called Tiger", "a_tool_of_the_house", "ann@example.org")


def started(agent: Child) -> str:
    """Where its OpenAI-compatible door is."""
    agent.start()
    agent.wait_ready()
    return agent.output.read_text().split()[-1]


async def asked(url: str, token: str, text: str) -> str:
    """With everything that assistants send along."""
    body = {
        "model": "proxid", "user": SECRETS[2], "tools": [{"type": "function", "function": {"name": SECRETS[1]}}],
        "messages": [{"role": "system", "content": SECRETS[0]}, {"role": "user", "content": text}],
    }  # fmt: skip
    async with httpx.AsyncClient(trust_env=False, timeout=25) as client:
        answer = await client.post(f"{url}/chat/completions", json=body, headers={"authorization": f"Bearer {token}"})
        return str(answer.json()["choices"][0]["message"]["content"])


async def test_killed_in_the_middle_it_is_there_again(tmp_path: Path) -> None:
    async with running(tmp_path) as trial:
        file = tmp_path / "devices/household-1/device.toml"
        doors = 'openai = "127.0.0.1:0"\npage = "127.0.0.1:0"\ncommands = "share"\n'
        doors += f'[[agent.wyoming]]\nuri = "unix://{tmp_path}/wyoming.sock"\nuser = "{ANN}"\n'
        file.write_text(f"{file.read_text()}\n[agent]\n{doors}")
        config = load(DeviceConfig, file)
        socket, token = agent_socket(config.data_dir), Tokens(config.data_dir, PEOPLE).make(ANN)
        agent = Child("agent", ["agent", "run", "--config", str(file)], tmp_path)
        url = await asyncio.to_thread(started, agent)
        assert await asked(url, token, "six times seven") == "It is 42."
        with pytest.raises(HouseholdBusyError):
            Household.open(config)
        await trial.halt("main-service")
        cut = asyncio.create_task(asked(url, token, "two plus three"))
        await asyncio.sleep(0)
        agent.kill()
        with pytest.raises(httpx.HTTPError):
            await cut
        assert socket.exists()  # of the one that was killed
        await trial.serve("main-service")
        url = await asyncio.to_thread(started, agent)
        assert await asked(url, token, "two plus three") == "It is 5."
        async with open_home(config) as home:
            assert (await home.ask(ANN, "two plus four")).text == "It is 6."
        assert stat.S_IMODE(socket.stat().st_mode) == 0o600
        assert await asyncio.to_thread(agent.stop) == 128 + signal.SIGTERM
        assert not socket.exists()
        await trial.settle()
        report = await trial.audit()
        assert report.violations == []
        written = b"".join(path.read_bytes() for path in everything(tmp_path))
        assert not [word for word in SECRETS if word.encode() in written]
        assert not [word for word in ("six times", ANN) if word in agent.errors.read_text()]


def everything(folder: Path) -> list[Path]:
    """Files of every party: stores, evidence, receipts, output."""
    return [path for path in folder.rglob("*") if path.is_file()]
