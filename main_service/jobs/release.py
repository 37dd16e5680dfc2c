"""Formed groups become signed records on their way to the parties (DESIGN 8.4, 8.8, 9)."""

import asyncio
from typing import Final

import structlog

from main_service.epochs import EpochKeys
from main_service.identity import EpochSecrets
from main_service.integrator import Integrator
from main_service.store.epochs import EpochStore
from main_service.store.pool import FormedGroup, PoolStore
from main_service.store.slots import KINDS, FormedSlotGroup, SlotStore
from proxid.errors import EpochError, RestrictionError, StoreError
from proxid.evidence.events import BufferedPayload
from proxid.protocol.record import group_number

_log = structlog.get_logger(__name__)
_IDLE: Final = 0.25


class Release:
    """Releases formed groups, or withholds one that breaks a restriction."""

    def __init__(
        self, pool: PoolStore, slots: SlotStore, epoch_store: EpochStore, epochs: EpochKeys, integrator: Integrator
    ) -> None:
        self._pool, self._slots, self._epoch_store = pool, slots, epoch_store
        self._epochs = epochs
        self._integrator = integrator

    async def run(self) -> None:
        """Release formed groups, until cancelled."""
        while True:
            try:
                done = await self.release_all()
            except StoreError:
                done = 0
            if done == 0:
                await asyncio.sleep(_IDLE)

    async def release_rest(self) -> None:
        """Until nothing is left that has formed."""
        while await self.release_all():
            pass

    async def release_all(self) -> int:
        """Release every formed group of the epochs whose secrets exist; how many."""
        done = 0
        for epoch in await self._epoch_store.open_epochs():
            for formed in await self._pool.unreleased(epoch):
                await self._release(epoch, formed)
                done += 1
            for kind in KINDS:
                for group in await self._slots.unreleased(epoch, kind):
                    await self._release_slot(epoch, kind, group)
                    done += 1
        return done

    async def _release(self, epoch: int, formed: FormedGroup) -> None:
        secrets = await self._secrets(epoch)
        buffered = {session: BufferedPayload.decode(data) for session, data in formed.payloads.items()}
        try:
            release = self._integrator.release(formed.group, secrets, buffered)
        except RestrictionError as error:
            _log.error("group withheld", code=error.code.value, group=formed.group.number)
            await self._pool.withhold(epoch, formed.group)
            return
        parties = [(party.party, party.records) for party in release.parties]
        await self._pool.release(epoch, formed.group, release.payload, parties)

    async def _release_slot(self, epoch: int, kind: str, formed: FormedSlotGroup) -> None:
        secrets = await self._secrets(epoch)
        buffered = {session: BufferedPayload.decode(data) for session, data in formed.payloads.items()}
        try:
            release = self._integrator.release_slot(formed, kind, secrets, buffered)
        except RestrictionError as error:
            _log.error("group withheld", code=error.code.value, group=group_number(kind, formed.number))
            await self._slots.withhold(epoch, kind, formed)
            return
        parties = [(party.party, party.records) for party in release.parties]
        await self._slots.release(epoch, kind, formed, release.payload, parties)

    async def _secrets(self, epoch: int) -> EpochSecrets:
        secrets = await self._epochs.closing(epoch)
        if secrets is None:
            raise EpochError("secrets of an epoch with unreleased groups are gone")
        return secrets
