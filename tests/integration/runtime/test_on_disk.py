"""What nobody may forget is on the store's disk before anybody is told, whatever `appendfsync` says."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from redis.asyncio import Redis

from gateway.store import steps as gateway_steps
from gateway.store.library import GatewayStore
from main_service.store import library as main_library
from main_service.store.library import KEYS, library
from proxid.errors import ConfigError, StoreError
from proxid.runtime.store import connect
from proxid.runtime.store.connection import verify_server
from proxid.runtime.store.embedded import EmbeddedStore
from proxid.runtime.store.functions import FunctionLibrary, library_source

SOURCES = {
    "gateway": (gateway_steps.SOURCES, gateway_steps.DURABLE),
    "main-service": (main_library.SOURCES, main_library.DURABLE),
}


@pytest.fixture
async def unsynced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Redis]:
    """A store that writes its file and never syncs it: a power cut would take everything."""
    monkeypatch.setattr("proxid.runtime.store.durable.TIMEOUT", 0.2)
    with EmbeddedStore(tmp_path / "store", appendfsync="no") as store:
        client = connect(store.url)
        yield client
        await client.aclose()


async def functions_of(client: Redis, role: str) -> FunctionLibrary:
    if role == "main-service":
        functions = library(client)
        await functions.load()
        return functions
    store = GatewayStore(client)
    await store.open()
    return store._functions


@pytest.mark.parametrize("role", ["gateway", "main-service"])
async def test_no_step_that_must_last_is_acknowledged_before_it_is_on_disk(unsynced: Redis, role: str) -> None:
    functions = await functions_of(unsynced, role)
    assert functions._durable == SOURCES[role][1]
    # Lua is not asked: a step that did nothing may follow one whose answer was lost.
    functions._steps.call = _done  # type: ignore[method-assign, assignment]
    for name in sorted(SOURCES[role][1]):
        with pytest.raises(StoreError, match="disk"):
            await functions.call(name, KEYS)
    assert await functions.call("ms_receive", KEYS) == "done"


async def _done(_: object) -> str:
    return "done"


@pytest.mark.parametrize("role", ["gateway", "main-service"])
def test_the_steps_exist(role: str) -> None:
    sources, durable = SOURCES[role]
    text = library_source("any", sources)
    assert all(f"'{name}'" in text for name in durable)


async def test_with_everysec_they_wait_for_the_sync_and_share_it(tmp_path: Path) -> None:
    with EmbeddedStore(tmp_path / "store", appendfsync="everysec") as store:
        client = connect(store.url)
        functions = await functions_of(client, "gateway")
        asked = [functions.call("gw_erase_begin", ("{gw}",), f"user-{n}", b"r", b"e") for n in range(200)]
        assert await asyncio.wait_for(asyncio.gather(*asked), 20) == [None] * 200
        waits = (await client.info("commandstats"))["cmdstat_waitaof"]["calls"]
        assert 1 <= waits <= 20
        await client.aclose()


async def test_a_store_that_never_syncs_is_refused(unsynced: Redis) -> None:
    with pytest.raises(ConfigError, match="never syncs"):
        await verify_server(unsynced)
