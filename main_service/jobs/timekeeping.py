"""What time does to what waits: it moves up, slots end, and epochs are closed (DESIGN 4.3, 8.6, 8.8)."""

import asyncio
from typing import Final

from main_service.epochs import EpochKeys
from main_service.identity import Service
from main_service.jobs.release import Release
from main_service.jobs.splitting import Splitting
from main_service.store.epochs import EpochStore
from main_service.store.pool import PoolStore
from main_service.store.requests import RequestStore
from main_service.store.slots import KINDS, SlotStore
from proxid.errors import StoreError

_TICK: Final = 1.0


class Timekeeper:
    """Does both at each tick.

    Args:
        release: releases what had formed before an epoch's secrets go. splitting: does the ticks of form `split`.
    """

    def __init__(
        self, service: Service, stores: tuple[RequestStore, PoolStore, SlotStore, EpochStore], epochs: EpochKeys,
        release: Release, splitting: Splitting,
    ) -> None:  # fmt: skip
        self._service = service
        self._requests, self._pool, self._slots, self._epoch_store = stores
        self._epochs = epochs
        self._release = release
        self._splitting = splitting

    async def run(self) -> None:
        """Move up what waited too long, and close epochs that are over, until cancelled."""
        while True:
            try:
                await self.tick()
                await self.close_epochs()
            except StoreError:
                pass
            await asyncio.sleep(_TICK)

    async def tick(self) -> None:
        """Move up, in bounded steps, and close slots; nothing while nobody has confirmed the clock.

        At a start nothing contradicts a wrong one yet, and what a slot's end has let go does not wait again. A slot
        ends, and a tick comes, once what was asked before is classified, or that would be of another time than it was
        asked at.
        """
        now = self._service.clock()  # first: a clock that is set from here on is not gone by
        if not self._service.watch.confirmed():
            return
        oldest = await self._requests.pending(1)
        taken = min([now, *(pending.time_ms / 1000 for pending in oldest)])
        for epoch in await self._epoch_store.open_epochs():
            for kind in KINDS:
                if not await self._slots.unreleased(epoch, kind):
                    await self._slots.close(epoch, kind, taken)
            while (await self._pool.tick(epoch, now)).more:
                pass
            await self._splitting.tick(epoch, now, taken)

    async def close_epochs(self) -> None:
        """Close epochs whose grace time is over: suppress what waits, release what formed, destroy the secrets.

        That cannot be undone, so this clock is not enough: IS has signed that a later epoch has begun, or has been
        silent for an hour in which this clock was steady.
        """
        watch = self._service.watch
        now, (begun, opening) = self._service.clock(), await self._epoch_store.opening()
        for epoch in await self._epochs.over(now):
            if watch.doubt() is not None or (begun <= epoch and not watch.alone()):
                continue
            while (await self._pool.close(epoch)).more:
                pass
            await self._release.release_rest()
            await self._splitting.close(epoch)
            for kind in KINDS:
                await self._slots.end(epoch, kind)
            await self._release.release_rest()
            while not await self._forget(epoch):
                await self._release.release_all()
            while not await self._epoch_store.let_go(epoch):
                pass
            await self._epoch_store.close(epoch, int(now * 1000), opening if begun > epoch else b"")
            self._epochs.forget(epoch)

    async def _forget(self, epoch: int) -> bool:
        done = [await self._pool.forget(epoch), *[await self._slots.forget(epoch, kind) for kind in KINDS]]
        return all(done)
