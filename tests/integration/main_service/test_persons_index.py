"""What is found by a person's own index ends by itself, and then leaves the index too."""

import asyncio
from types import SimpleNamespace
from typing import Any

from redis.asyncio import Redis

from main_service.store.epochs import EpochStore
from main_service.store.library import library
from main_service.store.requests import RequestStore

PERSON, DAY, MINUTE = "px1person", 86_400, 60
INDEX = "{ms}:i:" + PERSON


async def receive(requests: RequestStore, number: int, ttl: int) -> None:
    header = SimpleNamespace(signer=b"key", nonce=number.to_bytes(2), epoch=7)
    signed: Any = SimpleNamespace(header=header, session_id=number.to_bytes(64))
    assert await requests.begin(signed, PERSON, ttl, 1.0) is None
    assert await requests.receive(signed, PERSON, b"answer", b"pending", b"payload", (ttl, "")) is None


async def indexed(client: Redis) -> dict[bytes, float]:
    return dict(await client.zrange(INDEX, 0, -1, withscores=True))


async def alive(client: Redis) -> set[bytes]:
    there = {name: await client.exists(b"{ms}:" + name) for name in await indexed(client)}
    there |= {name: await client.exists(b"{ms}:people:7") for name in there if name.startswith(b"m:7:")}
    return {name for name, exists in there.items() if exists}


async def a_minute_passes(client: Redis) -> None:
    """For the index of the person, whose other keys the store has let go of already."""
    await client.zadd(INDEX, {name: end - MINUTE - 2 for name, end in (await indexed(client)).items()})


async def test_the_index_of_who_consents_to_nothing_holds_what_lives(client: Redis) -> None:
    functions = library(client)
    await functions.load()
    requests = RequestStore(functions)
    shown: Any = SimpleNamespace(
        epoch_key=b"key", epoch=7, prox_id=PERSON, evidence_key=b"evidence", instead="", encode=lambda: b"credential"
    )
    await requests.put_credential(shown, 3 * DAY)
    for number in range(50):
        await receive(requests, number, 1)
    while len(await alive(client)) > 2:  # noqa: ASYNC110 - the store lets go of keys by its own clock
        await asyncio.sleep(0.05)
    await a_minute_passes(client)
    await receive(requests, 50, DAY)
    kept = await indexed(client)
    assert len(kept) == 5  # the credential, that its epoch names it; who asked upstream, nonce and answer of the last
    assert await alive(client) == set(kept)
    assert await client.ttl(INDEX) > 3 * DAY
    assert await functions.call("ms_credential_of", ["{ms}"], PERSON) == b"credential"


async def test_what_an_epochs_people_showed_ends_soon_after_it(client: Redis) -> None:
    functions = library(client)
    await functions.load()
    requests, epochs = RequestStore(functions), EpochStore(functions)
    shown: Any = SimpleNamespace(
        epoch_key=b"key", epoch=7, prox_id=PERSON, evidence_key=b"evidence", instead="", encode=lambda: b"credential"
    )
    await requests.put_credential(shown, 30 * DAY)
    await client.set("{ms}:c:" + PERSON, b"choice", ex=30 * DAY)
    kept = [name async for name in client.scan_iter("{ms}:*") if name != b"{ms}:people:7"]
    assert len(kept) == 4 and [await client.ttl(name) > 29 * DAY for name in kept] == [True] * 4
    while not await epochs.let_go(7):
        pass
    assert not await client.exists("{ms}:people:7")
    assert max([await client.ttl(name) for name in kept]) <= 5 * DAY
    assert set(await indexed(client)) == await alive(client)
    assert min([await client.ttl(name) for name in kept]) > DAY
