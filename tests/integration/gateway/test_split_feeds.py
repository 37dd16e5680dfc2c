"""Entries and contents in the feeds (gateway/store/lua/split.lua): each its own person's, SENT before a byte leaves."""

import pytest
from redis.asyncio import Redis

from gateway.store.consents import SentBefore
from gateway.store.library import GatewayStore
from gateway.store.rights import Recipient, RightsStore
from gateway.store.steps import PREFIX
from proxid.encoding import decode
from tests.support.split_feeds import (
    AUDIENCE,
    CONTENTS,
    ENTRIES,
    EPOCH,
    GRANT,
    LANE,
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


async def test_a_portion_comes_whole_in_its_order_and_once(store: GatewayStore, client: Redis) -> None:
    assert await put(store) == "NEW"
    assert await put(store) == "SAME"
    for _ in range(2):
        (taken,) = await everything(store)
        assert decode(taken.records) == [b"pair-1", b"pair-2", b"pair-3"]
    assert await events(client, "SENT") == [
        {
            "audience": AUDIENCE,
            "entries": [f"{n:02x}" * 16 for n in (1, 2, 3)],
            "epoch": EPOCH,
            "group": PORTION,
            "party": PARTY,
        }
    ]


async def test_who_does_not_consent_loses_their_own_entries_alone(store: GatewayStore, client: Redis) -> None:
    await withdraw(store, PEOPLE[0])
    assert await put(store, (*ENTRIES, entry(4, ""))) == "NEW"
    (taken,) = await everything(store)
    assert decode(taken.records) == [b"pair-2"]
    (dropped,) = await events(client, "DROPPED")
    assert (dropped["reason"], dropped["left"], len(dropped["entries"])) == ("no_consent", 1, 3)
    assert await put(store, (entry(5, PEOPLE[0]),), release=2) == "DROPPED"
    assert (await events(client, "DROPPED"))[-1]["left"] == 0


async def test_a_withdrawal_takes_what_waits_and_leaves_the_others(store: GatewayStore, client: Redis) -> None:
    await put(store)
    assert await withdraw(store, PEOPLE[0]) == []
    (taken,) = await everything(store)
    assert decode(taken.records) == [b"pair-2"]
    assert (await store.group(PARTY, taken.cursor)).records == taken.records
    assert [(d["reason"], d["left"]) for d in await events(client, "DROPPED")] == [("withdrawn", 1)]
    names = [key async for key in client.scan_iter(match=f"{PREFIX}:ge:*")]
    assert await client.hlen(names[0]) == 1


async def test_what_may_not_go_hides_nothing_behind_it(store: GatewayStore, client: Redis) -> None:
    await put(store, ENTRIES[:1])
    await put(store, ENTRIES[1:2], release=2)
    await client.set(f"{PREFIX}:ob:{PEOPLE[0]}", "1")
    (taken,) = await store.take(PARTY, 0, 1)
    assert (taken.cursor, await store.newest(PARTY)) == (2, 2) and await store.take(PARTY, 2, 1) == []


async def test_what_was_sent_is_cut_at_once(store: GatewayStore, client: Redis) -> None:
    await put(store)
    await everything(store)
    assert await withdraw(store, PEOPLE[0]) == [SentBefore(PARTY, 2, 2, 0)]
    (again,) = await everything(store)
    assert decode(again.records) == [b"pair-2"]
    assert len(await events(client, "SENT")) == 1


@pytest.mark.parametrize("how", ["withdrawn", "objected", "erased"])
async def test_who_goes_while_an_acknowledgement_is_looked_at_is_in_no_delivery(
    store: GatewayStore, client: Redis, how: str
) -> None:
    """The gateway reads what the party signed, and records it in a second step."""
    await put(store)
    (taken,) = await everything(store)
    read = await store.group(PARTY, taken.cursor)
    if how == "withdrawn":
        await withdraw(store, PEOPLE[0])
    else:
        await RightsStore(store).settle(PEOPLE[0], how)
    assert await store.delivered(PARTY, read, b"ack", 1000) == "UNKNOWN"
    assert await events(client, "DELIVERED") == []
    left = await store.group(PARTY, taken.cursor)
    assert decode(left.records) == [b"pair-2"]
    assert await store.delivered(PARTY, left, b"ack", 1000) == "NEW"
    assert await store.delivered(PARTY, read, b"ack", 1000) == "SAME"


@pytest.mark.parametrize("acknowledged", [False, True])
@pytest.mark.parametrize("how", ["withdrawn", "objected", "erased"])
async def test_who_was_sent_something_is_among_those_who_are_told_though_it_was_cut(
    store: GatewayStore, client: Redis, how: str, acknowledged: bool
) -> None:
    """Of an objection and of an erasure, whyever it was cut, and whether or not the others are delivered."""
    rights = RightsStore(store)
    await client.set(f"{PREFIX}:e:{PEOPLE[0]}", b"pk")
    await put(store)
    assert (await rights.status(PEOPLE[0])).recipients == ()
    await everything(store)
    if how == "withdrawn":
        await withdraw(store, PEOPLE[0])
    elif how == "objected":
        await rights.settle(PEOPLE[0], how)
    assert await rights.begin_erasure(PEOPLE[0], b"request", b"enrolment", b"pk") == b""
    await rights.settle(PEOPLE[0], "erased")
    if acknowledged:
        (left,) = await everything(store)
        assert decode(left.records) == [b"pair-2"]
        assert await store.delivered(PARTY, left, b"ack", 1000) == "NEW"
    told = (Recipient(PARTY, f"name-{PEOPLE[0][:2]}", 0),)
    assert (await rights.erasure(PEOPLE[0])).recipients == (await rights.status(PEOPLE[0])).recipients == told
    assert [dropped["reason"] for dropped in await events(client, "DROPPED")] == [how]


async def test_what_is_acknowledged_leaves_the_feed_and_whose_it_was_goes_with_an_erasure(
    store: GatewayStore, client: Redis
) -> None:
    await put(store)
    (taken,) = await everything(store)
    assert await store.delivered(PARTY, taken, b"ack", 1000) == "NEW"
    assert await everything(store) == [] and await client.exists(f"{PREFIX}:ge:{PARTY}:{taken.cursor}") == 0
    rights = RightsStore(store)
    assert await withdraw(store, PEOPLE[1]) == [SentBefore(PARTY, 1, 0, 0)]
    for who in PEOPLE:
        ((party, epoch, number, grant, acknowledged, at),) = (await rights.held(who)).groups
        assert (party, epoch, number, grant, acknowledged) == (PARTY, EPOCH, PORTION, LANE[0], True) and at > 0
    await client.set(f"{PREFIX}:e:{PEOPLE[0]}", b"pk")
    assert await rights.begin_erasure(PEOPLE[0], b"request", b"enrolment", b"pk") == b""
    await rights.settle(PEOPLE[0], "erased")
    header = b'{"dropped":[],"feeds":[],"last":"","removed":[],"v":2}'
    await rights.finish_erasure(PEOPLE[0], b"receipt", (header, b""), (PARTY,), (), ())
    assert (await rights.held(PEOPLE[0])).groups == () != (await rights.held(PEOPLE[1])).groups
    names = [key async for key in client.scan_iter(f"{PREFIX}:*{PEOPLE[0]}*")]
    assert sorted(name.split(b":")[1] for name in names) == [b"c", b"j", b"x"]
    assert await events(client, "DROPPED") == []


async def test_contents_go_whole_until_somebody_among_them_goes(store: GatewayStore, client: Redis) -> None:
    await put(store)
    assert await contents(store) == "NEW"
    await withdraw(store, PEOPLE[0], EPOCH)
    assert len(await everything(store)) == 2, "the main service formed them without who withdrew in the epoch"


@pytest.mark.parametrize("how", ["erased", "objected", "withdrawn"])
async def test_contents_that_were_not_sent_are_dropped(store: GatewayStore, client: Redis, how: str) -> None:
    await put(store)
    await contents(store)
    if how == "withdrawn":  # from the party, in a later epoch
        await withdraw(store, PEOPLE[0], EPOCH + 1, 1)
    else:
        await RightsStore(store).settle(PEOPLE[0], how)
    assert [d["reason"] for d in await events(client, "DROPPED") if d["group"] == CONTENTS] == ["withdrawn"]
    assert [one.group for one in await everything(store)] == [PORTION]


async def test_whoever_has_no_entry_takes_no_contents_back(store: GatewayStore, client: Redis) -> None:
    await put(store, (entry(1, PEOPLE[0]),))
    await contents(store)
    await RightsStore(store).settle(PEOPLE[1], "objected")
    assert len(await everything(store)) == 2


async def test_what_was_sent_is_not_dropped_and_not_sent_again(store: GatewayStore, client: Redis) -> None:
    await put(store)
    await contents(store)
    taken = await everything(store)
    assert len(await everything(store)) == 2, "again, as long as nobody has taken anything back"
    await RightsStore(store).settle(PEOPLE[0], "objected")
    assert [one.group for one in await everything(store)] == [PORTION]
    assert [d["group"] for d in await events(client, "DROPPED")] == [PORTION]
    assert await store.delivered(PARTY, taken[1], b"ack", 1000) == "NEW", "its acknowledgement may still come"


async def chosen(store: GatewayStore, who: str) -> list[SentBefore]:
    """What had been sent, as the answer to the choice in effect says when it is asked for again."""
    return (await store.consent(who, EPOCH, 1, b"v1", (f"{PARTY}|general|user_id",), 1000)).sent


async def test_a_party_that_dies_before_contents_loses_them_to_nobody(store: GatewayStore, client: Redis) -> None:
    """They are SENT when what comes before them was written, not with it."""
    await put(store)
    await contents(store)
    assert [one.group for one in await store.take(PARTY, 0, 9)] == [PORTION]
    assert [sent["group"] for sent in await events(client, "SENT")] == [PORTION]
    await RightsStore(store).settle(PEOPLE[0], "objected")
    assert [d["group"] for d in await events(client, "DROPPED")] == [CONTENTS, PORTION], "nothing is possibly held"


async def test_what_had_been_sent_before_is_known(store: GatewayStore) -> None:
    """Of each party the records under the person's name, those it has not acknowledged, and contents."""
    assert await chosen(store, PEOPLE[0]) == []
    await put(store)
    await contents(store)
    assert await chosen(store, PEOPLE[0]) == [], "what waits was not sent"
    portion, _ = await everything(store)
    assert await chosen(store, PEOPLE[0]) == [SentBefore(PARTY, 2, 2, 1)]
    assert await store.delivered(PARTY, portion, b"ack", 1000) == "NEW"
    assert await chosen(store, PEOPLE[0]) == [SentBefore(PARTY, 2, 0, 1)]
    await RightsStore(store).settle(PEOPLE[0], "objected")
    assert await chosen(store, PEOPLE[0]) == [SentBefore(PARTY, 2, 0, 1)], "whoever goes is told, too"
    assert await chosen(store, PEOPLE[1]) == [SentBefore(PARTY, 1, 0, 1)]


async def test_who_withdraws_is_told_what_is_possibly_held(store: GatewayStore, client: Redis) -> None:
    """Sent and not acknowledged: it waits for nobody, is not sent again, and stands among what access shows."""
    await put(store)
    portion, *_ = await everything(store)
    taken = await store.consent(PEOPLE[0], EPOCH, 2, b"v2", (), 1000)
    assert taken.sent == [SentBefore(PARTY, 2, 2, 0)] and taken == await store.consent(
        PEOPLE[0], EPOCH, 2, b"v2", (), 1000
    )
    held = await RightsStore(store).held(PEOPLE[0])
    assert held.groups == ((PARTY, EPOCH, PORTION, "general|user_id", False, 0),)
    (cut,) = await everything(store)
    assert cut.records != portion.records and len(await events(client, "SENT")) == 1


async def test_what_is_possibly_held_is_forgotten_with_the_epochs_links(store: GatewayStore, client: Redis) -> None:
    await put(store)
    await everything(store)
    await withdraw(store, PEOPLE[0])
    assert 0 < await client.ttl(f"{PREFIX}:ps:{PEOPLE[0]}") <= 1000
    await client.delete(f"{PREFIX}:c:{PEOPLE[0]}:{EPOCH}")  # as it is when their time is over
    assert await withdraw(store, PEOPLE[0], EPOCH + 1, 1) == []
    assert (await RightsStore(store).held(PEOPLE[0])).groups == ()


async def test_a_feed_key_stays_while_anything_of_its_epoch_is_in_the_feed(store: GatewayStore, client: Redis) -> None:
    """Contents come behind entries of the next epoch."""
    name = f"{PREFIX}:fk:{PARTY}"
    await client.hset(name, mapping={str(epoch): b"key" for epoch in (EPOCH - 1, EPOCH, EPOCH + 1)})
    await store.consent(PEOPLE[0], EPOCH + 1, 1, b"v1", (GRANT,), 1000)
    await store.append_entries(PARTY, (EPOCH + 1, PORTION), LANE, 1, ENTRIES[:1])
    await contents(store)
    await store.forget_keys([PARTY])
    assert sorted(await client.hkeys(name)) == [b"7", b"8"]
