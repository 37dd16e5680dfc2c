"""A store from before people had indexes: the start builds them, and an erasure then takes what it takes elsewhere."""

import json
from pathlib import Path

from redis.asyncio import Redis

from proxid.protocol.rights import Right
from tests.integration.gateway.test_erasure_index import Asked, look, marks_of, rights, stores
from tests.support.erased import Snapshot, others, without
from tests.support.trial import PEOPLE, running

ANN, OTHERS = PEOPLE[0], PEOPLE[1:]


async def forget(gateway: Redis, service: Redis) -> None:
    """Leave the stores as a version without indexes would have them."""
    for client, prefix, kinds in ((gateway, "{gw}", ("i", "ig", "it", "nm")), (service, "{ms}", ("i", "people"))):
        await client.delete(f"{prefix}:indexed")
        for kind in kinds:
            for key in [key async for key in client.scan_iter(f"{prefix}:{kind}:*")]:
                await client.delete(key)
    for key in [key async for key in gateway.scan_iter("{gw}:g:*")]:
        await gateway.hdel(key, "w")
    for kind in (b"in", b"by"):  # one set for all people of an audience
        for key in [key async for key in service.scan_iter(b"{ms}:pool:*:" + kind + b":*:px1*")]:
            shared, _, person = key.rpartition(b":")
            for unit in await service.smembers(key):
                await service.sadd(shared, person + b"|" + unit if kind == b"in" else unit + person)
            await service.delete(key)


def indexes(store: Snapshot) -> Snapshot:
    """What belongs to people; of what ends by itself within minutes only answers are looked for by the start."""
    found = {}
    for key, value in store.items():
        prefix, kind = key.split(b":")[:2]
        if kind == b"i":
            lasting = {b"{gw}": (b"a:", b"nm"), b"{ms}": (b"a:", b"q:", b"w:")}[prefix]
            found[key] = {name for name in value if name[:2] in lasting and prefix + b":" + name in store}
        elif kind == b"g":
            found[key] = json.loads(value.get(b"w", b"[]"))
        elif kind in (b"ig", b"it", b"nm") or (kind == b"pool" and key.split(b":")[3] in (b"in", b"by")):
            found[key] = value
    return {key: value for key, value in found.items() if value}


def _is_index(key: bytes) -> bool:
    return key.split(b":")[1] in (b"i", b"ig", b"it", b"nm", b"indexed")


async def test_a_store_without_indexes_gets_them_at_the_start(tmp_path: Path) -> None:
    asked = Asked(list)
    async with running(tmp_path) as trial, stores(trial) as clients:
        await trial.consent()
        await asked.ask(trial, "node1 question", PEOPLE)
        await trial.settle()
        await asked.ask(trial, "node2 question", PEOPLE[:5])
        await asked.ask(trial, "node3 waits alone", [ANN])
        await trial.settle()
        for role in ("gateway", "main-service"):
            await trial.halt(role)
        had = indexes(await look(clients))
        await forget(*clients)
        assert not any(map(_is_index, await look(clients)))
        for role in ("main-service", "gateway"):
            await trial.serve(role)
        assert indexes(await look(clients)) == had
        before = await look(clients)
        marks = await marks_of(trial, before, ANN, asked[ANN])
        client = rights(trial)
        await client.exercise(Right.ERASE, ANN)
        await client.close()
        after = await look(clients)
        assert lasting(others(after)) == lasting(without(before, marks))
        await asked.ask(trial, "node4 question", OTHERS)
        await trial.settle()
        await trial.receive()
        report = await trial.audit()
    assert report.violations == [] and report.counts["gateway.ERASED"] == 1


def lasting(store: Snapshot) -> Snapshot:
    """A store without nonces, which were not found and end within minutes."""
    return {key: value for key, value in store.items() if key.split(b":")[1] != b"n"}
