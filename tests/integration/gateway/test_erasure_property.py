"""Whoever is erased and whatever anybody is called: everybody else's keys and feed entries stay as they were."""

import asyncio
import json
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from redis.asyncio import Redis

from gateway.store.steps import PREFIX
from proxid.runtime.store import connect
from tests.support.erased import Snapshot, groups_with, others, snapshot, touches, without
from tests.support.erased_scene import Scene

WORDS = (
    "main-service", "gateway", "acme", "globex", "general", "location", "command", "alias", "user_id", "erased",
    "person", "person-", "person-1", "person-12", "px1", "px1" + "a" * 31, "node", "everything", "a", "0", "1", "7",
    "{gw}", "{ms}", "|", ":", "k:", "x:", "acme|general", "acme|1", "acme:1", "proxid", "cred", "link", "7/1/acme", "*",
    "paypal", "p\u0430ypal", "PAYPAL", "ann", "\u0430nn", "records", "nonce", "w", '"', "\\", "\n", "a,b",
)  # fmt: skip
"""Words of the protocol, parties, parts of other names, PROX_IDs cut short, what looks alike, parts of keys."""
ACTS = ("link", "consent", "ask", "append", "append", "take", "object", "receive", "pool", "pool", "slot", "place")

people = st.lists(st.sampled_from(WORDS) | st.text(min_size=1, max_size=8), min_size=4, max_size=7, unique=True)
acts = st.lists(st.tuples(st.sampled_from(ACTS), st.integers(0, 6), st.integers(0, 127)), min_size=10, max_size=50)


@settings(
    max_examples=12, phases=(Phase.explicit, Phase.generate),  # an example is long: making it shorter takes minutes
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)  # fmt: skip
@given(names=people, before=acts, between=acts, seed=st.integers(0, 2**32), leave=st.integers(1, 3))
def test_an_erasure_takes_the_persons_things_and_no_others(
    store_url: str, names: list[str], before: list[Any], between: list[Any], seed: int, leave: int
) -> None:
    async def run() -> None:
        client = connect(store_url)
        scene = Scene(client, names, seed)
        await scene.open()
        for person in scene.people[:]:  # everybody lets everything out: groups form and stay
            await scene.act("consent", scene.people.index(person), 1)
        for acts in [before] + [between] * (leave - 1):
            for act in acts:
                await scene.act(*act)
            await erase_one(scene, client)
        await client.aclose()

    asyncio.run(run())


async def erase_one(scene: Scene, client: Redis) -> None:
    victim = scene.people[scene.source.randrange(len(scene.people))]
    before = await snapshot(client)
    header = await scene.erase(victim)
    after = await snapshot(client)
    assert others(after) == without(before, victim.marks)
    left = {key for key, value in after.items() if touches(key, victim.marks) or touches(value, victim.marks)}
    # Of the person there is a tombstone, and the notices that were made; in events there are headers to be logged.
    assert {key.split(b":")[1] for key in left} <= {b"x", b"y", b"events"} | ({b"pool"} if pool_ids(left) else set())
    listed(before, after, header, victim.marks)
    assert told(before, after)


def pool_ids(keys: set[bytes]) -> bool:
    """Whether all keys of pools are those of ids that came before, which are nobody's."""
    return all(key.endswith(b":ids") for key in keys if key.startswith(b"{ms}:pool:"))


def listed(before: Snapshot, after: Snapshot, header: dict[str, Any], marks: set[bytes]) -> None:
    """Each group that went was not acknowledged and is DROPPED as erased, or was; ERASED lists both."""
    went: dict[bool, set[str]] = {True: set(), False: set()}
    for party, cursor in groups_with(before, marks):
        fields = before[f"{PREFIX}:g:".encode() + party + b":" + cursor]
        went[fields[b"a"] == b"1"].add(f"{fields[b'e'].decode()}/{fields[b'n'].decode()}/{party.decode()}")
    assert (set(header["removed"]), set(header["dropped"])) == (went[True], went[False])
    old = len(before[f"{PREFIX}:events".encode()])
    rows = [fields for _, fields in after[f"{PREFIX}:events".encode()][old:]]
    headers = [json.loads(fields[b"h"]) for fields in rows if fields[b"t"] == b"DROPPED"]
    assert sorted(f"{h['epoch']}/{h['group']}/{h['party']}" for h in headers) == sorted(went[False])
    assert {h["reason"] for h in headers} <= {"erased"}
    waiting = {party: len(after.get(f"{PREFIX}:o:{party}".encode(), ())) for party in ("acme", "globex")}
    assert header["feeds"] == [f"{party}:{count}" for party, count in waiting.items()]


def told(before: Snapshot, after: Snapshot) -> bool:
    """Whether notices were added, and none was lost."""
    kept = [key for key in before if key.split(b":")[1] in (b"nt", b"no", b"y")]
    return all(
        before[key] == after[key] if isinstance(before[key], dict) else set(before[key]) <= set(after[key])
        for key in kept
    )
