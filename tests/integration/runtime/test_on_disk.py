"""What nobody may forget is on the store's disk before anybody is told, whatever `appendfsync` says."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from redis.asyncio import Redis

from gateway.store import steps as gateway_steps
from gateway.store.library import GatewayStore
from main_service.store import library as main_library
from main_service.store.library import KEYS, library
from main_service.store.outbox import Outbox
from main_service.store.requests import RequestStore
from proxid.encoding import encode
from proxid.errors import ConfigError, StoreError
from proxid.runtime.store import connect
from proxid.runtime.store.connection import verify_server
from proxid.runtime.store.durable import wait_on_disk
from proxid.runtime.store.embedded import EmbeddedStore
from proxid.runtime.store.functions import FunctionLibrary, library_source
from tests.support.power import Power

SOURCES = {"gateway": gateway_steps.SOURCES, "main-service": main_library.SOURCES}
LAST = {
    "gateway": {
        "gw_consent", "gw_consent_acknowledged", "gw_erase_begin", "gw_erase_done", "gw_erase_finish", "gw_object",
        "gw_objected", "gw_open_epoch",
    },
    "main-service": {
        "ms_close_epoch", "ms_consent", "ms_erase", "ms_erased", "ms_given_up", "ms_keep_opening", "ms_open_epoch",
        "ms_pool_withdraw", "ms_restrict", "ms_unrestrict",
    },
}  # fmt: skip
"""Steps that nobody may forget."""
TOLD = {
    "gateway": {
        "gw_accessed", "gw_answered", "gw_append", "gw_append_contents", "gw_append_entries", "gw_delivered",
        "gw_forward", "gw_link", "gw_noticed",
    },
    "main-service": {"ms_receive", "ms_refuse"},
}  # fmt: skip
"""Steps that somebody else is told of."""


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
    # Lua is not asked: a step that did nothing may follow one whose answer was lost.
    functions._steps.call = _done  # type: ignore[method-assign, assignment]
    for name in sorted(LAST[role] | TOLD[role]):
        with pytest.raises(StoreError, match="TimeoutError"):
            await functions.call(name, KEYS)
    assert await functions.call("ms_pending", KEYS) == "done"


async def test_nothing_that_was_read_is_told_before_it_is_on_disk(
    store: tuple[Redis, Power], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer that another call has just stored, a group in a feed, a release for the gateway."""
    client, power = store
    functions = await functions_of(client, "main-service")
    gateway = GatewayStore(client)
    await gateway.open()
    requests, outbox = RequestStore(functions), Outbox(client, functions)
    signed = SimpleNamespace(header=SimpleNamespace(signer=b"key", nonce=b"nonce"), session_id=b"session")
    tag = hashlib.sha256(b"keynonce").hexdigest()[:32]
    await client.mset({f"{{ms}}:n:{tag}": b"session", "{ms}:a:session": b"answer"})
    await client.xadd("{ms}:outbox", {"party": "acme", "e": 1, "n": 1, "r": encode()}, id="1-0")
    await client.zadd("{gw}:f:acme", {"1": 1})
    await client.hset("{gw}:g:acme:1", mapping={"e": 1, "n": 1, "r": b"", "k": "general|alias", "m": "", "a": "0"})
    monkeypatch.setattr("proxid.runtime.store.durable.TIMEOUT", 10.0)
    told: list[Any] = []
    for read in (
        lambda: requests.answer(signed),
        lambda: anext(outbox.follow(0)),
        lambda: gateway.take("acme", 0, 1),
    ):  # type: ignore[arg-type]
        power.hold()
        task = asyncio.ensure_future(read())
        done, _ = await asyncio.wait([task], timeout=0.5)
        assert not done
        power.release()
        told.append(await task)
    assert (told[0], told[1].cursor, [entry.cursor for entry in told[2]]) == (b"answer", 1, [1])


async def _done(_: object) -> str:
    return "done"


@pytest.mark.parametrize("role", ["gateway", "main-service"])
def test_the_steps_exist(role: str) -> None:
    text = library_source("any", SOURCES[role])
    assert all(f"'{name}'" in text for name in LAST[role] | TOLD[role])


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


async def test_a_store_that_is_set_to_always_is_waited_for_by_its_answers_alone(tmp_path: Path) -> None:
    with EmbeddedStore(tmp_path / "store", appendfsync="always") as store:
        clients = [connect(store.url) for _ in range(2)]
        for client in clients:
            await wait_on_disk(client, "{any}:n", 1)
            store_of = GatewayStore(client)
            await store_of.open()
            assert await store_of.call("gw_delivered", "acme", 1, 60, b"salt", b"{}", b"") == b"UNKNOWN"
        assert "cmdstat_config|set" not in await clients[0].info("commandstats")
        for client in clients:
            await client.aclose()


async def test_who_starts_while_another_waits_does_not_take_always_for_the_setting(tmp_path: Path) -> None:
    with EmbeddedStore(tmp_path / "store", appendfsync="everysec") as store:
        client = connect(store.url)
        waiting, ended = asyncio.create_task(wait_on_disk(client, "{any}:n", 1)), 0
        while not waiting.done():
            fresh = connect(store.url)
            ended += not (await functions_of(fresh, "gateway"))._lazy
            await fresh.aclose()
        assert not ended
        await client.config_set("appendfsync", "always")  # as a service leaves it that is killed in that moment
        assert (await functions_of(client, "gateway"))._lazy
        await client.aclose()


async def test_a_store_that_never_syncs_is_refused(tmp_path: Path) -> None:
    with EmbeddedStore(tmp_path / "store", appendfsync="no") as store:
        client = connect(store.url)
        with pytest.raises(ConfigError, match="never syncs"):
            await verify_server(client)
        await client.aclose()
