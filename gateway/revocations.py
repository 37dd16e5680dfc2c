"""Keys that the EA revoked (DESIGN 4.3): what was brought to this gateway's folder takes effect, and is recorded."""

import asyncio
from pathlib import Path
from typing import Final

import structlog

from gateway.identity import Screener
from gateway.store.library import GatewayStore
from proxid.crypto.hpke import SealingKey
from proxid.crypto.revocation import revoked_info
from proxid.errors import Code, ProxidError, StoreError
from proxid.runtime.provision.revocations import brought

_log = structlog.get_logger(__name__)
_PAUSE: Final = 1.0
_NEW: Final = ".new"
"""Ending of a file that is being written."""


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
        self._known: set[str] = set()

    async def run(self) -> None:
        """Look from time to time, until cancelled."""
        while True:
            try:
                await self.step()
            except StoreError as error:
                _log.info("revocations wait for the store", code=error.code.value)
            await asyncio.sleep(_PAUSE)

    async def step(self) -> int:
        """Put into effect what is new; how many keys. Raises StoreError."""
        done = 0
        for name, revocation in brought(self._data_dir, self._known):
            if name.endswith(_NEW):
                continue
            screener = self._screener
            try:
                if revocation is None:
                    raise ValueError
                revocation.verify(screener.authority)
            except (ProxidError, ValueError) as error:
                code = error.code if isinstance(error, ProxidError) else Code.INPUT_INVALID
                _log.error("a revocation does not hold", code=code.value)
                self._known.add(name)
                continue
            payload = self._auditor.seal(revocation.encode(), revoked_info(screener.service))
            tag = screener.user_tag(revocation.user_id)
            done += await self._store.revoke(tag, revocation, payload, screener.clock())
            self._known.add(name)
        return done
