"""What /metrics shows: who and what waits, what was withheld and why, what parties have not taken (DESIGN 16)."""

import asyncio
from pathlib import Path

import pytest
from prometheus_client import REGISTRY
from redis.asyncio import Redis

import gateway.gauges
import main_service.gauges
from gateway.store.library import GatewayStore
from main_service.intake import NotLogged
from main_service.store.counts import CountStore
from main_service.store.epochs import EpochStore
from main_service.store.library import library
from proxid.anonymise.mix.types import Reason
from proxid.anonymise.slotted.types import SlotReason
from proxid.clients.subscriber.config import PartyConfig
from proxid.clients.subscriber.subscriber import open_subscriber
from proxid.errors import StoreError
from proxid.protocol.epochs import Epochs
from proxid.runtime.config import load
from proxid.runtime.observability import gauges
from proxid.runtime.observability.metrics import OTHER, REASONS, set_withheld
from tests.support.trial import PEOPLE, running


def value(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


async def reaches(wanted: float, name: str, **labels: str) -> None:
    async with asyncio.timeout(20):
        while value(name, **labels) != wanted:  # noqa: ASYNC110 - nothing signals it
            await asyncio.sleep(0.05)


async def test_waiting_withheld_and_backlog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gauges, "PAUSE", 0.05)
    async with running(tmp_path) as trial:
        await trial.consent(people=PEOPLE[:6])
        # Groups of k + 1 + m = 4 people: of six who ask, two wait on, with two records each.
        await trial.ask("node question", PEOPLE[:6])
        await trial.ask("node again", PEOPLE[4:6])
        await trial.ask("secret question", PEOPLE[:3])
        await trial.ask("node question", PEOPLE[6:])
        await trial.settle()
        await reaches(2, "proxid_waiting_people", type="general")
        await reaches(0, "proxid_waiting_people", type="location")
        await reaches(3, "proxid_withheld_records", type="unknown", reason="rejected")
        await reaches(2, "proxid_withheld_records", type="unknown", reason="no_consent")
        await trial.ask("node question", PEOPLE[4:6])
        await reaches(2, "proxid_withheld_records", type="general", reason="repeated")
        for party in ("acme", "globex"):
            await reaches(1, "proxid_feed_backlog_groups", party=party)
        await trial.receive("acme")
        await reaches(0, "proxid_feed_backlog_groups", party="acme")
        await reaches(1, "proxid_feed_backlog_groups", party="globex")


async def test_what_is_still_to_be_done_is_read_from_the_store(client: Redis) -> None:
    functions = library(client)
    await functions.load()
    await client.zadd("{ms}:pending", {"one": 1, "two": 2})
    for name, count in (("{ms}:events", 3), ("{gw}:events", 5)):
        for _ in range(count):
            await client.xadd(name, {"t": "UNREACHED"})
    await main_service.gauges.Gauges(CountStore(functions, client), EpochStore(functions), Epochs()).step()
    assert value("proxid_waiting_work", kind="classification") == 2
    assert value("proxid_waiting_work", kind="evidence") == 3
    store = GatewayStore(client)
    await store.open()
    await gateway.gauges.Gauges(store, []).step()
    assert value("proxid_waiting_work", kind="evidence") == 5


@pytest.mark.parametrize(
    ("breaks", "mends"),
    [
        (("CONFIG", "SET", "maxmemory", "1"), ("CONFIG", "SET", "maxmemory", "0")),
        (("REPLICAOF", "127.0.0.1", "1"), ("REPLICAOF", "NO", "ONE")),
        (("CONFIG", "SET", "min-replicas-to-write", "1"), ("CONFIG", "SET", "min-replicas-to-write", "0")),
    ],
    ids=["full", "follows another", "lacks its replicas"],
)
async def test_a_store_that_takes_nothing_is_as_one_that_is_away(
    client: Redis, breaks: tuple[str, ...], mends: tuple[str, ...]
) -> None:
    functions, store = library(client), GatewayStore(client)
    await functions.load()
    await store.open()
    found = [
        main_service.gauges.Gauges(CountStore(functions, client), EpochStore(functions), Epochs()),
        gateway.gauges.Gauges(store, []),
    ]
    await client.execute_command(*breaks)
    for looks in found:
        with pytest.raises(StoreError):
            await looks.step()
    await client.execute_command(*mends)
    for looks in found:
        await looks.step()
    await asyncio.sleep(0.01)
    assert not await client.exists("{gw}:written", "{ms}:written")


async def test_streams_are_counted_like_other_calls(tmp_path: Path) -> None:
    before = {code: value("proxid_calls_total", method="Subscribe", code=code) for code in ("ok", "caller_gone")}
    async with running(tmp_path) as trial:
        await trial.receive("acme")
        await reaches(before["ok"] + 1, "proxid_calls_total", method="Subscribe", code="ok")
        async with open_subscriber(load(PartyConfig, tmp_path / "parties/acme/party.toml")) as subscriber:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(1):
                    async for _ in subscriber.groups(True):
                        pass
        await reaches(before["caller_gone"] + 1, "proxid_calls_total", method="Subscribe", code="caller_gone")
    assert value("proxid_call_seconds_count", method="Subscribe") >= 2


def test_every_reason_has_a_label_and_nothing_else_has() -> None:
    assert {r.value for kind in (NotLogged, SlotReason, Reason) for r in kind} <= REASONS
    set_withheld("general", "my name is Zebulon", 1)
    assert value("proxid_withheld_records", type="general", reason=OTHER) == 1
