"""A person's rights at MS (DESIGN 10.3, 11), where the person is a live PROX_ID and nothing else.

Access: what waits under it, and the bundle in effect. Erasure: all of that goes, from the store's files too; what was
published is IS's to withdraw, what was logged is unreadable once IS has deleted its evidence keys.
"""

import asyncio
import json
from typing import Any, Final

from redis.asyncio import Redis

from main_service.store.epochs import EpochStore
from main_service.store.library import PREFIX
from main_service.store.places import ledger_key
from main_service.store.pool import PoolStore
from main_service.store.requests import RequestStore
from proxid.crypto.identity import Credential
from proxid.crypto.sansig.limits import verify_prox_form
from proxid.encoding import decode, decode_text
from proxid.errors import ProxidError, StoreError
from proxid.evidence.events import BufferedPayload
from proxid.protocol.request import Utterance
from proxid.store.connection import store_errors
from proxid.store.evidence.writer import rewrite_aof, wait_logged
from proxid.store.sweep import sweep

_RELEASE_SECONDS: Final = 20.0
_POLL: Final = 0.05
_PENDING: Final = 100_000
MAX_SHARE: Final = 60_000
"""Bytes of JSON that surely fit the largest answer."""


class Subjects:
    """Access and erasure by PROX_ID."""

    def __init__(self, client: Redis, requests: RequestStore, pool: PoolStore, epochs: EpochStore) -> None:
        self._client = client
        self._requests = requests
        self._pool = pool
        self._epochs = epochs

    async def share(self, prox_id: str) -> str:
        """What MS holds of a PROX_ID, as JSON (`device_sim/data/personal-data.schema.json`)."""
        client: Any = self._client
        with store_errors():
            chosen: Any = await client.hmget(f"{PREFIX}:c:{prox_id}", "b", "v")
        waiting = [record async for record in self._waiting(prox_id)]
        pending = [item for item in await self._requests.pending(_PENDING) if item.prox_id == prox_id]
        share = {
            "bundle": (chosen[0] or b"nothing").decode(),
            "version": int(chosen[1] or 0),
            "answered": [{"utterance": Utterance.from_opening(item.opening).text} for item in pending],
            "waiting": waiting,
            "places": await self._places(prox_id),
        }
        text = json.dumps(share, ensure_ascii=False)
        while len(text.encode()) > MAX_SHARE and waiting:
            waiting.pop()
            text = json.dumps({**share, "waiting": waiting, "truncated": True}, ensure_ascii=False)
        return text

    async def _places(self, prox_id: str) -> int:
        """How many different places the ledger holds of a person (DESIGN 8.8)."""
        epochs = await self._epochs.open_epochs()
        with store_errors():
            return sum([int(await self._client.scard(ledger_key(epoch, prox_id))) for epoch in epochs])

    async def _waiting(self, prox_id: str) -> Any:
        client: Any = self._client
        with store_errors():
            async for key in client.scan_iter(match=f"{PREFIX}:*:r:*", _type="hash", count=500):
                person, payload = await client.hmget(key, "u", "p")
                if person is not None and person.decode() == prox_id:
                    yield _described(BufferedPayload.decode(payload))

    async def erase(self, prox_id: str) -> None:
        """Forget a PROX_ID; returns when nothing of it is left in the store or its files.

        Raises:
            LimitError: it is no PROX_ID; part of one would take others with it.
            StoreError: the store is away, or a group with the person is not released in time: ask again.
        """
        verify_prox_form(prox_id)
        for item in await self._requests.pending(_PENDING):
            if item.prox_id == prox_id:
                await self._pool.suppress(item.session, "erased")
        for epoch in await self._epochs.open_epochs():
            await self._pool.erase(epoch, prox_id)
        await self._released(prox_id)
        await wait_logged(self._client, PREFIX)
        needles = [prox_id.encode(), *await self._keys(prox_id)]
        await sweep(self._client, PREFIX, needles)
        await rewrite_aof(self._client)

    async def _released(self, prox_id: str) -> None:
        """Wait until no formed group and no release on its way to IS holds the person."""
        try:
            async with asyncio.timeout(_RELEASE_SECONDS):
                while await self._is_leaving(prox_id.encode()):  # noqa: ASYNC110 - other processes release
                    await asyncio.sleep(_POLL)
        except TimeoutError:
            raise StoreError("a group with the person is not released in time") from None

    async def _is_leaving(self, prox: bytes) -> bool:
        client: Any = self._client
        with store_errors():
            async for key in client.scan_iter(match=f"{PREFIX}:*:m:*", _type="list", count=500):
                if any(prox in item for item in await client.lrange(key, 0, -1)):
                    return True
            rows = await client.xrange(f"{PREFIX}:outbox")
        return any(prox in value for _, fields in rows for value in fields.values())

    async def _keys(self, prox_id: str) -> list[bytes]:
        """The epoch key behind a PROX_ID, if its credential is still here."""
        found, client = [], self._client
        with store_errors():
            async for name in client.scan_iter(match=f"{PREFIX}:q:*", count=500):
                data: Any = await client.get(name)
                try:
                    credential = Credential.decode(data or b"")
                except ProxidError:
                    continue
                if credential.prox_id == prox_id:
                    found += [credential.epoch_key, credential.evidence_key]
        return found


def _described(payload: BufferedPayload) -> dict[str, Any]:
    return {
        "utterance": decode_text(decode(payload.opening, 5)[0]),
        "kind": payload.kind,
        "category": "/".join(payload.path),
        "audience": payload.audience,
    }
