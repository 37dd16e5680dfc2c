"""An erasure takes one person's things and nothing else, whatever the person is called."""

import random
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from device_sim.rights import RightsClient
from gateway.server import screener_of
from proxid.config import DeviceConfig, load
from proxid.errors import Code, RefusedError
from proxid.protocol.rights import Right
from proxid.store import connect
from proxid.store.evidence.writer import evidence_key_name
from tests.support.house import PEOPLE, House, running

NAMES = (
    "main-service", "gateway", "acme", "globex", "general", "location", "command", "alias", "user_id", "erased",
    "person", "person-", "px1", "PERSON-7x", "node", "everything", "a", "0", "1",
    "{gw}", "|", ":", "k:", "acme|general",
    "proxid", "cred", "link", "7/1/acme",
)  # fmt: skip
"""Words of the protocol, names of parties, parts of other people's names, what keys are made of."""

Snapshot = dict[bytes, Any]


async def snapshot(client: Redis) -> Snapshot:
    """Every key with its value; answers and windows that end by themselves are left out."""
    readers: dict[bytes, Any] = {
        b"string": client.get, b"hash": client.hgetall, b"set": client.smembers,
        b"zset": lambda k: client.zrange(k, 0, -1), b"list": lambda k: client.lrange(k, 0, -1),
        b"stream": client.xrange,
    }  # fmt: skip
    keys = [key async for key in client.scan_iter(count=1000)]
    found = {key: await readers[await client.type(key)](key) for key in keys}
    return {key: value for key, value in found.items() if key[5:7] != b"r:"}


def rights(house: House) -> RightsClient:
    return RightsClient(load(DeviceConfig, house.folder / "devices/household-1/device.toml"), house.device)


def of_person(store: Snapshot, prefix: bytes, tag: bytes, prox: bytes) -> set[bytes]:
    """Keys of one person: by the own index, and those that a person-epoch implies."""
    names = {b"i:" + owner for owner in (tag, prox)} | {
        kind + tag for kind in (b"e:", b"s:", b"ob:", b"it:", b"ig:", b"j:")
    }
    names |= set(store.get(prefix + b"i:" + tag, [])) | set(store.get(prefix + b"i:" + prox, []))
    names |= {b"c:" + prox, b"p:" + prox, b"k:" + store.get(prefix + b"p:" + prox, b""), evidence_name(prox)}
    for subject, value in store.get(prefix + b"s:" + tag, {}).items():
        epoch = value.partition(b"|")[0]
        names |= {b"ek:" + subject, b"u:" + tag + b":" + epoch, b"c:" + tag + b":" + epoch}
    found = {prefix + name for name in names} & store.keys()
    return (
        found
        | {key for key, value in store.items() if isinstance(value, dict) and value.get(b"u") == prox}
        | {key for key in store if key.endswith(b":" + prox)}
    )


def evidence_name(prox: bytes) -> bytes:
    return evidence_key_name("", prox.decode()).encode()[1:]


@pytest.mark.parametrize("name", [*random.Random(7).sample(NAMES, 2), "main-service", "acme"])
async def test_nobody_elses_things_go(tmp_path: Path, name: str) -> None:
    people = (*PEOPLE, name)
    async with running(tmp_path, people=people) as house:
        await house.consent(people=people)
        await house.device.ask(name, "node1 question")  # the first to come is in the first group
        await house.settle()
        await house.ask("node1 question", PEOPLE)
        await house.ask("node2 question", PEOPLE[:6])  # a group without the person waits in the feeds
        await house.device.ask(PEOPLE[0], "node3 waits alone")
        await house.device.ask(name, "node4 waits alone")
        await house.settle()
        clients = {role: connect(house.url(role)) for role in ("gateway", "main-service")}
        screener = screener_of(house.config("gateway"))
        marks = {
            user: (screener.user_tag(user).encode(), (await house.device.session(user)).prox_id.encode())
            for user in people
        }  # fmt: skip
        tag = marks[name][0]
        before = {role: await snapshot(client) for role, client in clients.items()}
        client = rights(house)
        await client.exercise(Right.ERASE, name)
        await client.close()
        after = {role: await snapshot(client) for role, client in clients.items()}
        for role, prefix in (("gateway", b"{gw}:"), ("main-service", b"{ms}:")):
            mine = of_person(before[role], prefix, *marks[name])
            for other in PEOPLE:
                kept = of_person(before[role], prefix, *marks[other]) - {prefix + b"ig:" + marks[other][0]}
                assert len(kept) >= 5 and not kept & mine
                for key in kept:
                    assert after[role].get(key) == before[role][key], (role, key)
            assert not mine & after[role].keys()
        report = await house.audit()
        assert report.violations == []
        gone = [k for k in before["gateway"] if k.startswith(b"{gw}:g:") and k not in after["gateway"]]
        assert all(tag in before["gateway"][key][b"m"] for key in gone)
        assert len(gone) == report.counts["dropped.erased"] > 0
        # Everybody else asks, consents, is served and delivered to as before.
        await house.ask("node5 question")
        await house.settle()
        got = await house.receive()
        await house.consent("nothing")
        assert sum(len(group.records) for groups in got.values() for group in groups) > 0
        with pytest.raises(RefusedError) as refused:
            await house.device.ask(name, "still there")
        assert refused.value.remote is Code.NOT_REGISTERED
        assert (await house.audit()).violations == []
        for client in clients.values():
            await client.aclose()
