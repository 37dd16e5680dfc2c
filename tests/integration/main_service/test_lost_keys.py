"""A PROX_ID whose key was lost: another takes its place once all is given up, and nothing said later undoes that."""

from types import SimpleNamespace
from typing import Any

import pytest
from redis.asyncio import Redis

from main_service.store.library import library
from main_service.store.pool import PoolStore
from main_service.store.requests import RequestStore
from main_service.store.subjects import SubjectStore
from main_service.store.told import Told
from proxid.anonymise.mix.settings import Settings
from proxid.errors import CredentialError
from tests.support.pools import always

LOST, ANEW, DAY, EPOCH = "px1lost", "px1anew", 86_400, 7
SHOWN: Any = SimpleNamespace(
    epoch_key=b"key", epoch=EPOCH, prox_id=ANEW, evidence_key=b"evidence", instead=LOST, encode=lambda: b"credential"
)


def said(begins: bool) -> Told:
    return Told(LOST, begins, DAY, bytes(16))


async def refused(requests: RequestStore) -> bool:
    try:
        await requests.put_credential(SHOWN, DAY)
    except CredentialError:
        return True
    return False


@pytest.mark.parametrize("objects_first", [False, True])
async def test_what_was_given_up_under_a_lost_key_is_so_for_good(client: Redis, objects_first: bool) -> None:
    functions = library(client)
    await functions.load()
    requests, subjects = RequestStore(functions), SubjectStore(functions)
    pool = PoolStore(functions, always(Settings()))
    if objects_first:
        await pool.restrict(EPOCH, said(True))
        assert await refused(requests)  # as somebody objected, it may be taken back
        await subjects.unrestrict(said(False))
        assert not await client.exists("{ms}:ob:" + LOST)
    await pool.restrict(EPOCH, said(True), lost=True)
    assert await refused(requests)  # of the other open epoch something may wait, and a release be on its way
    await subjects.unrestrict(said(False))
    await pool.restrict(EPOCH, said(True))
    await subjects.given_up(LOST, DAY)
    assert not await refused(requests)
    for again in (False, True):
        await subjects.unrestrict(said(False))
        await pool.restrict(EPOCH, said(True), lost=again)
        assert not await refused(requests)
    assert 0 < await client.ttl("{ms}:ob:" + LOST) <= DAY
