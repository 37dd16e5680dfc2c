"""The doors of a household's agent: who is asked for, what is not carried, what is said (DESIGN 5.6)."""

import asyncio
import json
import os
import signal
import socket
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")

from starlette.testclient import TestClient
from wyoming.asr import Transcript
from wyoming.client import AsyncClient
from wyoming.handle import NotHandled

from proxid.classify import Classification, RequestType
from proxid.cli.main import main
from proxid.clients.agent import asking, wyoming_door
from proxid.clients.agent.asking import Asking
from proxid.clients.agent.openai_door import application
from proxid.clients.agent.page.codes import Codes
from proxid.clients.agent.people import Tokens
from proxid.clients.agent.server import _listener, serve
from proxid.clients.agent.visitors import Visitors
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.doors import AgentSettings, WyomingDoor
from proxid.errors import Code, ConfigError, InputError, OversizedError, RefusedError, UpstreamError
from proxid.runtime.config import load
from tests.support.trial import provision

PEOPLE = ("ann", "bob", "gone")


class House:
    """Notes what is asked; answers, or raises what a text names."""

    def __init__(self) -> None:
        self.users = [*PEOPLE]
        self.asked: list[tuple[str, str]] = []

    def is_erased(self, user_id: str) -> bool:
        return user_id == "gone"

    async def ask(self, user_id: str, text: str) -> Any:
        self.asked.append((user_id, text))
        raised = {
            "away": UpstreamError("gone"), "often": RefusedError(Code.RATE_LIMITED), "long": OversizedError("long"),
            "bug": ValueError(text), "unheard": RefusedError(Code.UPSTREAM_REFUSED),
        }  # fmt: skip
        if text in raised:
            raise raised[text]
        if text == "never":
            await asyncio.sleep(60)
        return type("Answer", (), {"text": f"{user_id}: {text}"})()


class Commands:
    def classify(self, text: str) -> Classification:
        found = RequestType.COMMAND if text.startswith("turn on") else RequestType.GENERAL
        return Classification(type=found, confidence=1.0)


@pytest.fixture
def house() -> House:
    return House()


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    return Tokens(tmp_path, PEOPLE)


@pytest.fixture
def door(house: House, tokens: Tokens) -> TestClient:
    token = tokens.make("ann")
    client = TestClient(application(Asking(house, Commands(), wait=0.2), tokens))
    client.headers["authorization"] = f"Bearer {token}"
    return client


def ask(door: TestClient, text: Any, **more: Any) -> Any:
    body = {"model": "proxid", "messages": [{"role": "user", "content": text}]} | more
    return door.post("/v1/chat/completions", json=body)


def said(response: Any) -> str:
    assert response.status_code == 200, response.text
    return str(response.json()["choices"][0]["message"]["content"])


def test_a_token_is_one_person_and_kept_as_a_digest(tmp_path: Path, tokens: Tokens) -> None:
    ann, bob = tokens.make("ann"), tokens.make("bob")
    assert (tokens.of(ann), tokens.of(bob), tokens.of("x"), tokens.of("")) == ("ann", "bob", None, None)
    files = [*(tmp_path / "tokens").iterdir()]
    assert len(files) == 2 and {file.stat().st_mode & 0o777 for file in files} == {0o600}
    assert ann not in str(files) + "".join(file.read_text() for file in files)
    assert tokens.revoke("ann") == 1 and tokens.of(ann) is None and tokens.of(bob) == "bob"
    assert Tokens(tmp_path, ["ann"]).of(bob) is None  # he is enrolled no more
    with pytest.raises(InputError):
        tokens.make("carol")


def test_the_last_message_is_asked_and_nothing_else(door: TestClient, house: House) -> None:
    messages = [
        {"role": "system", "content": "the house: kitchen light, ann's bedroom; people: ann, bob"},
        {"role": "user", "content": "an earlier question"}, {"role": "assistant", "content": "an earlier answer"},
        {"role": "user", "content": [
            {"type": "text", "text": "why is the sky blue"}, {"type": "image_url", "image_url": {"url": "data:secret"}},
        ]},
    ]  # fmt: skip
    more = {"messages": messages, "tools": [{"type": "function"}], "user": "ann@home", "temperature": 0.2}
    assert said(ask(door, "", **more)) == "ann: why is the sky blue"
    assert house.asked == [("ann", "why is the sky blue")]


def test_streamed_and_listed(door: TestClient) -> None:
    lines = ask(door, "hello", stream=True).text.split("\n\n")
    chunks = [json.loads(line.removeprefix("data: ")) for line in lines[:-2]]
    assert lines[-2] == "data: [DONE]" and chunks[0]["choices"][0]["delta"]["content"] == "ann: hello"
    assert [model["id"] for model in door.get("/v1/models").json()["data"]] == ["proxid"]


@pytest.mark.parametrize("authorization", ["", "Bearer nobody", "Basic x", "Bearer"])
def test_who_has_no_token_is_nobody(door: TestClient, house: House, authorization: str) -> None:
    door.headers["authorization"] = authorization
    for answer in (ask(door, "hello"), door.get("/v1/models")):
        assert answer.status_code == 401 and answer.json()["error"]["code"] == "invalid_api_key"
    assert house.asked == []


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400), (b"[]", 400), (b"\xff", 400), (b"x" * (2 << 20), 413),
        (b'{"model": "gpt-4o", "messages": []}', 404),
        (b'{"model": "proxid"}', 400), (b'{"model": "proxid", "messages": [1]}', 400),
        (b'{"model": "proxid", "messages": [{"role": "system", "content": "x"}]}', 400),
        (b'{"model": "proxid", "messages": [{"role": "user", "content": [{"type": "image_url"}]}]}', 400),
    ],
)  # fmt: skip
def test_what_is_no_request_says_why(door: TestClient, house: House, body: bytes, status: int) -> None:
    answer = door.post("/v1/chat/completions", content=body)
    assert answer.status_code == status and set(answer.json()["error"]) == {"message", "type", "param", "code"}
    assert house.asked == []


@pytest.mark.parametrize(
    ("text", "status", "words"),
    [
        ("away", 200, asking.AWAY), ("often", 429, asking.TOO_OFTEN), ("long", 413, asking.TOO_LONG),
        ("bug", 200, asking.NO_ANSWER), ("unheard", 200, asking.NO_ANSWER), ("never", 200, asking.AWAY),
    ],
)  # fmt: skip
def test_whatever_breaks_is_a_sentence(
    door: TestClient, text: str, status: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = ask(door, text)
    assert answer.status_code == status
    assert (said(answer) if status == 200 else answer.json()["error"]["message"]) == words
    assert text not in capsys.readouterr().out


def test_a_home_command_is_not_sent(door: TestClient, house: House, tokens: Tokens) -> None:
    assert said(ask(door, "turn on the kitchen light")) == asking.AT_HOME and house.asked == []
    shares = TestClient(application(Asking(house, None), tokens), headers=dict(door.headers))
    assert said(ask(shares, "turn on the kitchen light")) == "ann: turn on the kitchen light"


async def test_a_home_that_does_not_know_how_has_something_to_say(house: House, tmp_path: Path) -> None:
    """What comes with `not-handled` is spoken."""
    file = tmp_path / "ann.sock"
    listener = WyomingDoor(uri=f"unix://{file}", user="ann")
    door = asyncio.create_task(wyoming_door.serve(listener, Asking(house, Commands()), ["en"], Visitors()))
    async with asyncio.timeout(20):
        while not file.exists():  # noqa: ASYNC110 - nothing signals it
            await asyncio.sleep(0)
        async with AsyncClient.from_uri(listener.uri) as peer:
            await peer.write_event(Transcript(text="turn on the kitchen light").event())
            event = await peer.read_event()
    door.cancel()
    assert event is not None and NotHandled.from_event(event).text == asking.AT_HOME and house.asked == []


async def test_the_erased_and_strangers_are_not_asked_for(house: House) -> None:
    for user in ("gone", "carol"):
        assert (await Asking(house, None).ask(user, "hello")).text == asking.NOBODY
    assert house.asked == []


@pytest.mark.parametrize(
    "settings",
    [
        {"openai": "0.0.0.0:7447"}, {"openai": "192.168.1.2:7447"},
        {"wyoming": [{"uri": "tcp://0.0.0.0:1", "user": "a"}]}, {"wyoming": [{"uri": "tcp://127.0.0.1", "user": "a"}]},
        {"wyoming": [{"uri": "http://127.0.0.1:1", "user": "a"}]},
    ],
)  # fmt: skip
def test_a_door_beyond_this_machine_has_to_be_meant(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"exposed|uri"):
        AgentSettings(**settings)
    if "0" in str(settings.get("openai", "")):
        AgentSettings(**settings, exposed=True)


async def test_an_address_that_is_taken_is_said_and_no_code_outlives_the_agent(tmp_path: Path) -> None:
    provision(tmp_path)
    file = tmp_path / "devices/household-1/device.toml"
    codes = Codes(load(DeviceConfig, file).data_dir, ["ann"])
    code = codes.make("ann")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        doors = f'openai = "127.0.0.1:{taken.getsockname()[1]}"\npage = "127.0.0.1:0"\ncommands = "share"\n'
        file.write_text(f"{file.read_text()}\n[agent]\n{doors}")
        with pytest.raises(ConfigError, match="cannot listen"):
            await asyncio.wait_for(serve(load(DeviceConfig, file)), 20)
    assert codes.take(code) is None, "whoever had its port meanwhile may have been told it"


def test_an_answer_does_not_wait_until_its_head_is_acknowledged() -> None:
    listener, host, port = _listener("127.0.0.1:0")
    with listener, socket.create_connection((host, port)), listener.accept()[0] as accepted:
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


async def test_a_wyoming_door_leaves_signals_to_the_agent_and_its_socket_to_nobody(tmp_path: Path) -> None:
    wyoming_door = pytest.importorskip("proxid.clients.agent.wyoming_door", exc_type=ImportError)
    path, came = tmp_path / "door.sock", asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, came.set)
    try:
        door = WyomingDoor(uri=f"unix://{path}", user="ann")
        task = asyncio.create_task(wyoming_door.serve(door, Asking(House(), None), ["en"], Visitors()))
        async with asyncio.timeout(10):
            while not path.exists():  # noqa: ASYNC110 - nothing signals it
                await asyncio.sleep(0)
            _, visitor = await asyncio.open_unix_connection(path)
            os.kill(os.getpid(), signal.SIGTERM)
            await came.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        visitor.close()
        assert not path.exists()
    finally:
        loop.remove_signal_handler(signal.SIGTERM)


def test_a_code_for_a_page_that_nobody_serves_says_what_comes_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    provision(tmp_path)
    file = str(tmp_path / "devices/household-1/device.toml")
    assert main(["agent", "page", "--config", file, "-u", "person-0"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "it does not run; start it first" in said and "proxid agent run, with the same --config" in said
