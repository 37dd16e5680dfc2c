"""What is found by a person's own index ends by itself, and then leaves the index too."""

import asyncio
from types import SimpleNamespace
from typing import Any

from redis.asyncio import Redis

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
    return {name for name in await indexed(client) if await client.exists(b"{ms}:" + name)}


async def a_minute_passes(client: Redis) -> None:
    """For the index of the person, whose other keys the store has let go of already."""
    await client.zadd(INDEX, {name: end - MINUTE - 2 for name, end in (await indexed(client)).items()})


async def test_the_index_of_who_consents_to_nothing_holds_what_lives(client: Redis) -> None:
    functions = library(client)
    await functions.load()
    requests = RequestStore(functions)
    shown: Any = SimpleNamespace(
        epoch_key=b"key", prox_id=PERSON, evidence_key=b"evidence", instead="", encode=lambda: b"credential"
    )
    await requests.put_credential(shown, 3 * DAY)
    for number in range(50):
        await receive(requests, number, 1)
    while len(await alive(client)) > 1:  # noqa: ASYNC110 - the store lets go of keys by its own clock
        await asyncio.sleep(0.05)
    await a_minute_passes(client)
    await receive(requests, 50, DAY)
    kept = await indexed(client)
    assert len(kept) == 4  # the credential; who asked upstream, the nonce and the answer of the last request
    assert await alive(client) == set(kept)
    assert await client.ttl(INDEX) > 3 * DAY
    assert await functions.call("ms_credential_of", ["{ms}"], PERSON) == b"credential"
