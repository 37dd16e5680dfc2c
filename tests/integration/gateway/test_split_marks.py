"""Who went before contents of form `split` came: as long as it matters, each by themselves."""

import pytest
from redis.asyncio import Redis

from gateway.store.feeds import PutEntry
from gateway.store.library import GatewayStore
from gateway.store.rights import Exercised, RightsStore
from gateway.store.steps import PREFIX
from proxid.evidence.events import decode_header
from proxid.protocol.entry import portion_number
from proxid.protocol.record import group_number

EPOCH, PARTY, NOW = 7, "acme", 1000
PORTION, CONTENTS = portion_number(1, 1), group_number("contents", 1)
PEOPLE = ("aa" * 16, "bb" * 16)
AUDIENCE = "general|acme:user_id"
KEPT = 20 * 86_400
MARK = f"{PREFIX}:cw:{PARTY}:{EPOCH}:{AUDIENCE}"


@pytest.fixture
async def store(client: Redis) -> GatewayStore:
    """Both people have an entry of a tick; the epoch goes on."""
    store = GatewayStore(client)
    await store.open()
    for who in PEOPLE:
        await store.consent(who, EPOCH, 1, b"v1", (f"{PARTY}|general|user_id",), KEPT)
        await client.set(f"{PREFIX}:e:{who}", b"pk")
    entries = [PutEntry(who, f"name-{who[:2]}", bytes([n]) * 16, b"pair") for n, who in enumerate(PEOPLE)]
    lane = ("general|user_id", AUDIENCE)
    assert await store.append_entries(PARTY, (EPOCH, PORTION), lane, 1, entries, kept=KEPT) == "NEW"
    return store


async def goes(store: GatewayStore, who: str, how: str, confirmed: int | None) -> None:
    """As far as the main service has confirmed in an epoch that it leaves somebody out, or in none."""
    rights = RightsStore(store)
    if how == "erased":
        await rights.begin_erasure(who, b"request", b"enrolment", b"pk")
        await rights.settle(who, how)
        header = b'{"dropped":[],"feeds":[],"last":"","removed":[],"v":2}'
        await rights.finish_erasure(who, b"receipt", (header, b""), (PARTY,), (), (), confirmed)
        return
    assert await rights.object(who, b"request", b"enrolment", who.encode())
    await rights.settle(who, how)
    await rights.objected(who, True, Exercised(who.encode(), b"{}", 10), b"", (), confirmed)


async def contents(store: GatewayStore, now: int = NOW, due: int = 2 * NOW) -> str:
    return await store.append_contents(PARTY, (EPOCH, CONTENTS), AUDIENCE, b"message", 2, now, due)


@pytest.mark.parametrize("how", ["erased", "objected"])
async def test_whom_the_main_service_leaves_out_is_in_no_contents(store: GatewayStore, how: str) -> None:
    await goes(store, PEOPLE[0], how, EPOCH)
    assert await contents(store) == "NEW"
    assert await store.drop_late([PARTY], NOW + 3600) == 0, "nor are they for who is connected alone"


@pytest.mark.parametrize("confirmed", [None, EPOCH + 1])
async def test_one_who_was_left_out_clears_nobody_else(
    store: GatewayStore, client: Redis, confirmed: int | None
) -> None:
    await goes(store, PEOPLE[0], "erased", confirmed)
    await goes(store, PEOPLE[1], "erased", EPOCH)
    assert await client.hgetall(MARK) == {b"-": b"none"}, "of who is erased nothing else is left"
    assert await contents(store) == "DROPPED"
    assert not await client.exists(MARK)


async def test_an_erasure_weighs_more_than_an_objection(store: GatewayStore) -> None:
    await goes(store, PEOPLE[0], "erased", None)
    await goes(store, PEOPLE[1], "objected", None)
    assert await contents(store) == "DROPPED"


@pytest.mark.parametrize("how", ["erased", "objected"])
async def test_it_is_known_as_long_as_contents_may_come(store: GatewayStore, client: Redis, how: str) -> None:
    """An epoch may be of weeks, and the main service away for days."""
    await goes(store, PEOPLE[0], how, None)
    assert await client.ttl(MARK) > KEPT - 3600


async def test_contents_that_come_when_nobody_knows_any_more_go_to_nobody(store: GatewayStore, client: Redis) -> None:
    assert await contents(store, 2 * NOW) == "DROPPED"
    rows = await client.xrange(f"{PREFIX}:events")
    (said,) = [decode_header(f[b"h"]) for _, f in rows if f[b"t"] == b"DROPPED"]
    assert (said["reason"], said["time"], said["audience"]) == ("late", 2 * NOW, AUDIENCE)
