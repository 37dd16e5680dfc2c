"""Who goes while an epoch closes, and its contents in the feeds (gateway/store/lua/split.lua)."""

import pytest
from redis.asyncio import Redis

from gateway.store.library import GatewayStore
from gateway.store.rights import RightsStore
from gateway.store.steps import PREFIX
from proxid.encoding import decode
from proxid.protocol.contents import LATE_SECONDS
from tests.support.split_feeds import (
    AUDIENCE,
    CONTENTS,
    EPOCH,
    GRANT,
    LANE,
    NOW,
    PARTY,
    PEOPLE,
    PORTION,
    contents,
    entry,
    events,
    everything,
    opened,
    put,
    withdraw,
)


@pytest.fixture
async def store(client: Redis) -> GatewayStore:
    return await opened(client)


async def test_contents_are_late_after_their_time(store: GatewayStore, client: Redis) -> None:
    await contents(store, release=1, now=100)
    await contents(store, release=2, now=100)
    (first,) = await store.take(PARTY, 0, 1)
    assert await store.drop_late([PARTY], 100 + LATE_SECONDS - 1) == 0
    assert await store.drop_late([PARTY], 100 + LATE_SECONDS) == 1
    (dropped,) = await events(client, "DROPPED")
    assert (dropped["reason"], dropped["time"], dropped["audience"]) == ("late", 100 + LATE_SECONDS, AUDIENCE)
    assert [one.cursor for one in await everything(store)] == [first.cursor], "what was sent stays"


async def gone(store: GatewayStore, client: Redis, who: str, how: str) -> str:
    """Somebody goes while an epoch's close is on its way; the user tag under which they are still known."""
    if how == "withdrawn":  # from the party, in the next epoch
        await withdraw(store, who, EPOCH + 1, 1)
        return who
    rights = RightsStore(store)
    await client.set(f"{PREFIX}:e:{who}", b"pk")
    if how == "objected":
        assert await rights.object(who, b"request", b"enrolment", who.encode())
        await rights.settle(who, how)
        return who
    assert await rights.begin_erasure(who, b"request", b"enrolment", b"pk") == b""
    await rights.settle(who, how)
    header = b'{"dropped":[],"feeds":[],"last":"","removed":[],"v":2}'
    await rights.finish_erasure(who, b"receipt", (header, b""), (PARTY,), (), ())
    return ""


HOWS = ("erased", "objected", "withdrawn")


@pytest.mark.parametrize("contents_first", [False, True])
@pytest.mark.parametrize("how", HOWS)
async def test_whoever_goes_before_the_close_comes_is_not_delivered(
    store: GatewayStore, client: Redis, how: str, contents_first: bool
) -> None:
    """Long after the epoch; of who is erased in any case."""
    if how != "erased":
        store.coming = lambda: EPOCH + 1
    await store.consent(PEOPLE[0], EPOCH + 1, 1, b"v1", (GRANT,), 1000)
    known = await gone(store, client, PEOPLE[1], how)
    if contents_first:
        await contents(store, release=1)
    assert await put(store, (entry(1, PEOPLE[0]), entry(2, known)), release=2) == "NEW"
    if not contents_first:
        assert await contents(store, release=3) == "DROPPED"
    (taken,) = await everything(store)
    assert decode(taken.records) == [b"pair-1"]
    assert [d["reason"] for d in await events(client, "DROPPED") if d["group"] == CONTENTS] == ["withdrawn"]


@pytest.mark.parametrize("how", ["objected", "withdrawn"])
async def test_whoever_goes_just_after_the_epoch_denies_its_contents_to_nobody_who_is_connected(
    store: GatewayStore, client: Redis, how: str
) -> None:
    """Before the close: their own entries go. After it, once a party has taken it: nothing goes."""
    await store.consent(PEOPLE[0], EPOCH + 1, 1, b"v1", (GRANT,), 1000)
    await put(store, (entry(1, PEOPLE[0]), entry(3, PEOPLE[1])))
    await everything(store)
    known = await gone(store, client, PEOPLE[1], how)
    assert await put(store, (entry(2, known),), release=2) == "DROPPED"
    assert await contents(store, release=3) == "NEW"
    taken = await everything(store)
    assert [one.group for one in taken] == [PORTION, CONTENTS]
    assert await store.drop_late([PARTY], NOW + LATE_SECONDS) == 0
    assert await store.delivered(PARTY, taken[1], b"ack", 1000) == "NEW"


async def test_contents_that_somebody_took_back_before_they_came_wait_for_nobody(
    store: GatewayStore, client: Redis
) -> None:
    await put(store)
    await RightsStore(store).settle(PEOPLE[0], "objected")
    assert await contents(store, release=3) == "NEW"
    assert await store.drop_late([PARTY], NOW + 59) == 0
    assert await store.drop_late([PARTY], NOW + 60) == 1
    assert [d["reason"] for d in await events(client, "DROPPED") if d["group"] == CONTENTS] == ["withdrawn"]


async def test_another_audience_loses_nothing(store: GatewayStore, client: Redis) -> None:
    store.coming = lambda: EPOCH + 1
    await put(store)
    await RightsStore(store).settle(PEOPLE[0], "objected")
    assert await contents(store, release=2, audience="general|acme:user_id,globex:alias") == "NEW"
    assert await contents(store, release=3) == "DROPPED"
    assert not [key async for key in client.scan_iter(match=f"{PREFIX}:cw:*")], "it is known as long as it is needed"


async def test_a_grant_given_again_counts_for_its_own_epoch_alone(store: GatewayStore, client: Redis) -> None:
    await store.consent(PEOPLE[1], EPOCH + 1, 1, b"v1", (GRANT,), 1000)
    await withdraw(store, PEOPLE[1], EPOCH + 1)
    await store.consent(PEOPLE[1], EPOCH + 1, 3, b"v3", (GRANT,), 1000)
    assert await put(store, (entry(1, PEOPLE[0]), entry(2, PEOPLE[1]))) == "NEW"
    (taken,) = await everything(store)
    assert decode(taken.records) == [b"pair-1"]
    place = (EPOCH + 1, PORTION)
    assert await store.append_entries(PARTY, place, LANE, 2, (entry(3, PEOPLE[1]),)) == "NEW"


@pytest.mark.parametrize("first", ["alias", "user_id"])
async def test_a_grant_of_another_kind_or_party_takes_nothing_back(store: GatewayStore, first: str) -> None:
    grants = (f"{PARTY}|general|{first}", "other|general|user_id")
    await store.consent(PEOPLE[1], EPOCH + 1, 1, b"v1", grants, 1000)
    await store.consent(PEOPLE[1], EPOCH + 1, 2, b"v2", grants[:1], 1000)
    await put(store)
    assert await contents(store) == "NEW"
    assert len(await everything(store)) == 2


async def test_what_was_gone_before_the_close_leaves_nothing_of_an_erased_person(
    store: GatewayStore, client: Redis
) -> None:
    await withdraw(store, PEOPLE[1], EPOCH + 1, 1)
    await gone(store, client, PEOPLE[1], "erased")
    kept = {name.decode() async for name in client.scan_iter(match=f"*{PEOPLE[1]}*")}
    consents = {f"{PREFIX}:c:{PEOPLE[1]}:{epoch}" for epoch in (EPOCH, EPOCH + 1)}  # of links, of which there are none
    assert kept - consents == {f"{PREFIX}:x:{PEOPLE[1]}", f"{PREFIX}:j:{PEOPLE[1]}"}


async def group(store: GatewayStore, release: int = 1) -> str:
    members = [(who, f"name-{who[:2]}") for who in PEOPLE]
    return await store.append(PARTY, (EPOCH, 1), "general|user_id", b"records", release, members)


@pytest.mark.parametrize("waits", [False, True])
async def test_a_group_goes_whole_when_a_member_withdraws_in_the_next_epoch(
    store: GatewayStore, client: Redis, waits: bool
) -> None:
    if waits:
        assert await group(store) == "NEW"
    await withdraw(store, PEOPLE[0], EPOCH + 1, 1)
    if not waits:
        assert await group(store) == "DROPPED"
    assert await everything(store) == []
    assert [d["reason"] for d in await events(client, "DROPPED")] == ["withdrawn"]


async def test_contents_that_no_index_knows_any_more_are_not_sent_again(store: GatewayStore, client: Redis) -> None:
    await put(store)
    await contents(store)
    assert len(await everything(store)) == 2
    await client.delete(f"{PREFIX}:ct:{PARTY}:{EPOCH}:{AUDIENCE}")  # its time was over
    assert [one.group for one in await everything(store)] == [PORTION]
