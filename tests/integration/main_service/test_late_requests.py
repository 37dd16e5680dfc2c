"""Requests that were answered slowly: their epoch was closed meanwhile, or their person is being forgotten."""

from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from redis.asyncio import Redis

from main_service.store.epochs import EpochStore
from main_service.store.library import library
from main_service.store.pool import PoolStore
from main_service.store.requests import RequestStore
from main_service.store.subjects import SubjectStore
from proxid.anonymise.mix.settings import Settings
from proxid.errors import EpochError
from proxid.runtime.store import connect
from proxid.runtime.store.embedded import EmbeddedStore
from proxid.runtime.store.functions import FunctionLibrary

PERSON, DAY = "px1person", 86_400


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[tuple[Redis, FunctionLibrary]]:
    with EmbeddedStore(tmp_path / "store") as server:
        client = connect(server.url)
        functions = library(client)
        await functions.load()
        yield client, functions
        await client.aclose()


async def receive(functions: FunctionLibrary, epoch: int, nonce: bytes) -> bytes | None:
    header = SimpleNamespace(signer=b"key", nonce=nonce, epoch=epoch)
    signed: Any = SimpleNamespace(header=header, session_id=nonce * 64)
    return await RequestStore(functions).receive(signed, PERSON, b"answer", b"pending", b"payload", (DAY, ""))


async def events(client: Redis) -> list[str]:
    return [fields[b"t"].decode() for _, fields in await client.xrange("{ms}:events")]


async def test_nothing_is_received_in_an_epoch_that_was_closed_while_it_was_answered(
    store: tuple[Redis, FunctionLibrary],
) -> None:
    client, functions = store
    assert await receive(functions, 7, b"a") is None
    await client.sadd("{ms}:epochs", 7)
    await EpochStore(functions).close(7, 1, b"")
    with pytest.raises(EpochError):
        await receive(functions, 7, b"b")
    assert await receive(functions, 7, b"a") == b"answer"  # a retry of what was received in time
    assert await receive(functions, 8, b"c") is None
    assert (await events(client)).count("RECEIVED") == 2


async def test_what_is_answered_while_its_person_is_forgotten_does_not_wait(
    store: tuple[Redis, FunctionLibrary],
) -> None:
    client, functions = store
    await client.hset("{ms}:c:" + PERSON, mapping={"b": "everything", "v": "1"})

    async def settings(epoch: int) -> Settings:
        return Settings(k=2)

    assert await receive(functions, 7, b"a") is None
    assert await client.zcard("{ms}:pending") == 1
    await PoolStore(functions, settings).erase(7, PERSON)
    assert await receive(functions, 7, b"b") is None
    assert await client.zcard("{ms}:pending") == 0
    await SubjectStore(functions).erased(PERSON, bytes(16))
    assert await receive(functions, 7, b"c") is None
    assert await client.zcard("{ms}:pending") == 0
    assert await events(client) == ["RECEIVED", "SUPPRESSED"] * 2 + ["ERASED", "RECEIVED", "SUPPRESSED"]
    assert not [key async for key in client.scan_iter(match=f"*{PERSON}*") if b":i:" not in key]
