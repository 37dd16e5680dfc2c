"""A person's rights at MS (DESIGN 10.3, 11), where the person is a live PROX_ID and nothing else.

Access: what waits under it, and the bundle in effect. Erasure: all of that goes, from the store's files too; what was
published is IS's to withdraw, what was logged is unreadable once IS has deleted its evidence keys. Restriction: nothing
is logged or released while the person objects. Each is found by the PROX_ID's own index (`lua/subjects.lua`).
"""

import asyncio
import json
import os
from typing import Any, Final

from redis.asyncio import Redis

from main_service.identity import Service
from main_service.store.epochs import EpochStore
from main_service.store.library import PREFIX
from main_service.store.pool import PoolStore
from main_service.store.subjects import SubjectStore
from main_service.store.told import Told
from proxid.crypto.identity import Credential
from proxid.crypto.sansig.limits import verify_prox_form
from proxid.encoding import decode, decode_text
from proxid.errors import CredentialError, MessageInvalidError, StoreError
from proxid.evidence.events import SALT_SIZE, BufferedPayload, EventType
from proxid.evidence.ratchet import TAG_SIZE, subject_tag
from proxid.protocol.request import Utterance
from proxid.protocol.restriction import Restriction
from proxid.runtime.evidence_log.promising import Promises
from proxid.runtime.evidence_log.stream import wait_logged
from proxid.runtime.store.durable import rewrite_aof

_RELEASE_SECONDS: Final = 20.0
_POLL: Final = 0.05
MAX_SHARE: Final = 60_000
"""Bytes of JSON that surely fit the largest answer."""


class Subjects:
    """Access, erasure and restriction by PROX_ID."""

    def __init__(
        self, service: Service, client: Redis, store: SubjectStore, pool: PoolStore, epochs: EpochStore,
        promises: Promises,
    ) -> None:  # fmt: skip
        self._promises = promises
        self._service = service
        self._client = client
        self._store = store
        self._pool = pool
        self._epochs = epochs

    async def share(self, prox_id: str) -> str:
        """What MS holds of a PROX_ID, as JSON (`proxid/clients/household/personal-data.schema.json`)."""
        held = await self._store.held(prox_id, await self._epochs.open_epochs())
        waiting = [_described(BufferedPayload.decode(payload)) for payload in held.waiting]
        share = {
            "bundle": held.bundle,
            "version": held.version,
            "answered": [{"utterance": Utterance.from_opening(decode(blob, 4)[0]).text} for blob in held.answered],
            "waiting": waiting,
            "places": held.places,
        }
        text = json.dumps(share, ensure_ascii=False)
        while len(text.encode()) > MAX_SHARE and waiting:
            del waiting[-max(1, len(waiting) // 8) :]
            text = json.dumps({**share, "waiting": waiting, "truncated": True}, ensure_ascii=False)
        return text

    async def erase(self, prox_id: str, tag: bytes) -> None:
        """Forget a PROX_ID; returns when nothing of it is left in the store or its files.

        Args:
            tag: subject tag of the person-epoch's evidence as IS names it; of a person who was here it is known.

        Raises:
            LimitError, MessageInvalidError: it is no PROX_ID, or no tag.
            StoreError: the store is away, or a group with the person is not released in time: ask again.
        """
        verify_prox_form(prox_id)
        if len(tag) != TAG_SIZE:
            raise MessageInvalidError("a subject tag has another size")
        for epoch in await self._epochs.open_epochs():
            await self._pool.erase(epoch, prox_id)
        await self._released(prox_id)
        await wait_logged(self._client, PREFIX)
        shown = await self._store.credential(prox_id)
        if shown is not None:
            tag = subject_tag(Credential.decode(shown).evidence_key)
        await self._store.erased(prox_id, tag)
        await wait_logged(self._client, PREFIX)
        await rewrite_aof(self._client)

    async def restrict(
        self, prox_id: str, restricted: bool, lost: bool = False, word: bytes = b"", credential: bytes = b""
    ) -> bytes:
        """Log and release nothing of a PROX_ID, whatever it consented to, or end that; the promise of RESTRICTED.

        Args:
            lost: its key was lost: that does not end, and once this returns another key may take its place (ADR 0039).
            word: IS's, signed; empty of one from before there were any, to which nothing is promised. credential: of
                the key, with a word.

        Raises:
            LimitError: it is no PROX_ID. StoreError: as `erase`. ProxidError: the word is not IS's, or says something
                else, or the credential is not the key's.
        """
        verify_prox_form(prox_id)
        said = Restriction.decode(word) if word else None
        shown = credential or await self._store.credential(prox_id) or b""
        of = self._credential(shown, prox_id) if shown else None
        if said is not None:
            self._service.watch.require()
            said.verify(self._service.screener, self._service.name)
            if (said.prox_id, said.begins) != (prox_id, restricted) or of is None:
                raise CredentialError("word says something else than the message, or is of an unknown key")
        near = self._service.epochs.near(self._service.clock(), self._service.clock_skew)
        # Until every epoch that the PROX_ID may be of is over.
        ttl = self._service.marked_for(near[-1] if of is None else of.epoch)
        key = b"" if of is None else of.evidence_key
        told = Told(prox_id, restricted, ttl, os.urandom(SALT_SIZE), said, key)
        place = await (self._begin(told, of, lost) if restricted else self._store.unrestrict(told))
        return b"" if said is None else await self._promises.of(place, EventType.RESTRICTED, said.digest)

    def _credential(self, shown: bytes, prox_id: str) -> Credential:
        credential, service = Credential.decode(shown), self._service
        epoch = credential.epoch
        # It is of its epoch, however long IS was kept from saying so.
        credential.verify(service.screener, service.name, epoch, service.epochs.start(epoch))
        if credential.prox_id != prox_id or not credential.evidence_key:
            raise CredentialError("credential is of another key, or has no evidence key")
        return credential

    async def _begin(self, told: Told, of: Credential | None, lost: bool) -> str:
        places = []
        for epoch in await self._epochs.open_epochs():
            if of is None or of.epoch == epoch:
                places.append(await self._pool.restrict(epoch, told, lost))
        if not places:
            places.append(await self._store.restrict(told, lost))
        await self._released(told.prox_id)
        if lost:
            await self._store.given_up(told.prox_id, told.ttl)
        return places[0]

    async def _released(self, prox_id: str) -> None:
        """Wait until no formed group and no release on its way to IS holds the person."""
        try:
            async with asyncio.timeout(_RELEASE_SECONDS):
                while await self._store.is_leaving(prox_id, await self._epochs.open_epochs()):  # noqa: ASYNC110
                    await asyncio.sleep(_POLL)
                # Nothing of the person enters the outbox any more, and IS takes what is in it in its order.
                last = await self._store.last_release(prox_id)
                while last and await self._store.waits(last):  # noqa: ASYNC110
                    await asyncio.sleep(_POLL)
        except TimeoutError:
            raise StoreError("a group with the person is not released in time") from None


def _described(payload: BufferedPayload) -> dict[str, Any]:
    return {
        "utterance": decode_text(decode(payload.opening, 5)[0]),
        "kind": payload.kind,
        "category": "/".join(payload.path),
        "audience": payload.audience,
    }
