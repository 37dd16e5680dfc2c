"""Real clients at a household's agent, before real services: OpenAI's and Wyoming's (DESIGN 5.6)."""

import asyncio
from pathlib import Path

import openai
import pytest
from wyoming.asr import Transcript
from wyoming.client import AsyncClient
from wyoming.handle import Handled, NotHandled
from wyoming.info import Describe, Info

from proxid.clients.agent.people import Tokens
from tests.support.agent import running_agent
from tests.support.trial import PEOPLE, running

pytestmark = pytest.mark.peers
PERSON = PEOPLE[0]


async def test_both_clients_ask_and_are_answered(tmp_path: Path) -> None:
    uri = f"unix://{tmp_path}/wyoming.sock"
    door = f'[[agent.wyoming]]\nuri = "{uri}"\nuser = "{PERSON}"'
    async with running(tmp_path) as trial, running_agent(trial, door) as (config, (*_, url)):
        token = Tokens(config.data_dir, PEOPLE).make(PERSON)
        async with openai.AsyncOpenAI(base_url=url, api_key=token, max_retries=0) as client:
            assert [model.id async for model in client.models.list()] == ["proxid"]
            messages = [
                {"role": "system", "content": "the cat is called Ada Lovelace"},
                {"role": "user", "content": "six times seven"},
            ]
            answer = await client.chat.completions.create(
                model="proxid",
                messages=messages,
                user="someone",
                tools=[{"type": "function", "function": {"name": "f"}}],
            )
            assert answer.choices[0].message.content == "It is 42."
            stream = await client.chat.completions.create(model="proxid", messages=messages, stream=True)
            parts = [chunk.choices[0].delta.content or "" async for chunk in stream]
            assert "".join(parts) == "It is 42."
            with pytest.raises(openai.APIStatusError) as long:
                await client.chat.completions.create(
                    model="proxid", messages=[{"role": "user", "content": "why " * 20_000}]
                )
            assert long.value.status_code == 413
        async with openai.AsyncOpenAI(base_url=url, api_key="nobody", max_retries=0) as stranger:
            with pytest.raises(openai.AuthenticationError):
                await stranger.models.list()
        async with AsyncClient.from_uri(uri) as peer:
            await peer.write_event(Describe().event())
            described = await peer.read_event()
            assert described is not None and Info.from_event(described).handle[0].name == "proxid"
            assert await heard(peer, "six times seven") == "It is 42."
            assert await heard(peer, "turn on the kitchen light") is None
            await trial.halt("gateway")
            assert "can't reach" in str(await heard(peer, "two plus three"))
            await trial.serve("gateway")
            assert await heard(peer, "two plus three") == "It is 5."
        await trial.settle()
        report = await trial.audit()
        assert report.violations == [] and report.counts["requests"] == 4


async def heard(peer: AsyncClient, text: str) -> str | None:
    """What is said to a transcript; None where the home is to act."""
    await peer.write_event(Transcript(text=text).event())
    event = await asyncio.wait_for(peer.read_event(), 25)
    assert event is not None
    if NotHandled.is_type(event.type):
        return None
    return Handled.from_event(event).text
