"""What a close and an erasure cost is paid in slices: nobody waits for a hundred thousand records (DESIGN 8.11, 11)."""

import asyncio
import time
from types import SimpleNamespace
from typing import Any

import pytest
from redis.asyncio import Redis

from main_service.jobs.splitting import Splitting
from main_service.store.library import PREFIX, library
from main_service.store.subjects import SubjectStore
from proxid.anonymise.split.settings import SplitSettings
from proxid.anonymise.split.types import Leaving, SplitRecord

RECORDS = 100_000
OUTBOX = f"{PREFIX}:outbox"


class Sink:
    """Takes what a tick lets go."""

    def __init__(self) -> None:
        self.portions = 0

    async def payloads(self, *_: Any) -> list[Any]:
        return []

    async def release(self, *_: Any) -> bool:
        self.portions += 1
        return True

    def release_entries(self, *_: Any) -> Any:
        return SimpleNamespace(parties=(), payload=SimpleNamespace(encode=lambda: b""))


async def longest_wait(work: Any) -> tuple[float, float]:
    """Seconds that somebody else on the loop waits at most while something is done, and that it takes."""
    waits, done = [0.0], asyncio.create_task(work)
    begun = at = time.perf_counter()
    while not done.done():
        await asyncio.sleep(0)
        waits.append(time.perf_counter() - at)
        at += waits[-1]
    await done
    return max(waits), time.perf_counter() - begun


@pytest.mark.slow
async def test_a_close_of_a_hundred_thousand_records_stalls_nobody() -> None:
    """Somebody else on the loop never waits for a quarter of what drawing all of their names takes at one go."""
    records = [SplitRecord(b"%064d" % i, f"u{i % 300}", "general|acme:alias", ("a",), ()) for i in range(RECORDS)]
    leaving = {"general|acme:alias": [Leaving(record, ("a",)) for record in records]}
    sink: Any = Sink()
    splitting = Splitting(SimpleNamespace(), sink, SimpleNamespace(), sink)  # type: ignore[arg-type]
    secrets: Any = SimpleNamespace(seed=bytes(32), epoch=7)

    async def at_one_go() -> None:
        from proxid.anonymise.split.draws import Draws
        from proxid.evidence.splitting import portions

        list(portions(1, leaving, Draws(bytes(32))))

    blocked, _ = await longest_wait(at_one_go())
    waited, _ = await longest_wait(splitting._let_go(secrets, SplitSettings(), 1, leaving))
    assert sink.portions == -(-RECORDS // 64)
    assert waited < blocked / 4


async def test_a_persons_releases_are_found_some_rows_at_a_time(client: Redis) -> None:
    store = SubjectStore(library(client))
    await library(client).load()
    for row in range(1, 41):
        name = b"\x00u7\x00" if row in (3, 29) else b"\x00u8\x00"
        await client.xadd(OUTBOX, {"party": "acme", "r": name}, id=f"{row}-0")
    assert await store.last_release("u7") == b"29-0"
    assert await store.last_release("u9") == b""
    assert await store.waits(b"29-0")
    await client.xtrim(OUTBOX, minid="30-0", approximate=False)
    assert not await store.waits(b"29-0")
    assert await store.last_release("u7") == b""
