"""`proxid bench rights`: what erasure and access cost in a full store, and that nobody is kept from them.

The trial of the demo is started: gateway and main service as processes of their own, a store each, evidence on. The
stores are filled with the keys of `links` (100,000) person-epochs and as many waiting records, of other people.

    erase_accepted_s_at_100k          from the request of an erasure to its acceptance
    erase_keys_gone_s_at_100k         until none of the person's keys is in the gateway's store
    access_s_at_100k_waiting          20 people ask for access at once: until the last is answered
    connect_ok_at_1200ms              of 50 devices at once behind lines of 600 ms each way, how many are answered
    rss_growth_mb_under_abuse         MiB of memory that the service gains which gains more, while 24 hostile clients
                                      (`bench.rights.hostile`) send for `abuse_seconds` and rest as long

Options: links (100000), people (24), abuse_seconds (60).
"""

import asyncio
import os
import tempfile
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import uvloop
from redis.asyncio import Redis

from bench import Figure, parse_options
from bench.rights.hostile import abuse, memory
from bench.rights.slow_line import SlowLine
from device_sim.commands.common import open_households
from gateway.config import GatewayConfig
from gateway.server import screener_of
from gateway.store.steps import PREFIX as GATEWAY
from main_service.config import MainServiceConfig
from main_service.store.library import PREFIX as SERVICE
from main_service.store.library import library
from main_service.store.pool import PoolStore, SettingsOf
from proxid.anonymise.mix.settings import Settings
from proxid.anonymise.mix.types import Record
from proxid.cli.demo.trial import DemoOptions, DemoTrial
from proxid.clients.household.config import DeviceConfig
from proxid.clients.household.gateway import GatewayClient
from proxid.clients.household.rights import RightsClient
from proxid.clients.household.state import HouseholdState
from proxid.errors import InputError, ProxidError
from proxid.evidence.events import BufferedPayload
from proxid.protocol.request import Utterance
from proxid.runtime.config import load
from proxid.runtime.evidence_log.stream import events_waiting
from proxid.runtime.folder import socket_path
from proxid.runtime.store import connect

ASKING: Final = 20
CONNECTING: Final = 50
ROUND_TRIP: Final = 1.2
HOSTILE: Final = 24
_CHUNK: Final = 500
_POLL: Final = 0.02
_LETTERS: Final = str.maketrans("0189", "abcd")


@dataclass(frozen=True, slots=True)
class Options:
    """See the module."""

    links: int = 100_000
    people: int = 24
    abuse_seconds: int = 60

    @classmethod
    def parse(cls, options: Mapping[str, str]) -> "Options":
        """Options from the command line; raises InputError."""
        chosen = parse_options(cls, options)
        if chosen.people <= ASKING:
            raise InputError(f"people are at least {ASKING + 1}")
        return chosen


def run(options: Mapping[str, str]) -> dict[str, Figure]:
    """Measure; raises InputError for an option that cannot be measured."""
    chosen = Options.parse(options)
    with tempfile.TemporaryDirectory(prefix="proxid-bench-") as folder:
        trial = DemoTrial(Path(folder), DemoOptions(people=chosen.people, k=10, form="pairs"))
        trial.provision()
        try:
            trial.start_services()
            return uvloop.run(_measure(trial, chosen))
        finally:
            trial.stop()


async def _measure(trial: DemoTrial, options: Options) -> dict[str, Figure]:
    gateway_config = load(GatewayConfig, trial.folder / "gateway/gateway.toml")
    service_config = load(MainServiceConfig, trial.folder / "main-service/main-service.toml")
    gateway, service = [
        connect(f"unix://{socket_path(config.data_dir / 'store')}") for config in (gateway_config, service_config)
    ]
    async with open_households(trial.devices()) as speakers:
        for user, household in speakers.items():
            await household.consent(user, "everything")
            await household.ask(user, "what time is it")
        connected = await _connected(trial.devices()[0])
        grown = await _grown(trial, options.abuse_seconds)
        await asyncio.gather(*(household.ask(user, "what time is it") for user, household in speakers.items()))
        await fill_gateway(gateway, options.links)
        await fill_service(service_config, service, options.links, int(time.time() // service_config.epoch_seconds))
        while await events_waiting(service, SERVICE):  # noqa: ASYNC110 - what filling left for the evidence is not measured
            await asyncio.sleep(_POLL)
        clients = {
            user: RightsClient(config, speakers[user])
            for config in trial.devices()
            for user in HouseholdState(config.data_dir).users()
        }
        users = sorted(clients)
        accessed = await _access([(clients[user], user) for user in users[:ASKING]])
        tag = screener_of(gateway_config).user_tag(users[-1])
        accepted, gone = await _erase(clients[users[-1]], users[-1], gateway, tag)
        for client in clients.values():
            await client.close()
    await gateway.aclose()
    await service.aclose()
    return {
        "erase_accepted_s_at_100k": {"value": round(accepted, 3), "unit": "s", "reach": 1.0},
        "erase_keys_gone_s_at_100k": {"value": round(gone, 3), "unit": "s", "reach": 5.0},
        "access_s_at_100k_waiting": {"value": round(accessed, 3), "unit": "s", "reach": 3.0},
        "connect_ok_at_1200ms": {"value": connected, "unit": "ratio", "reach": 1.0},
        "rss_growth_mb_under_abuse": {"value": round(grown, 1), "unit": "MiB", "reach": 64.0},
    }


async def _connected(config: DeviceConfig) -> float:
    """The share of devices that are answered, each over a slow line of its own."""
    async with AsyncExitStack() as stack:
        made = [SlowLine(config.gateway, ROUND_TRIP / 2) for _ in range(CONNECTING)]
        lines = [await stack.enter_async_context(line.running()) for line in made]
        answers = await asyncio.gather(*(_answered(config, line.address) for line in lines))
    return sum(answers) / len(answers)


async def _answered(config: DeviceConfig, address: str) -> bool:
    client = GatewayClient.open(config.model_copy(update={"gateway": address, "attempts": 1}))
    try:
        return bool((await client.parameters()).epoch_key)
    except ProxidError:
        return False
    finally:
        await client.close()


async def _grown(trial: DemoTrial, seconds: int) -> float:
    before = memory(trial)
    await abuse(trial, HOSTILE, seconds)
    await asyncio.sleep(seconds)
    after = memory(trial)
    return max(after[name] - before[name] for name in before)


async def _access(asking: list[tuple[RightsClient, str]]) -> float:
    begun = time.perf_counter()
    await asyncio.gather(*(client.access(user) for client, user in asking))
    return time.perf_counter() - begun


async def _erase(client: RightsClient, user: str, store: Redis, tag: str) -> tuple[float, float]:
    begun = time.perf_counter()
    await client.accept(user)
    accepted = time.perf_counter() - begun
    names = [f"{GATEWAY}:{kind}:{tag}" for kind in ("s", "e", "i", "ig", "it")]
    while await store.exists(*names):  # noqa: ASYNC110 - another process deletes
        await asyncio.sleep(_POLL)
    return accepted, time.perf_counter() - begun


async def fill_gateway(store: Redis, links: int) -> None:
    """As many people linked, as a store holds them: nothing of them is ever verified."""
    for first in range(0, links, _CHUNK):
        pipe = store.pipeline(transaction=False)
        for i in range(first, min(first + _CHUNK, links)):
            user, prox, key = f"f{i:031x}", f"px1{i:032d}", f"{i:032x}"
            pipe.set(f"{GATEWAY}:e:{user}", os.urandom(32))
            fields: dict[Any, Any] = {"u": user, "id": f"someone{i}", "e": 1, "p": prox, "s": 1, "l": os.urandom(330)}
            pipe.hset(f"{GATEWAY}:k:{key}", mapping={**fields, "c": os.urandom(330)})
            pipe.set(f"{GATEWAY}:u:{user}:1", key)
            pipe.set(f"{GATEWAY}:p:{prox}", key)
            pipe.set(f"{GATEWAY}:ek:{key}", os.urandom(96))
            pipe.set(f"{GATEWAY}:es:{key}", os.urandom(1216))
            pipe.hset(f"{GATEWAY}:s:{user}", key, f"1|{prox}")
        await pipe.execute()


def _of_every_epoch(settings: Settings) -> SettingsOf:
    async def of(epoch: int) -> Settings:
        return settings

    return of


async def fill_service(config: MainServiceConfig, store: Redis, waiting: int, epoch: int) -> None:
    """Records of nobody who is asked for wait in an epoch, two people a category, so that they do."""
    pool, audience = PoolStore(library(store), _of_every_epoch(config.anonymiser.settings())), "acme:user_id"
    for first in range(0, waiting, _CHUNK):
        await asyncio.gather(
            *(_wait(pool, epoch, i, audience) for i in range(first, min(first + _CHUNK, waiting)))
        )  # fmt: skip


async def _wait(pool: PoolStore, epoch: int, number: int, audience: str) -> None:
    now, session, prox = time.time(), os.urandom(64), f"px1{number:032d}".translate(_LETTERS)
    path = (f"c{number // 2}", "x", "y")
    payload = BufferedPayload(
        session=session, prox_id=prox, seasoned=True, audience=audience, kind="general",
        opening=Utterance.new("what time is it", int(now * 1000)).opening, pipeline="bench", path=path,
        texts=("what time is it",), time_ms=int(now * 1000),
    )  # fmt: skip
    record = Record(session, prox, True, f"general|{audience}", path, (os.urandom(16),), now)
    await pool.submit(epoch, record, payload)
