"""Keys that the EA revoked (DESIGN 4.3): what was brought to this gateway's folder takes effect, and is recorded."""

import asyncio
from pathlib import Path
from typing import Final

import structlog

from gateway.identity import Screener
from gateway.store.library import GatewayStore
from gateway.store.links import Revoked
from proxid.crypto.hpke import SealingKey
from proxid.crypto.revocation import revoked_info
from proxid.errors import Code, ProxidError
from proxid.runtime.provision.revocations import NEW, Seen, brought, forget_revocations

_log = structlog.get_logger(__name__)
_PAUSE: Final = 1.0


class Revocations:
    """Worker 0's job.

    Args:
        data_dir: of this gateway. auditor: whom REVOKED discloses the EA's word to.
    """

    def __init__(self, screener: Screener, store: GatewayStore, auditor: SealingKey, data_dir: Path) -> None:
        self._screener = screener
        self._store = store
        self._auditor = auditor
        self._data_dir = data_dir
        self._known: set[Seen] = set()

    async def run(self) -> None:
        """Look from time to time, until cancelled."""
        while True:
            try:
                await self.step()
            except ProxidError as error:
                _log.warning("revocations wait", code=error.code.value)
            await asyncio.sleep(_PAUSE)

    async def step(self) -> int:
        """Put into effect what is new; how many keys.

        Raises:
            StoreError, InputError, OutputError: what is left is taken up again.
        """
        done, gone = 0, set()
        screener = self._screener
        for seen, revocation in brought(self._data_dir, self._known):
            if seen[0].endswith(NEW):
                continue
            try:
                if revocation is None:
                    raise ValueError
                revocation.verify(screener.authority)
            except (ProxidError, ValueError) as error:
                code = error.code if isinstance(error, ProxidError) else Code.INPUT_INVALID
                _log.error("a revocation does not hold", code=code.value)
                self._known.add(seen)
                continue
            payload = self._auditor.seal(revocation.encode(), revoked_info(screener.service))
            tag = screener.user_tag(revocation.user_id)
            # The auditor holds requests against the time that is recorded: a clock that is wrong would accuse people.
            now = screener.clock()  # first: a clock that is set from here on is not gone by
            did = await self._store.revoke(tag, revocation, payload, now if screener.watch.confirmed() else None)
            if did is Revoked.ERASED:
                gone.add(revocation.user_id)
                continue
            done += did is Revoked.DONE
            if did is not Revoked.WAITS:
                self._known.add(seen)
        if gone:
            forget_revocations(self._data_dir, gone.__contains__)
        return done
