"""What no skill knows an upstream is asked, once a session, whatever breaks; it is told of nobody (DESIGN 5.5)."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.rights import RightsClient
from proxid.protocol.rights import Right
from proxid.runtime.config import load
from proxid.runtime.store import connect
from tests.support.trial import PEOPLE, Trial, WithClassifier, running
from tests.support.upstream import ChatServer, Says, chat_server

FAILED = "Sorry, I can't answer that just now."
TIMEOUT = 3.0


@asynccontextmanager
async def answering(
    folder: Path, patch: pytest.MonkeyPatch, says: Says, identifiers: str = "off"
) -> AsyncIterator[tuple[Trial, ChatServer]]:
    with chat_server(says) as server:
        settings = {"url": server.url, "model": "small", "timeout": TIMEOUT, "identifiers": identifiers}
        patch.setenv("PROXID_MAIN_SERVICE__RESPONDER", json.dumps({"upstream": settings}))
        async with running(folder, Trial if identifiers == "off" else WithClassifier) as trial:
            yield trial, server


async def said(trial: Trial, person: str, text: str) -> str:
    return (await trial.device.ask(person, text)).text


async def test_skills_first_then_the_upstream_and_the_audit_is_clean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with answering(tmp_path, monkeypatch, lambda text: f"Nobody knows {text}.") as (trial, server):
        await trial.consent()
        assert await said(trial, PEOPLE[0], "two plus three") == "It is 5."
        assert await said(trial, PEOPLE[0], "why is the sky blue") == "Nobody knows why is the sky blue."
        assert len(server.seen) == 1
        await trial.settle()
        report = await trial.audit()
        assert report.violations == [] and report.counts["requests"] == 2


async def test_whatever_it_does_is_a_sentence_that_was_signed_and_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = threading.Event()
    ways: dict[str, object] = {"fail": 500, "nonsense": b"{", "never": None}

    def says(text: str) -> object:
        return ways[text] if ways[text] is not None else str(held.wait(30))

    async with answering(tmp_path, monkeypatch, says) as (trial, server):
        for person, way in zip(PEOPLE, ways, strict=False):
            assert await said(trial, person, way) == FAILED
        held.set()
        assert len(server.seen) == len(ways)
        await trial.settle()
        report = await trial.audit()
        assert report.violations == [] and report.counts["received"] == len(ways)


async def test_a_service_that_dies_meanwhile_asks_nobody_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = threading.Event()
    async with answering(tmp_path, monkeypatch, lambda _: str(held.wait(30))) as (trial, server):
        asking = asyncio.create_task(said(trial, PEOPLE[0], "why is the sky blue"))
        while not server.seen:  # noqa: ASYNC110 - of a thread
            await asyncio.sleep(0.02)
        await trial.halt("main-service")
        await trial.serve("main-service")
        assert await asyncio.wait_for(asking, 25) == FAILED
        held.set()
        assert len(server.seen) == 1
        assert await said(trial, PEOPLE[0], "two plus three") == "It is 5."
        await trial.settle()
        assert (await trial.audit()).violations == []


async def test_a_question_that_waits_keeps_nobody_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = threading.Event()
    async with answering(tmp_path, monkeypatch, lambda _: f"At last {held.wait(30)}.") as (trial, _):
        slow = [asyncio.create_task(said(trial, person, "why is the sky blue")) for person in PEOPLE[1:]]
        assert await said(trial, PEOPLE[0], "two plus three") == "It is 5."
        assert not any(task.done() for task in slow)
        held.set()
        assert set(await asyncio.gather(*slow)) == {"At last True."}


async def test_identifiers_stay_here_and_come_back_and_commands_are_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stand-ins in the place of who was named."""
    echo: Says = lambda text: f"About {text}"  # noqa: E731
    async with answering(tmp_path, monkeypatch, echo, "replace") as (trial, server):
        text = "explain to anna kowalski with the number 6175550123 what quantum physics is"
        assert await said(trial, PEOPLE[0], text) == f"About {text}"
        assert await said(trial, PEOPLE[1], "turn on the kitchen light") == "Sorry, I can't do that from here."
        (told,) = server.seen
        assert not [word for word in (b"kowalski", b"6175550123", b"kitchen") if word in told]
        assert b"Person-1" in told


async def test_its_person_is_forgotten_with_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asked once leaves the name of a session, which an erasure takes away."""
    async with answering(tmp_path, monkeypatch, lambda _: "Well.") as (trial, _):
        await said(trial, PEOPLE[0], "why is the sky blue")
        store = connect(trial.url("main-service"))
        assert len([key async for key in store.scan_iter(match="{ms}:b:*")]) == 1
        client = RightsClient(load(DeviceConfig, tmp_path / "devices/household-1/device.toml"), trial.device)
        await client.exercise(Right.ERASE, PEOPLE[0])
        async with asyncio.timeout(20):
            while [key async for key in store.scan_iter(match="{ms}:b:*")]:  # noqa: ASYNC110 - nothing signals it
                await asyncio.sleep(0.05)
        await client.close()
        await store.aclose()
