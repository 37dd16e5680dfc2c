"""Epochs at the Identity Screener (DESIGN 4.3, 7): MS's signed key of each, and the policy document that it names.

IS names the documents that it holds when it asks for an epoch's key. The key that MS answers with is logged before any
device gets it, and stays the epoch's.
"""

from collections import OrderedDict
from typing import Final

import structlog

from gateway.identity import Screener
from gateway.store.library import GatewayStore
from gateway.upstream import MainServiceClient
from proxid.crypto.identity import EpochKey
from proxid.errors import EpochError, PolicyError
from proxid.protocol.feedkey import read_feeds, verify_parties
from proxid.runtime.clock import known_for
from proxid.runtime.config.terms import Terms
from proxid.runtime.observability.metrics import set_policy_behind
from proxid.runtime.provision.policies import Held

_log = structlog.get_logger(__name__)
_CACHED: Final = 64


class OpenEpochs:
    """Opens the current epoch, and knows the key of each that was open here.

    Args:
        policies: the documents that are held here.
    """

    def __init__(self, screener: Screener, store: GatewayStore, upstream: MainServiceClient, policies: Held) -> None:
        self.policies = policies
        self._screener = screener
        self._store = store
        self._upstream = upstream
        self._keys: OrderedDict[int, EpochKey] = OrderedDict()

    async def current(self) -> EpochKey:
        """The key of the current epoch, asked of MS now if nobody has yet.

        Raises:
            PolicyError: no policy document is held by both services. UpstreamError, UpstreamRefusedError.
            ClockError: the clock cannot be relied on.
            CredentialError, RecordMismatchError, SignatureInvalidError: not its keys of this epoch and policy.
        """
        self._screener.watch.require()
        epoch = self._screener.epochs.number(self._screener.clock())
        found = await self._known(epoch)
        return await self._open(epoch) if found is None else found

    async def of(self, epoch: int) -> EpochKey:
        """The key of an epoch that is or was open here; raises EpochError."""
        found = await self._known(epoch)
        if found is None:
            raise EpochError("epoch was not opened here")
        return found

    async def terms(self, epoch: int) -> Terms:
        """The settings of an epoch that is or was open here; raises EpochError, PolicyError."""
        return self.policies.terms((await self.of(epoch)).policy)

    async def last_known(self, epoch: int) -> Terms:
        """The settings of an epoch, or of the current one if it is forgotten; raises PolicyError."""
        found = await self._known(epoch)
        return self.in_force() if found is None else self.policies.terms(found.policy)

    async def latest(self) -> Terms | None:
        """The settings of the current epoch; None if it is not open here, or the clock is not confirmed.

        What is dropped by them does not come back, and a clock that is a day behind would drop for who joined today.
        """
        now = self._screener.clock()
        if not self._screener.watch.confirmed():
            return None
        found = await self._known(self._screener.epochs.number(now))
        return None if found is None else self.policies.terms(found.policy)

    @property
    def time_ms(self) -> int:
        """The gateway's time, Unix milliseconds."""
        return int(self._screener.clock() * 1000)

    def in_force(self) -> Terms:
        """What this side alone goes by, with or without MS; raises PolicyError."""
        return self.policies.in_force(self._screener.epochs.number(self._screener.clock()))

    def right_known_for(self) -> int:
        """Seconds for which a right that was exercised is known again; raises PolicyError."""
        return known_for(self.in_force().clock_skew, self._screener.limits.nonce_ttl)

    async def verify_current(self, epoch: int, time_ms: int) -> Terms:
        """Check 2 of 5.2: the epoch is current and the time within the skew; the settings of the epoch.

        Raises:
            EpochError, FreshnessError. What `current` raises, if nobody has opened the epoch yet.
        """
        self._screener.verify_epoch(epoch)
        found = await self._known(epoch) or await self.current()
        terms = self.policies.terms(found.policy)
        self._screener.verify_fresh(time_ms, terms.clock_skew)
        return terms

    async def _known(self, epoch: int) -> EpochKey | None:
        found = self._keys.get(epoch)
        if found is None:
            stored = await self._store.epoch(epoch)
            found = None if stored is None else self._keep(stored)
        return found

    def _keep(self, stored: bytes) -> EpochKey:
        key = EpochKey.decode(stored)
        self._keys[key.epoch] = key
        if len(self._keys) > _CACHED:
            self._keys.popitem(last=False)
        return key

    async def _open(self, epoch: int) -> EpochKey:
        screener, held = self._screener, self.policies.usable(epoch)
        opening = screener.opening()
        try:
            opened, newest = await self._upstream.epoch(opening, held)
            key = EpochKey.decode(opened.key)
            key.verify(screener.service_key, screener.service, epoch)
            if key.policy not in held:
                raise PolicyError("the epoch goes by a policy document that does not count here")
            terms = self.policies.terms(key.policy)
            feeds = read_feeds(opened.feeds, screener.service_key, screener.service, epoch)
            verify_parties(feeds, terms.parties)
        except PolicyError:
            _log.error("no common policy", epoch=epoch, offered=b"".join(held[:1]).hex())
            raise
        self._tell(epoch, key.policy, held[0], newest)
        kept = terms.retention.links
        self.policies.folder.go_by(epoch, key.policy)
        times = (screener.link_ttl(epoch, kept), int(screener.epochs.end(epoch) + kept))
        parties = dict.fromkeys(sorted({*screener.party_keys, *terms.parties}), b"") | dict(feeds)
        return self._keep(await self._store.open_epoch(epoch, opened, *times, parties))

    @staticmethod
    def _tell(epoch: int, chosen: bytes, ours: bytes, theirs: bytes) -> None:
        for side, lags in {"gateway": chosen != theirs, "main-service": chosen != ours}.items():
            set_policy_behind(side, lags)
            if lags:
                _log.warning("policy waits", epoch=epoch, kind=side, policy=chosen.hex())
