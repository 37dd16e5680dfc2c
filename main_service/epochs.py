"""MS's secrets of each epoch (DESIGN 2, 8.4.1): made once, committed to, disclosed to the auditor, destroyed."""

import os
from collections.abc import Callable

from main_service.service import EpochSecrets, Service
from main_service.store.epochs import EpochStore
from proxid.anonymise.stream.cycle import seed_commitment
from proxid.crypto.hpke import OpeningKey
from proxid.crypto.identity import EpochKey
from proxid.errors import EpochError
from proxid.evidence.disclosure import disclosure_info

_SEED_SIZE = 32


class EpochKeys:
    """Makes and finds the secrets of epochs; several processes agree on the same ones through the store."""

    def __init__(self, service: Service, store: EpochStore, random: Callable[[int], bytes] = os.urandom) -> None:
        self._service = service
        self._store = store
        self._random = random
        self._cache: dict[int, EpochSecrets] = {}

    async def current(self, epoch: int) -> EpochSecrets:
        """The secrets of the current epoch, opened now if nobody has yet.

        Raises:
            EpochError: the epoch is not current (an old one's secrets are gone, a future one's do not exist).
        """
        if epoch != self._service.epochs.number(self._service.clock()):
            raise EpochError("epoch is not the current one")
        found = self._cache.get(epoch)
        if found is None:
            found = self._cache[epoch] = await self._open(epoch)
        return found

    async def closing(self, epoch: int) -> EpochSecrets | None:
        """The secrets of an epoch that is over, while they still exist."""
        if epoch in self._cache:
            return self._cache[epoch]
        stored = await self._store.load(epoch)
        return None if stored is None else self._decode(epoch, *stored)

    def forget(self, epoch: int) -> None:
        """Drop an epoch's secrets from memory; the store's copy goes with EPOCH_CLOSED."""
        self._cache.pop(epoch, None)

    async def _open(self, epoch: int) -> EpochSecrets:
        service = self._service
        stored = await self._store.load(epoch)
        if stored is None:
            seed, opening = self._random(_SEED_SIZE), OpeningKey.generate(self._random)
            commitment = seed_commitment(seed, epoch, service.name)
            key = EpochKey(service.name, epoch, opening.public.data, commitment).issue(service.key)
            sealed = service.auditor.seal(seed, disclosure_info(service.name, epoch))
            stored = await self._store.open(epoch, (seed, opening.seed, key.encode()), commitment, sealed)
        return self._decode(epoch, *stored)

    @staticmethod
    def _decode(epoch: int, seed: bytes, opening: bytes, key: bytes) -> EpochSecrets:
        return EpochSecrets(epoch, seed, OpeningKey(opening), EpochKey.decode(key))
