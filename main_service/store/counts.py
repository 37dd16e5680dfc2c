"""What metrics show of the store: who and what waits, and how much was withheld and why (`lua/counts.lua`)."""

from typing import Any, Final

from redis.asyncio import Redis

from main_service.store.library import KEYS, PREFIX
from proxid.runtime.evidence_log.stream import events_waiting
from proxid.runtime.store import FunctionLibrary
from proxid.runtime.store.connection import store_errors, verify_writable

UNKNOWN: Final = "unknown"
"""Type of a request that was withheld before it was classified, or that could not be."""

_CHUNK: Final = 512
"""Waiting records of one step: a step keeps everybody else waiting."""


class CountStore:
    """Reads counts; every method raises StoreError when the store is away."""

    def __init__(self, functions: FunctionLibrary, client: Redis) -> None:
        self._functions = functions
        self._client = client

    async def verify_writable(self) -> None:
        """That the store takes what is written."""
        await verify_writable(self._client, PREFIX)

    async def withheld(self) -> dict[tuple[str, str], int]:
        """Records withheld since the store was made, by type and reason."""
        with store_errors():
            found: Any = await self._client.hgetall(f"{PREFIX}:withheld")
        return {_pair(field): int(number) for field, number in found.items()}

    async def unclassified(self) -> int:
        """Answered requests that wait to be classified."""
        with store_errors():
            return int(await self._client.zcard(f"{PREFIX}:pending"))

    async def events_waiting(self) -> int:
        """Events that wait to be encrypted into the log."""
        return await events_waiting(self._client, PREFIX)

    async def waiting_general(self, epoch: int) -> int:
        """Distinct people with a general query that waits in an epoch, in whichever form."""
        pool = f"pool:{epoch}"
        with store_errors():
            audiences: Any = await self._client.zrange(f"{PREFIX}:{pool}:aud", 0, -1)
        people: set[bytes] = set()
        for audience in audiences:
            people |= await self._people(pool, f"due:{audience.decode()}")
        # An epoch is in one form or the other.
        return len(people) or int(await self._functions.call("ms_split_people", KEYS, epoch))

    async def waiting_slots(self, epoch: int, kind: str) -> int:
        """Distinct people with a record in the slots of an epoch and kind."""
        return len(await self._people(f"slots:{epoch}:{kind}", "due"))

    async def _people(self, base: str, ids: str) -> set[bytes]:
        people: set[bytes] = set()
        first = 0
        while True:
            part = await self._functions.call("ms_waiting", KEYS, base, ids, first, first + _CHUNK - 1)
            people.update(person for person in part if person)
            if len(part) < _CHUNK:
                return people
            first += _CHUNK


def _pair(field: bytes) -> tuple[str, str]:
    kind, _, reason = field.decode().partition("|")
    return kind, reason
