"""Whatever somebody sends to a Wyoming door: their connection ends, nobody else's; nothing is told of it."""

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("wyoming")

from wyoming.asr import Transcript
from wyoming.client import AsyncClient
from wyoming.handle import Handled

from proxid.clients.agent import wyoming_door
from proxid.clients.agent.asking import Asking
from proxid.clients.agent.visitors import Visitors
from proxid.clients.household.doors import WyomingDoor

PLANTED = "zanzibarquetzal"


def event(**more: Any) -> bytes:
    return json.dumps({"type": "transcript", **more}).encode() + b"\n"


BROKEN = {
    "no JSON": PLANTED.encode() + b"\n",
    "a list": b"[]\n",
    "brackets": b"[" * 60_000 + b"\n",
    "no UTF-8": b"\xff\n",
    "a line without end": b"x" * 200_000,
    "no type": b'{"data": {}}\n',
    "no text": event(data={}),
    "no data": event(data=PLANTED),
    "a number for a text": event(data={"text": 5}),
    "no text of Unicode": event(data={"text": "\ud800"}),
    "a length that is none": event(data_length=PLANTED),
    "a payload that is not there": event(payload_length=1 << 40) + b"x",
    "data that are not there": event(data_length=1 << 40) + b"x",
    "context that is none": event(data={"text": "hello", "context": 5}),
}


class House:
    """Everybody is at home; nobody should be asked."""

    users = ("ann",)

    def is_erased(self, _user: str) -> bool:
        return False

    async def ask(self, user: str, text: str) -> Any:
        text.encode()
        return type("Answer", (), {"text": f"{user}: {text}"})()


async def test_what_is_no_event_ends_its_connection_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path, faults = tmp_path / "door.sock", list[dict[str, Any]]()
    asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context))
    door = WyomingDoor(uri=f"unix://{path}", user="ann")
    task = asyncio.create_task(wyoming_door.serve(door, Asking(House(), None), ["en"], Visitors()))
    with caplog.at_level(logging.DEBUG):
        async with asyncio.timeout(30):
            while not path.exists():  # noqa: ASYNC110 - nothing signals it
                await asyncio.sleep(0)
            for name, data in BROKEN.items():
                reader, writer = await asyncio.open_unix_connection(path)
                writer.write(data)
                said = await reader.read()  # until it is closed at the other end
                assert said == b"", name
                writer.close()
            async with AsyncClient.from_uri(door.uri) as peer:
                await peer.write_event(Transcript(text="hello").event())
                answer = await peer.read_event()
    task.cancel()
    assert answer is not None and Handled.from_event(answer).text == "ann: hello"
    assert faults == [] and PLANTED not in caplog.text
