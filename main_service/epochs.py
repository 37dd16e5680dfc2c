"""MS's secrets of each epoch (DESIGN 2, 8.4.1): made once, committed to, disclosed to the auditor, destroyed.

An epoch is opened when IS asks for its key and names the policy documents that it holds: under the newest that both
hold, whose digest stands in the key (DESIGN 7).
"""

import asyncio
import os
from collections.abc import Callable, Sequence
from typing import Final

import structlog

from main_service.identity import EpochSecrets, Service
from main_service.store.epochs import EpochStore
from proxid.anonymise.mix.cycle import seed_commitment
from proxid.anonymise.mix.settings import Settings
from proxid.anonymise.slotted.types import SlotSettings
from proxid.anonymise.split.draws import Draws
from proxid.crypto.hpke import OpeningKey
from proxid.crypto.identity import EpochKey
from proxid.errors import ClockError, EpochError, PolicyError, StoreError
from proxid.evidence.disclosure import disclosure_info
from proxid.evidence.events import EpochOpened
from proxid.protocol.feedkey import FeedKey
from proxid.protocol.opening import EpochOpening
from proxid.runtime.config.terms import Terms
from proxid.runtime.observability.metrics import set_policy_behind
from proxid.runtime.provision.policies import Held

_log = structlog.get_logger(__name__)
_SEED_SIZE: Final = 32
_SETTLE_SECONDS: Final = 12.0
"""An epoch that is over is closed within seconds; IS waits longer for its answer."""
_POLL: Final = 0.1


class EpochKeys:
    """Makes and finds the secrets of epochs; several processes agree on the same ones through the store.

    Args:
        policies: the documents that are held here.
    """

    def __init__(
        self, service: Service, store: EpochStore, policies: Held, random: Callable[[int], bytes] = os.urandom
    ) -> None:
        self._service = service
        self._store = store
        self._policies = policies
        self._random = random
        self._cache: dict[int, EpochSecrets] = {}

    async def current(self, epoch: int) -> EpochSecrets:
        """The secrets of an epoch that is current by a clock within the skew.

        Raises:
            EpochError: the epoch is not current (an old one's secrets are gone, a future one's do not exist), or
                nobody has opened it yet. PolicyError: the document that it goes by is not here.
        """
        self._verify_current(epoch)
        found = await self.closing(epoch)
        if found is None:
            raise EpochError("epoch is not open")
        return found

    async def open(self, opening: EpochOpening, held: Sequence[bytes]) -> EpochSecrets:
        """The secrets of the current epoch, opened now if nobody has yet.

        Args:
            opening: IS's word that the epoch has begun, verified.
            held: digests of the documents that IS holds for this epoch, the one that should count first.

        Raises:
            EpochError: the epoch is not current, or it or a later one was closed.
            PolicyError: no document is held by both. StoreError: an epoch that is over has still to be closed.
            ClockError: the word has become old meanwhile.
        """
        epoch = opening.epoch
        self._verify_current(epoch)
        secrets = await self.closing(epoch)
        if secrets is None:
            policy = self._chosen(epoch, held)
            now = await self._settled()
            secrets = self._cache[epoch] = await self._open(opening, policy, now)
        if secrets.key.policy not in held:
            raise PolicyError("the epoch is open under a policy that the gateway does not hold")
        self._policies.folder.go_by(epoch, secrets.key.policy)
        self._tell(epoch, secrets.key.policy, held)
        return secrets

    async def closing(self, epoch: int) -> EpochSecrets | None:
        """The secrets of an epoch, over or not, while they exist; raises PolicyError as `current`."""
        if epoch not in self._cache:
            stored = await self._store.load(epoch)
            if stored is None:
                return None
            # What another process closes has to go from this one's memory too.
            self._cache = {e: secrets for e, secrets in self._cache.items() if e >= epoch - 1}
            self._cache[epoch] = self._decode(epoch, *stored)
        return self._cache[epoch]

    async def terms(self, epoch: int) -> Terms:
        """The settings of an epoch; raises EpochError once its secrets are gone, PolicyError as `current`."""
        return (await self._held(epoch)).terms

    async def _held(self, epoch: int) -> EpochSecrets:
        found = await self.closing(epoch)
        if found is None:
            raise EpochError("epoch is over, or was never opened")
        return found

    async def settings(self, epoch: int) -> Settings:
        """How groups of queries form in an epoch; raises as `terms`."""
        return (await self.terms(epoch)).settings

    async def slots(self, epoch: int) -> dict[str, SlotSettings]:
        """How groups of the other kinds form in an epoch; raises as `terms`."""
        return (await self.terms(epoch)).slots

    async def draws(self, epoch: int) -> Draws:
        """What is drawn by lot in an epoch; raises as `terms`."""
        return Draws((await self._held(epoch)).seed)

    async def over(self, now: float) -> list[int]:
        """Epochs that are to be closed: their time of grace, as each one's document says, is over; raises as `current`.

        Args:
            now: Unix seconds.
        """
        found = {epoch: await self.closing(epoch) for epoch in await self._store.open_epochs()}
        end = self._service.epochs.end
        return [epoch for epoch, own in found.items() if own is not None and end(epoch) + own.terms.epoch_grace <= now]

    def forget(self, epoch: int) -> None:
        """Drop an epoch's secrets from memory; the store's copy goes with EPOCH_CLOSED."""
        self._cache.pop(epoch, None)

    def newest(self, epoch: int) -> bytes:
        """Digest of the document that this side would have an epoch go by; empty if it holds none."""
        return next(iter(self._policies.usable(epoch)), b"")

    def _verify_current(self, epoch: int) -> None:
        service = self._service
        if epoch not in service.epochs.near(service.clock(), service.clock_skew):
            raise EpochError("epoch is not the current one")

    def _chosen(self, epoch: int, held: Sequence[bytes]) -> bytes:
        for digest in self._policies.usable(epoch):
            if digest in held:
                return digest
        _log.error("no common policy", epoch=epoch, policy=self.newest(epoch).hex(), offered=b"".join(held[:1]).hex())
        raise PolicyError("no policy document counts at both services: activate the same one at both")

    def _tell(self, epoch: int, chosen: bytes, held: Sequence[bytes]) -> None:
        behind = {"gateway": chosen != self.newest(epoch), "main-service": chosen != held[0]}
        for side, lags in behind.items():
            set_policy_behind(side, lags)
            if lags:
                _log.warning("policy waits", epoch=epoch, kind=side, policy=chosen.hex())

    async def _settled(self) -> float:
        """Now, once every epoch whose time of grace is over is closed: no new one begins beside it."""
        service, waited = self._service, 0.0
        while waited < _SETTLE_SECONDS:
            now = service.clock()
            if not await self.over(now):
                return now
            await asyncio.sleep(_POLL)
            waited += _POLL
        raise StoreError("an epoch that is over is not closed yet")

    async def _open(self, opening: EpochOpening, policy: bytes, now: float) -> EpochSecrets:
        service, epoch = self._service, opening.epoch
        if abs(opening.time_ms / 1000 - now) > service.clock_skew:
            # As when the machine slept in between: the log would say that the clocks differed.
            raise ClockError("the gateway's word that the epoch has begun is too old")
        seed, opener = self._random(_SEED_SIZE), OpeningKey.generate(self._random)
        commitment = seed_commitment(seed, epoch, service.name)
        key = EpochKey(service.name, epoch, opener.public.data, commitment, policy).issue(service.key).encode()
        sealed = service.auditor.seal(seed, disclosure_info(service.name, epoch))
        feeds = tuple(self._feed_key(seed, epoch, party) for party in self._policies.terms(policy).parties)
        opened = EpochOpened(key, sealed, opening.encode(), int(now * 1000), feeds)
        stored = await self._store.open(epoch, (seed, opener.seed, key, feeds), opened)
        if stored is None:
            raise EpochError("epoch is closed, or one after it")
        return self._decode(epoch, *stored)

    def _feed_key(self, seed: bytes, epoch: int, party: str) -> bytes:
        service = self._service
        key = FeedKey.of(seed, service.name, epoch, party)
        return key.seal(service.parties[party], service.name, epoch, party).sign(service.key).encode()

    def _decode(self, epoch: int, seed: bytes, opening: bytes, key: bytes, feeds: tuple[bytes, ...]) -> EpochSecrets:
        decoded = EpochKey.decode(key)
        return EpochSecrets(epoch, seed, OpeningKey(opening), decoded, self._policies.terms(decoded.policy), feeds)
