"""Whoever opens connections to an agent and says nothing keeps nobody else out, what breaks off is no fault."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytest.importorskip("starlette")

from wyoming.client import AsyncClient
from wyoming.info import Describe, Info

from proxid.clients.agent.people import Tokens
from proxid.clients.agent.server import serve
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.state import HouseholdState
from proxid.runtime.config import load
from tests.support.addresses import free_address
from tests.support.trial import provision

BODY = json.dumps({"model": "proxid", "messages": [{"role": "user", "content": "what time is it"}]})
MANY = 300
FEW = 128
SECONDS = 30.0
Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def agent(folder: Path) -> AsyncIterator[tuple[list[str], str]]:
    """An agent whose gateway is away: its doors' addresses (Wyoming, page, OpenAI), and a token."""
    provision(folder)
    file = folder / "devices/household-1/device.toml"
    user = HouseholdState(load(DeviceConfig, file).data_dir).names()[0]
    doors = 'openai = "127.0.0.1:0"\npage = "127.0.0.1:0"\ncommands = "share"\n'
    door = f'[[agent.wyoming]]\nuri = "tcp://{free_address()}"\nuser = "{user}"\n'
    file.write_text(f"{file.read_text()}\n[agent]\n{doors}{door}")
    config, told = load(DeviceConfig, file), asyncio.get_running_loop().create_future()
    running = asyncio.create_task(serve(config, told.set_result))
    try:
        async with asyncio.timeout(SECONDS):
            await asyncio.wait({running, told}, return_when=asyncio.FIRST_COMPLETED)
        yield (
            [f"127.0.0.1:{urlsplit(uri).port}" for uri in told.result().split("\n")],
            Tokens(config.data_dir, [user]).make(user),
        )
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def opened(address: str, *said: str) -> Connection:
    """A connection that says lines, the head of a request."""
    host, _, port = address.partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write("".join(f"{line}\r\n" for line in (*said, *([""] if said else []))).encode())
    await writer.drain()
    return reader, writer


async def begun(address: str, *said: str) -> Connection:
    """A request whose body is waited for."""
    reader, writer = await opened(address, *said, f"Content-Length: {len(BODY)}", "Expect: 100-continue")
    assert b"100" in await reader.readline() and await reader.readline() == b"\r\n"
    return reader, writer


async def answer(address: str, path: str) -> bytes:
    """The first line of it."""
    reader, writer = await opened(address, f"GET {path} HTTP/1.1", f"Host: {host_of(address)}")
    line = await reader.readline()
    writer.close()
    return line


def host_of(address: str) -> str:
    return f"localhost:{address.partition(':')[2]}"


def question(token: str) -> tuple[str, ...]:
    return "POST /v1/chat/completions HTTP/1.1", "Host: x", f"Authorization: Bearer {token}"


async def test_silent_connections_keep_nobody_out_and_who_is_answered_stays(tmp_path: Path) -> None:
    async with agent(tmp_path) as ((wyoming, page, door), token):
        asked = await begun(door, *question(token))
        asked[1].write(BODY.encode())
        silent = [await opened((wyoming, page, door)[number % 3]) for number in range(MANY)]
        assert b"401" in await answer(door, "/v1/models")
        assert b"200" in await answer(page, "/")
        async with AsyncClient.from_uri(f"tcp://{wyoming}") as client:
            await client.write_event(Describe().event())
            found = await client.read_event()
        assert found is not None and Info.is_type(found.type)
        assert sum(not reader.at_eof() for reader, _ in silent) <= FEW
        assert not asked[0].at_eof() and asked[0].exception() is None
        for _, writer in (asked, *silent):
            writer.close()


async def test_what_breaks_off_or_is_no_request_is_no_fault_of_the_agents(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with agent(tmp_path) as ((_, page, door), token):
        caplog.set_level(logging.WARNING)
        form = "POST /enter HTTP/1.1", f"Host: {host_of(page)}", f"Origin: http://{host_of(page)}"
        for address, said in ((door, question(token)), (page, form)):
            _, writer = await begun(address, *said)
            writer.write(b"half")
            writer.close()
            await writer.wait_closed()
            assert await answer(address, "/nowhere")
        reader, _ = await opened(door, "\x16\x03\x01\x02")  # TLS
        assert b"400" in await reader.read()
    assert not caplog.records, caplog.text
