"""What runs beside the request path: logging answered requests, releasing groups, moving up, closing epochs.

Each job repeats until nothing is left to do, so whatever a crash interrupts is taken up again from the store.
"""

import asyncio
import time
from collections.abc import Sequence
from typing import Final

import structlog

from main_service.epochs import EpochKeys
from main_service.identity import EpochSecrets, Service
from main_service.intake import Anonymiser, Decision, NotLogged, SlotSubmission, Submission, Withheld
from main_service.integrator import Integrator
from main_service.store.epochs import EpochStore
from main_service.store.places import PlaceLedger
from main_service.store.pool import FormedGroup, PoolStore
from main_service.store.requests import Pending, RequestStore
from main_service.store.slots import KINDS, FormedSlotGroup, SlotStore
from proxid.errors import EpochError, RestrictionError, StoreError
from proxid.evidence.events import BufferedPayload
from proxid.protocol.record import group_number

_log = structlog.get_logger(__name__)
_BATCH: Final = 128
_TOGETHER: Final = 8
"""Requests that are classified together: enough for arrays to pay, few enough for the event loop to wait for."""
_SLICE = 0.002
"""Seconds of classifying after which the event loop gets its turn."""
_LONG_SLICE = 0.016
"""The same of a full batch: requests are answered faster than they are classified, and must not pile up."""
_IDLE: Final = 0.25
_TICK: Final = 1.0
_LEDGER_SECONDS: Final = 3600


class Worker:
    """Worker 0's jobs; they share nothing but the store."""

    def __init__(
        self, service: Service, stores: tuple[RequestStore, PoolStore, SlotStore, EpochStore], epochs: EpochKeys,
        anonymiser: Anonymiser, integrator: Integrator, wake: asyncio.Event, ledger: PlaceLedger,
    ) -> None:  # fmt: skip
        self._service = service
        self._requests, self._pool, self._slots, self._epoch_store = stores
        self._epochs = epochs
        self._anonymiser = anonymiser
        self._integrator = integrator
        self._wake = wake
        self._ledger = ledger

    async def log_requests(self) -> None:
        """Classify and submit what was answered, until cancelled."""
        while True:
            try:
                done = await self.log_batch()
            except StoreError:
                done = 0
                await asyncio.sleep(_IDLE)
            if done == 0:
                await self._sleep()

    async def _sleep(self) -> None:
        self._wake.clear()
        try:
            await asyncio.wait_for(self._wake.wait(), _IDLE)
        except TimeoutError:
            return

    async def log_batch(self) -> int:
        """Take up one batch; how many there were."""
        batch = await self._requests.pending(_BATCH)
        decided, begun = list[tuple[Pending, Decision]](), time.perf_counter()
        seconds = _SLICE if len(batch) < _BATCH else _LONG_SLICE
        for start in range(0, len(batch), _TOGETHER):
            decided += await self._decide(batch[start : start + _TOGETHER])
            # The request path goes first, but not after each: what classifying needs would have to be fetched anew.
            if time.perf_counter() - begun > seconds:
                await asyncio.sleep(0)
                begun = time.perf_counter()
        await asyncio.gather(*(self._settle(pending, decision) for pending, decision in decided))
        return len(batch)

    async def _decide(self, batch: Sequence[Pending]) -> list[tuple[Pending, Decision]]:
        asked, late = list[tuple[Pending, EpochSecrets]](), list[tuple[Pending, Decision]]()
        for pending in batch:
            secrets = await self._epochs.closing(self._service.epochs.number(pending.time_ms / 1000))
            if secrets is None:
                late.append((pending, Withheld(NotLogged.EPOCH_OVER)))
            else:
                asked.append((pending, secrets))
        decisions = self._anonymiser.decide_all(asked)
        return late + [(pending, decision) for (pending, _), decision in zip(asked, decisions, strict=True)]

    async def _settle(self, pending: Pending, decision: Decision) -> None:
        if isinstance(decision, Withheld):
            await self._pool.suppress(pending.session, decision.reason.value, decision.kind)
            return
        epoch = self._service.epochs.number(pending.time_ms / 1000)
        if isinstance(decision, Submission):
            await self._pool.log(epoch, pending.version, decision.record, decision.payload)
        elif not await self._may_report(epoch, decision):
            await self._pool.suppress(pending.session, NotLogged.PLACE_BUDGET.value, decision.payload.kind)
        elif await self._slots.log(epoch, pending.version, decision.record, decision.payload) == "late":
            await self._pool.suppress(pending.session, NotLogged.EPOCH_OVER.value, decision.payload.kind)

    async def _may_report(self, epoch: int, decision: SlotSubmission) -> bool:
        """Pay for the reported place before anything of it waits: a crash in between costs, and reveals, nothing."""
        terms = await self._epochs.terms(epoch)
        if terms.noise is None or not decision.place:
            return True
        ttl = int(self._service.epochs.end(epoch) + terms.epoch_grace - self._service.clock()) + _LEDGER_SECONDS
        prox_id = decision.payload.prox_id
        return await self._ledger.report(epoch, prox_id, decision.place, max(ttl, _LEDGER_SECONDS), terms.noise.places)

    async def release_groups(self) -> None:
        """Release formed groups, until cancelled."""
        while True:
            try:
                done = await self.release_all()
            except StoreError:
                done = 0
            if done == 0:
                await asyncio.sleep(_IDLE)

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

    async def keep_time(self) -> None:
        """Move up what waited too long, and close epochs that are over, until cancelled."""
        while True:
            try:
                await self.tick()
                await self.close_epochs()
            except StoreError:
                pass
            await asyncio.sleep(_TICK)

    async def tick(self) -> None:
        """Move up, in bounded steps, and close slots; nothing while the clock cannot be relied on."""
        if self._service.watch.doubt() is not None:
            return
        for epoch in await self._epoch_store.open_epochs():
            for kind in KINDS:
                if not await self._slots.unreleased(epoch, kind):
                    await self._slots.close(epoch, kind, self._service.clock())
            while (await self._pool.tick(epoch, self._service.clock())).more:
                pass

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
            await self._release_rest()
            for kind in KINDS:
                await self._slots.end(epoch, kind)
            await self._release_rest()
            while not await self._forget(epoch):
                await self.release_all()
            await self._epoch_store.close(epoch, int(now * 1000), opening if begun > epoch else b"")
            self._epochs.forget(epoch)

    async def _release_rest(self) -> None:
        while await self.release_all():
            pass

    async def _forget(self, epoch: int) -> bool:
        done = [await self._pool.forget(epoch), *[await self._slots.forget(epoch, kind) for kind in KINDS]]
        return all(done)
