"""Who is erased or objects, with thousands of groups that wait for a party, holds nobody up in the store (DESIGN 11).

What waits of a person is dropped some at a time, since nothing of it goes out any more from the first moment on.
"""

import os
from collections import Counter
from typing import Any

import pytest
from redis.asyncio import Redis

from gateway.store.library import GatewayStore
from gateway.store.rights import RightsStore
from gateway.store.steps import PREFIX

GROUPS = 1500
USER, OTHERS = "aa" * 16, ("bb" * 16, "cc" * 16)


async def wait_for_a_party(client: Redis, first: int, last: int) -> None:
    """Groups of a person and two others, as `gw_append` leaves them when every member consents."""
    pipe = client.pipeline(transaction=False)
    members = ",".join((USER, *OTHERS))
    for cursor in range(first, last + 1):
        for feed in ("f", "o"):
            pipe.zadd(f"{PREFIX}:{feed}:acme", {str(cursor): cursor})
        group: dict[Any, Any] = {"e": 7, "n": cursor, "k": "general|user_id", "r": os.urandom(64), "m": members, "a": 0}
        pipe.hset(f"{PREFIX}:g:acme:{cursor}", mapping={**group, "w": '["ann","bob","cem"]'})
        for user in (USER, *OTHERS):
            pipe.sadd(f"{PREFIX}:ig:{user}", f"acme|{cursor}")
    await pipe.execute()


@pytest.mark.parametrize("reason", ["erased", "objected"])
async def test_a_person_with_many_groups_holds_nobody_up(client: Redis, reason: str) -> None:
    store = GatewayStore(client)
    await store.open()
    await wait_for_a_party(client, 1, GROUPS)
    await RightsStore(store).settle(USER, reason)
    assert await client.zcard(f"{PREFIX}:o:acme") == await client.scard(f"{PREFIX}:ig:{USER}") == 0
    dropped = [row for _, row in await client.xrange(f"{PREFIX}:events") if row[b"t"] == b"DROPPED"]
    assert len({row[b"h"] for row in dropped}) == len(dropped) == GROUPS
    in_one_step = Counter(row.get(b"u") for row in dropped)
    assert max(in_one_step.values()) < GROUPS / 8
    assert len({row[b"s"] for row in dropped}) == GROUPS
    await RightsStore(store).settle(USER, reason)
    assert len(await client.xrange(f"{PREFIX}:events")) == GROUPS
