"""Released groups that wait for IS to take them: a stream whose ids are the cursors (DESIGN 9, 12)."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Final

from redis.asyncio import Redis

from main_service.store.library import KEYS, PREFIX
from proxid.encoding import decode
from proxid.runtime.store import FunctionLibrary
from proxid.runtime.store.connection import store_errors

STREAM: Final = f"{PREFIX}:outbox"
_BATCH: Final = 16
_BLOCK_MS: Final = 1000


@dataclass(frozen=True, slots=True)
class OutboxEntry:
    """One group for one party; `records` in the order shown, `audience` of entries and contents."""

    cursor: int
    party: str
    epoch: int
    group: int
    records: tuple[bytes, ...]
    audience: str = ""


class Outbox:
    """Reads and trims the outbox; the release step of `lua/service.lua` fills it.

    Args:
        client: a connection of its own, since reading blocks. functions: the service's.
    """

    def __init__(self, client: Redis, functions: FunctionLibrary) -> None:
        self._client = client
        self._functions = functions

    async def follow(self, after: int) -> AsyncIterator[OutboxEntry]:
        """Entries after a cursor, then those to come; raises StoreError."""
        while True:
            with store_errors():
                found: Any = await self._client.xread({STREAM: f"{after}-0"}, count=_BATCH, block=_BLOCK_MS)
            if found:
                # A group that IS has and this store forgets would be given out again, its records with others'.
                await self._functions.on_disk(KEYS)
            for _, rows in found.items() if isinstance(found, dict) else found or ():
                for number, fields in _flat(rows):
                    entry = _entry(number, fields)
                    after = entry.cursor
                    yield entry

    async def trim(self, cursor: int) -> None:
        """Forget entries up to and including a cursor, which IS has stored."""
        with store_errors():
            await self._client.xtrim(STREAM, minid=f"{cursor + 1}-0", approximate=False)


def _flat(rows: Any) -> Any:
    return rows[0] if rows and isinstance(rows[0], list) else rows


def _entry(number: bytes, fields: dict[bytes, bytes]) -> OutboxEntry:
    return OutboxEntry(
        int(number.partition(b"-")[0]), fields[b"party"].decode(), int(fields[b"e"]), int(fields[b"n"]),
        tuple(decode(fields[b"r"])), fields.get(b"d", b"").decode(),
    )  # fmt: skip
