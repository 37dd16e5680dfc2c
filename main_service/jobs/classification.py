"""Answered requests become records that wait, or are withheld with a reason (DESIGN 6, 8.1, 8.8)."""

import asyncio
from collections.abc import Sequence
from typing import Final

from main_service.epochs import EpochKeys
from main_service.identity import EpochSecrets, Service
from main_service.intake import Anonymiser, Decision, NotLogged, SlotSubmission, Submission, Withheld
from main_service.store.places import PlaceLedger
from main_service.store.pool import PoolStore
from main_service.store.requests import Pending, RequestStore
from main_service.store.slots import SlotStore
from main_service.store.split import SplitStore
from proxid.errors import StoreError

_BATCH: Final = 128
_TOGETHER: Final = 48
"""Requests that are classified together: enough for arrays to pay, few enough for the event loop to wait for."""
_GATHER: Final = 0.1
"""Seconds in which requests gather after a batch of fewer than as many: nobody waits for them."""
_IDLE: Final = 0.25
_LEDGER_SECONDS: Final = 3600


class Classification:
    """Takes up answered requests, oldest first.

    Args:
        wake: set when there may be some.
    """

    def __init__(
        self, service: Service, stores: tuple[RequestStore, PoolStore, SlotStore, SplitStore], epochs: EpochKeys,
        anonymiser: Anonymiser, ledger: PlaceLedger, wake: asyncio.Event,
    ) -> None:  # fmt: skip
        self._service = service
        self._requests, self._pool, self._slots, self._split = stores
        self._epochs = epochs
        self._anonymiser = anonymiser
        self._ledger = ledger
        self._wake = wake

    async def run(self) -> None:
        """Classify and submit what was answered, until cancelled."""
        while True:
            try:
                done = await self.batch()
            except StoreError:
                done = 0
                await asyncio.sleep(_IDLE)
            if done == 0:
                await self._sleep()
            elif done < _TOGETHER:
                await asyncio.sleep(_GATHER)

    async def _sleep(self) -> None:
        self._wake.clear()
        try:
            await asyncio.wait_for(self._wake.wait(), _IDLE)
        except TimeoutError:
            return

    async def batch(self) -> int:
        """Take up one batch; how many there were."""
        batch = await self._requests.pending(_BATCH)
        decided = list[tuple[Pending, Decision]]()
        for start in range(0, len(batch), _TOGETHER):
            decided += await self._decide(batch[start : start + _TOGETHER])
            await asyncio.sleep(0)  # the request path goes first
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
            version = self._anonymiser.pipeline
            await self._pool.suppress(pending.session, decision.reason.value, decision.kind, version)
            return
        epoch = self._service.epochs.number(pending.time_ms / 1000)
        if isinstance(decision, Submission):
            split = (await self._epochs.terms(epoch)).split
            if split is not None:
                await self._split.log(epoch, pending.version, decision.payload, split)
                return
            await self._pool.log(epoch, pending.version, decision.record, decision.payload)
            return
        spent = not await self._may_report(epoch, decision)
        if await self._slots.log(epoch, pending.version, decision.record, decision.payload, spent) == "late":
            await self._pool.suppress(pending.session, NotLogged.EPOCH_OVER.value, decision.payload.kind)

    async def _may_report(self, epoch: int, decision: SlotSubmission) -> bool:
        """Pay for the reported place before anything of it waits: a crash in between costs, and reveals, nothing."""
        terms = await self._epochs.terms(epoch)
        if terms.noise is None or not decision.place:
            return True
        ttl = int(self._service.epochs.end(epoch) + terms.epoch_grace - self._service.clock()) + _LEDGER_SECONDS
        prox_id = decision.payload.prox_id
        return await self._ledger.report(epoch, prox_id, decision.place, max(ttl, _LEDGER_SECONDS), terms.noise.places)
