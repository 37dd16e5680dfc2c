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
from proxid.runtime.store.durable import wait_on_disk
from proxid.runtime.store.embedded import EmbeddedStore
from proxid.runtime.store.functions import FunctionLibrary, library_source
from tests.support.power import Power

SOURCES = {
    "gateway": (gateway_steps.SOURCES, gateway_steps.DURABLE),
    "main-service": (main_library.SOURCES, main_library.DURABLE),
}


@pytest.fixture
async def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Redis, Power]]:
    """A store, and what holds back its syncs."""
    monkeypatch.setattr("proxid.runtime.store.durable.TIMEOUT", 0.2)
    power = Power(tmp_path, monkeypatch)
    with EmbeddedStore(tmp_path / "store", appendfsync="everysec") as store:
        client = connect(store.url)
        yield client, power
        power.release()
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
async def test_no_step_that_must_last_is_acknowledged_before_it_is_on_disk(
    store: tuple[Redis, Power], role: str
) -> None:
    client, power = store
    functions = await functions_of(client, role)
    power.hold()
    assert functions._durable == SOURCES[role][1]
    # Lua is not asked: a step that did nothing may follow one whose answer was lost.
    functions._steps.call = _done  # type: ignore[method-assign, assignment]
    for name in sorted(SOURCES[role][1]):
        with pytest.raises(StoreError, match="TimeoutError"):
            await functions.call(name, KEYS)
    assert await functions.call("ms_receive", KEYS) == "done"


async def _done(_: object) -> str:
    return "done"


@pytest.mark.parametrize("role", ["gateway", "main-service"])
def test_the_steps_exist(role: str) -> None:
    sources, durable = SOURCES[role]
    text = library_source("any", sources)
    assert all(f"'{name}'" in text for name in durable)


async def test_with_everysec_they_share_a_sync(tmp_path: Path) -> None:
    with EmbeddedStore(tmp_path / "store", appendfsync="everysec") as store:
        client = connect(store.url)
        functions = await functions_of(client, "gateway")
        asked = [functions.call("gw_erase_begin", ("{gw}",), f"user-{n}", b"r", b"e", b"k") for n in range(200)]
        assert await asyncio.wait_for(asyncio.gather(*asked), 20) == [None] * 200
        assert 2 <= (await client.info("commandstats"))["cmdstat_config|set"]["calls"] <= 20
        assert (await client.config_get("appendfsync"))["appendfsync"] == "everysec"
        await client.aclose()


async def test_waiting_for_the_disk_leaves_the_setting_as_it_was_whoever_else_waits(tmp_path: Path) -> None:
    with EmbeddedStore(tmp_path / "store", appendfsync="everysec") as store:
        clients = [connect(store.url) for _ in range(4)]
        for _ in range(20):
            await asyncio.gather(*(wait_on_disk(client, "{any}:n", n) for n, client in enumerate(clients)))
        assert (await clients[0].config_get("appendfsync"))["appendfsync"] == "everysec"
        for client in clients:
            await client.aclose()


async def test_a_store_that_never_syncs_is_refused(tmp_path: Path) -> None:
    with EmbeddedStore(tmp_path / "store", appendfsync="no") as store:
        client = connect(store.url)
        with pytest.raises(ConfigError, match="never syncs"):
            await verify_server(client)
        await client.aclose()
