"""The ledger of reported places on the store (`lua/places.lua`; DESIGN 8.8).

It lies with the Main Service, which alone knows places, under the PROX_ID of the epoch, which is all that it knows of a
person; and it holds names of places that mean nothing without the epoch's seed.
"""

from main_service.store.library import KEYS
from proxid.runtime.store import FunctionLibrary


class PlaceLedger:
    """Raises StoreError when the store is away or full."""

    def __init__(self, functions: FunctionLibrary) -> None:
        self._functions = functions

    async def report(self, epoch: int, prox_id: str, name: bytes, ttl: int, limit: int) -> bool:
        """Whether a person may report a place; a new one is paid for, one reported before is free.

        Args:
            ttl: seconds for which the ledger of the epoch is needed. limit: places that a person may report in it.
        """
        return bool(await self._functions.call("ms_report_place", KEYS, epoch, prox_id, name, limit, ttl))
