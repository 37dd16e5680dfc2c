"""What assistants send along with a question goes nowhere: not into traffic, evidence, logs or files (DESIGN 5.6).

Everything that leaves the agent, both services and an upstream is kept and searched. So that the search cannot miss:
what was asked is found wherever texts may be, and afterwards the same things are let through and are found.
"""

import asyncio
import itertools
import json
import logging
import re
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest

pytest.importorskip("starlette")

import structlog
from wyoming.asr import Transcript
from wyoming.client import AsyncClient
from wyoming.event import Event as Heard
from wyoming.handle import Handled

from auditor.findings import GATEWAY, MAIN_SERVICE, Report
from auditor.reading.opening import Opener, Unopened
from auditor.setup import logs_of, opening_of
from proxid.clients.agent import openai_door
from proxid.clients.agent.people import Tokens
from proxid.clients.household.gateway import GatewayClient
from proxid.errors import RefusedError
from proxid.evidence.checkpoint import origin
from proxid.protocol import request
from tests.support.agent import running_agent
from tests.support.needles import WINDOW, found
from tests.support.trial import PEOPLE, Trial, running
from tests.support.upstream import ChatServer, chat_server

SYSTEM = "The burglaralarm of Kirchengasse opens by 7431926588; grandmother Wilhelmina sleeps upstairs."
CONTEXT = {"conversation_id": "01JQconversation", "satellite_id": "Kinderzimmer-satellite", "device_id": "f00dcafebabe"}
HEADERS = {"x-forwarded-user": "schwiegermutter", "cookie": "ingress_session=Keksdosenkeks", "user-agent": "Hausbot/42"}


def body(text: str) -> dict[str, Any]:
    """A question as an assistant asks it."""
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,UGFuZ29saW5waWN0dXJl"}}
    tool = {"name": "open_garagentor", "description": "Unlocks wolverhampton.", "parameters": {"type": "object"}}
    return {
        "model": "proxid", "user": "annmarie@household.example", "metadata": {"session": "Speisekammer"},
        "tools": [{"type": "function", "function": tool}],
        "messages": [
            {"role": "system", "content": SYSTEM}, {"role": "user", "content": "has Ferdinand a Nierenstein"},
            {"role": "assistant", "content": "Presumably Ferdinand complains."},
            {"role": "user", "name": "Schwiegersohn", "content": [image, {"type": "text", "text": text}]},
        ],
    }  # fmt: skip


def along() -> list[bytes]:
    """Every word of it that is somebody's own."""
    ours = {"messages", "function", "functions", "parameters", "metadata", "image_url", "description", "assistant"}
    words = re.findall(r"[\w@.-]+", f"{json.dumps(body(''))} {SYSTEM} {[*CONTEXT.values(), *HEADERS.values()]}")
    return sorted({word.encode() for word in words if len(word) >= WINDOW and word not in ours})


class Recorded:
    """A channel that keeps what its calls say and hear, before it is encrypted and once it is decrypted."""

    def __init__(self, channel: grpc.aio.Channel, traffic: list[bytes]) -> None:
        self._channel, self._traffic = channel, traffic

    def __getattr__(self, name: str) -> Any:
        made = getattr(self._channel, name)
        return self._recorded(made) if name in _CALLS else made

    def _recorded(self, made: Callable[..., Any]) -> Callable[..., Any]:
        def make(method: str, request_serializer: Any, response_deserializer: Any, **more: Any) -> Any:
            def out(message: Any) -> bytes:
                self._traffic.append(request_serializer(message))
                return self._traffic[-1]

            def back(data: bytes) -> Any:
                self._traffic.append(data)
                return response_deserializer(data)

            called = made(method, request_serializer=out, response_deserializer=back, **more)

            def call(*message: Any, metadata: Any = None, **options: Any) -> Any:
                self._traffic.append(f"{method} {metadata}".encode())
                return called(*message, metadata=metadata, **options)

            return call

        return make


_CALLS = ("unary_unary", "unary_stream", "stream_unary", "stream_stream")


@pytest.fixture
def traffic(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Every message between device and services."""
    kept, secure = list[bytes](), grpc.aio.secure_channel
    monkeypatch.setattr(grpc.aio, "secure_channel", lambda *a, **more: Recorded(secure(*a, **more), kept))
    return kept


@pytest.fixture
def sealed(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What is in the requests that nobody but the main service opens."""
    kept, encode = list[bytes](), request.Utterance.encode

    def kept_too(utterance: request.Utterance) -> bytes:
        kept.append(encode(utterance))
        return kept[-1]

    monkeypatch.setattr(request.Utterance, "encode", kept_too)
    return kept


class House:
    """Services, their upstream, and an agent with a token of each person."""

    def __init__(self, trial: Trial, server: ChatServer, url: str, uri: str, tokens: Mapping[str, str]) -> None:
        self.trial, self.server, self.url, self.uri, self.tokens = trial, server, url, uri, tokens

    async def ask(self, texts: list[str]) -> None:
        """Each text, at the two doors by turns; raises AssertionError where it was not answered."""
        people, lines = itertools.cycle(self.tokens), httpx.AsyncClient(trust_env=False, timeout=60, headers=HEADERS)
        async with lines as client, AsyncClient.from_uri(self.uri) as peer:
            for n, text in enumerate(texts):
                if n % 2:
                    heard = Transcript(text=text, language="en", context=CONTEXT).event()
                    await peer.write_event(Heard(heard.type, {**heard.data, "speaker": SYSTEM}, SYSTEM.encode()))
                    event = await asyncio.wait_for(peer.read_event(), 60)
                    assert event is not None and text in str(Handled.from_event(event).text)
                else:
                    token = {"authorization": f"Bearer {self.tokens[next(people)]}"}
                    answer = await client.post(f"{self.url}/chat/completions", json=body(text), headers=token)
                    assert text in answer.json()["choices"][0]["message"]["content"]

    def evidence(self) -> bytes:
        """Both services' as the auditor opens it."""
        config, read = self.trial.config("auditor"), b""
        logs, opening = logs_of(config), opening_of(config)
        for name, log in zip((GATEWAY, MAIN_SERVICE), logs, strict=True):
            opener = Opener(name, origin(config.service, name), opening, logs[0], Report(), Unopened())
            log.heads()  # which wait until everything of before stands in the log
            read += b"".join(e.header + e.payload for e in opener.events(log, 1, 1 << 62, lambda leaf: None))
        for log in logs:
            log.close()
        return read


@asynccontextmanager
async def house(folder: Path, patch: pytest.MonkeyPatch) -> AsyncIterator[House]:
    uri = f"unix://{folder}/wyoming.sock"
    doors = f'commands = "share"\n[[agent.wyoming]]\nuri = "{uri}"\nuser = "{PEOPLE[0]}"'
    with chat_server(lambda text: f"Nobody knows {text}.") as server:
        upstream = {"url": server.url, "model": "small", "identifiers": "off", "locale": True}
        patch.setenv("PROXID_MAIN_SERVICE__RESPONDER", json.dumps({"upstream": upstream}))
        async with running(folder) as trial:
            await trial.consent()
            async with running_agent(trial, doors) as (config, (*_, url)):
                kept = Tokens(config.data_dir, PEOPLE)
                yield House(trial, server, url, uri, {person: kept.make(person) for person in PEOPLE})


def written(folder: Path) -> Iterator[bytes]:
    """What any party keeps on disk: stores, evidence, receipts."""
    return (path.read_bytes() for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("asks", [8, pytest.param(200, marks=pytest.mark.slow)])
async def test_none_of_its_words_leave_the_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, traffic: list[bytes], sealed: list[bytes], asks: int,
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    caplog.set_level(logging.INFO)
    logged = ""

    async def everything(home: House) -> dict[str, bytes]:
        nonlocal logged
        await home.trial.settle()
        logged += "".join(capfd.readouterr()) + caplog.text
        return {
            "traffic": b"".join(traffic), "requests": b"".join(sealed), "upstream": b"".join(home.server.seen),
            "evidence": await asyncio.to_thread(home.evidence), "logs": logged.encode(),
            "files": b"".join(written(tmp_path)),
        }  # fmt: skip

    async with house(tmp_path, monkeypatch) as home:
        texts = [f"why is number {n} odd" for n in range(asks)]
        await home.ask(texts)
        told = await everything(home)
        for where, all_of_it in told.items():
            assert found(along(), all_of_it) == [], where
            assert found([token.encode() for token in home.tokens.values()], all_of_it) == [], where
        for where in ("requests", "upstream", "evidence", "files"):
            assert all(text.encode() in told[where] for text in texts), f"what was asked is not in the {where}"
        assert len(home.server.seen) == len(sealed) == asks and len(told["traffic"]) > 2000 * asks
        assert (await home.trial.audit()).violations == []
        await let_through(home, monkeypatch)
        for where, all_of_it in (await everything(home)).items():
            assert b"Wilhelmina" in found(along(), all_of_it), f"what is let through is not found in the {where}"


async def let_through(home: House, patch: pytest.MonkeyPatch) -> None:
    """A door that sends the prompt along, a device that tells it to the gateway, a service that logs it."""
    asked = openai_door._asked

    def with_prompt(whole: dict[str, Any]) -> Any:
        heard = asked(whole)
        heard.text += f" {SYSTEM}"
        return heard

    patch.setattr(openai_door, "_asked", with_prompt)
    await home.ask([f"why is number {n} even" for n in range(2)])
    client = GatewayClient.open(home.trial.device._config)
    with pytest.raises(RefusedError):
        await client.policy(SYSTEM.encode())
    await client.close()
    structlog.PrintLogger(sys.stderr).info(f"asked {SYSTEM}")  # past the filter, whoever has set it up in this process
