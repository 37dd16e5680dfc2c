"""What IS signs of time (DESIGN 4.3): compared with this clock; the latest epoch opening is kept.

An epoch is closed once this clock says so and IS has signed that a later one has begun.
"""

import asyncio
from typing import Final

from main_service.identity import Service
from main_service.store.epochs import EpochStore
from proxid.errors import ClockError, EpochError
from proxid.protocol.opening import EpochOpening, ServiceTime
from proxid.runtime.store.clock import HeardTime
from proxid.runtime.transport.heads import PEER_SECONDS

_POLL: Final = 0.05


class Openings:
    """Takes IS's word, whoever of this service's processes it reaches."""

    def __init__(self, service: Service, store: EpochStore, heard: HeardTime) -> None:
        self._service = service
        self._store = store
        self._heard = heard

    async def take(self, data: bytes, epoch: int) -> EpochOpening:
        """The opening of an epoch that IS asks for the key of.

        Raises:
            ClockError: this clock cannot be relied on, or differs from IS's. EpochError: another epoch's.
            CredentialError, SignatureInvalidError, KeyInvalidError, EncodingError: it is not IS's word.
        """
        opening = await self._hear(data)
        self._service.watch.require()
        if opening.epoch != epoch:
            raise EpochError("epoch opening is of another epoch")
        await self._keep(opening)
        return opening

    async def tell(self, data: bytes, nonce: bytes) -> ServiceTime:
        """This service's time, signed, in answer to IS's, whatever the two are.

        Args:
            data: IS's opening of its current epoch; empty if IS does not rely on its clock.

        Raises:
            As `take`, but for ClockError.
        """
        service = self._service
        if data:
            opening = await self._hear(data)
            if service.watch.doubt() is None:
                await self._keep(opening)
        return ServiceTime(service.name, int(service.clock() * 1000), nonce).sign(service.key)

    async def confirmed(self) -> None:
        """Wait until IS has agreed to this clock since the start: what is promised says the time, and for good.

        Raises:
            ClockError: IS has another time, or does not say it.
        """
        loop = asyncio.get_running_loop()
        watch, deadline = self._service.watch, loop.time() + PEER_SECONDS
        while not watch.confirmed():
            watch.require()
            if loop.time() >= deadline:
                raise ClockError("the gateway has not said what time it is since this service was started")
            await asyncio.sleep(_POLL)

    async def _hear(self, data: bytes) -> EpochOpening:
        service, opening = self._service, EpochOpening.decode(data)
        opening.verify(service.screener, service.name)
        await self._heard.put(service.watch.offset_of(opening.time_ms))
        return opening

    async def _keep(self, opening: EpochOpening) -> None:
        opening.verify_time(self._service.epochs)
        await self._store.keep_opening(opening.epoch, opening.encode())
