"""A word that somebody objects is heeded once, and recorded in the step that heeds it."""

import pytest
from redis.asyncio import Redis

from main_service.store.library import PREFIX, library
from main_service.store.pool import PoolStore
from main_service.store.subjects import SubjectStore
from main_service.store.told import Told
from proxid.anonymise.mix.settings import Settings
from proxid.crypto.ed25519 import SigningKey
from proxid.evidence.events import RestrictedPayload
from proxid.protocol.restriction import Restriction
from tests.support.pools import always

PX, DAY, EPOCH = "px1ann", 86_400, 7
KEY = SigningKey(bytes(32))


def told(begins: bool, evidence_key: bytes = b"evidence", *, plain: bool = False) -> Told:
    word = None if plain else Restriction.make("main-service", PX, begins, KEY, 0)
    return Told(PX, begins, DAY, bytes(16), word, evidence_key)


async def stores(client: Redis) -> tuple[PoolStore, SubjectStore]:
    functions = library(client)
    await functions.load()
    return PoolStore(functions, always(Settings())), SubjectStore(functions)


async def restricted(client: Redis) -> bool:
    return bool(await client.exists(f"{PREFIX}:ob:{PX}"))


@pytest.mark.parametrize("is_open", [True, False])
async def test_a_word_that_comes_again_changes_nothing(client: Redis, is_open: bool) -> None:
    pool, subjects = await stores(client)

    async def begin(word: Told) -> str:
        return await (pool.restrict(EPOCH, word) if is_open else subjects.restrict(word))

    first, end, again = told(True), told(False), told(True)
    assert await begin(first) == " 1" and await restricted(client)
    assert await begin(first) == " 1"
    assert await subjects.unrestrict(end) == " 2" and not await restricted(client)
    assert await begin(first) == " 1" and not await restricted(client)
    assert await begin(again) == " 3" and await restricted(client)
    assert await subjects.unrestrict(end) == " 2" and await restricted(client)
    recorded = [fields[b"p"] for _, fields in await client.xrange(f"{PREFIX}:events")]
    words = [one.word.encode() for one in (first, end, again) if one.word is not None]
    assert recorded == [RestrictedPayload(PX, word).encode() for word in words]


async def test_of_whom_nothing_is_known_a_gateway_of_before_leaves_no_entry(client: Redis) -> None:
    pool, subjects = await stores(client)
    assert await pool.restrict(EPOCH, told(True, b"", plain=True)) == "" and await restricted(client)
    assert await subjects.unrestrict(told(False, b"", plain=True)) == "" and not await restricted(client)
    assert await pool.restrict(EPOCH, told(True, plain=True)) == " 1"
    assert await subjects.unrestrict(told(False, b"", plain=True)) == " 2"
    assert await subjects.unrestrict(told(False, b"", plain=True)) == ""  # there is nothing to end
