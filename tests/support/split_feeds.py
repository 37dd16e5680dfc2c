"""What tests of entries and contents in a feed share: one epoch, one party, two people who let it have searches."""

from collections.abc import Sequence
from typing import Any

from redis.asyncio import Redis

from gateway.store.consents import SentBefore
from gateway.store.feeds import FeedEntry, PutEntry
from gateway.store.library import GatewayStore
from gateway.store.steps import PREFIX
from proxid.evidence.events import decode_header
from proxid.protocol.entry import portion_number
from proxid.protocol.record import group_number

EPOCH, PARTY = 7, "acme"
PORTION, CONTENTS = portion_number(4, 1), group_number("contents", 1)
PEOPLE = ("aa" * 16, "bb" * 16)
GRANT = f"{PARTY}|general|user_id"
AUDIENCE = "general|acme:user_id"
LANE = ("general|user_id", AUDIENCE)
NOW = 1 << 40


async def opened(client: Redis) -> GatewayStore:
    store = GatewayStore(client)
    await store.open()
    for who in PEOPLE:
        await store.consent(who, EPOCH, 1, b"v1", (GRANT,), 1000)
    return store


async def events(client: Redis, *kinds: str) -> list[dict[str, Any]]:
    rows: Any = await client.xrange(f"{PREFIX}:events")
    return [dict(decode_header(f[b"h"])) for _, f in rows if f[b"t"].decode() in kinds]


def entry(number: int, who: str) -> PutEntry:
    return PutEntry(who, f"name-{who[:2]}", bytes([number]) * 16, b"pair-%d" % number)


ENTRIES = (entry(1, PEOPLE[0]), entry(2, PEOPLE[1]), entry(3, PEOPLE[0]))


async def put(store: GatewayStore, entries: Sequence[PutEntry] = ENTRIES, release: int = 1) -> str:
    return await store.append_entries(PARTY, (EPOCH, PORTION), LANE, release, entries)


async def withdraw(store: GatewayStore, who: str, epoch: int = EPOCH, version: int = 2) -> list[SentBefore]:
    return (await store.consent(who, epoch, version, b"v%d" % version, (), 1000)).sent


async def everything(store: GatewayStore) -> list[FeedEntry]:
    """What a party takes, batch after batch."""
    found: list[FeedEntry] = []
    while taken := await store.take(PARTY, found[-1].cursor if found else 0, 9):
        found += taken
    return found


async def contents(store: GatewayStore, release: int = 2, now: int = NOW, audience: str = AUDIENCE) -> str:
    return await store.append_contents(PARTY, (EPOCH, CONTENTS), audience, b"message", release, now)
