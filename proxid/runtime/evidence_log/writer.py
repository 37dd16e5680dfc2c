"""The evidence writer (DESIGN 10.2): takes plain events from the store's stream and leaves nothing readable behind.

    read a batch → encrypt → append, sign (in a thread) → trim the stream → rewrite the AOF at least every T

The stream's entry id is the event's number, so whatever a crash repeats is skipped, and a gap is an error. An event
leaves the store only after its leaf is durable and covered by a signed head. Events of one atomic step of the store
are covered by the same head: no auditor sees a step half done.
"""

import asyncio
import errno
import hashlib
import os
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from typing import Any, Final, TypeVar

import structlog
from redis.asyncio import Redis

from proxid.errors import LogDamagedError, StoreError
from proxid.evidence.events import SALT_SIZE, EventType, decode_header, encode_header
from proxid.evidence.leaf import Leaf
from proxid.runtime.evidence_log.encryptor import Encryptor, PlainEvent, SplitEvent
from proxid.runtime.evidence_log.generations import SUCCESSOR
from proxid.runtime.evidence_log.log import LeafLog
from proxid.runtime.evidence_log.retention import append_expired
from proxid.runtime.evidence_log.stream import counted, say_full
from proxid.runtime.observability.metrics import set_log
from proxid.runtime.store.connection import store_errors
from proxid.runtime.store.durable import start_rewrite, wait_on_disk

_log = structlog.get_logger(__name__)

BATCH: Final = 2048
"""Events of a batch at most; of large ones fewer, see BATCH_BYTES."""
LEAST: Final = 512
"""Events that a batch may have whatever their size."""
BATCH_BYTES: Final = 8 * 1024 * 1024
"""Payloads that a batch of more than LEAST is to hold, judged by the batch before."""
LINGER: Final = 0.4
"""Seconds between batches: events gather, so that one fsync and one signature serve many."""
CROWD: Final = 128
"""Events of a batch for which the pause is as long as LINGER; after one of more it grows with them."""
PAUSES: Final = 4
"""Times LINGER that a pause is at most: where many come, as few syncs and signatures a second serve them."""
SLICE: Final = 8
"""Events that are encrypted at a time: half a millisecond in which nobody is answered."""
SLICES: Final = 16
"""Slices of a larger batch: the more waits, the less is answered in between, so that readable events never pile up."""
PLAIN_SECONDS: Final = 60.0
"""T: how long a plain event may lie around, in the AOF included."""
_NAME: Final = 32

T = TypeVar("T")


def evidence_key_name(prefix: str, person: str) -> str:
    """The store's key that holds the evidence public key of a PROX_ID, which it does not name."""
    return f"{prefix}:es:{hashlib.sha256(person.encode()).hexdigest()[:_NAME]}"


class EvidenceWriter:
    """Worker 0's job; exactly one runs for a log.

    Args:
        client: the service's store. prefix: of its keys. log: on disk. encryptor: of this log.
        base: number of the store's last event that an older log holds; the leaves of this one count from there.
    """

    def __init__(
        self, client: Redis, prefix: str, log: LeafLog, encryptor: Encryptor,
        clock: Callable[[], float] = time.monotonic, plain_seconds: float = PLAIN_SECONDS, linger: float = LINGER,
        base: int = 0,
    ) -> None:  # fmt: skip
        self._client = client
        self._prefix = prefix
        self._stream = f"{prefix}:events"
        self.log = log
        self._encryptor = encryptor
        self._clock = clock
        self._plain_seconds = plain_seconds
        self._linger = linger
        self._base = base
        self._full: bool | None = None
        """Whether the log could not be written last; at first what an earlier process said of that is taken back."""
        self._trimmed = False  # an earlier process may have been killed in between
        self._rewritten = clock()
        self._count = LEAST
        self._behind = False
        self._taken = 0
        """Events of the batch before."""

    async def run(self) -> None:
        """Write until cancelled; the store may go away and come back.

        Raises:
            LogDamagedError: the stream does not go on where the log ends; the service must stop.
        """
        try:
            await self._say_what_is_damaged()
            while True:
                await self._step()
                if not self._behind:
                    await asyncio.sleep(self.pause)
        finally:
            self.log.close()

    @property
    def pause(self) -> float:
        """Seconds until the next batch: the more the last one held, the more may gather."""
        return self._linger * min(max(self._taken / CROWD, 1.0), PAUSES)

    async def _step(self) -> None:
        try:
            await self.write_batch()
            await self._rewrite_if_due()
            if self._full is not False:
                await say_full(self._client, self._prefix, False)
                if self._full:
                    _log.info("evidence is written again")
                self._full = False
            set_log(self.log.size, blocked=False)
        except StoreError as error:
            self._behind = False
            _log.info("evidence waits for the store", code=error.code.value)
        except OSError as error:
            await self._wait_for_room(error)

    async def _wait_for_room(self, error: OSError) -> None:
        """The log's files cannot be written: nothing is taken until they can, and nothing is lost meanwhile."""
        if not self._full:
            _log.error("evidence cannot be written", reason=errno.errorcode.get(error.errno or 0, "unknown"))
        self._full, self._behind = True, False
        set_log(self.log.size, blocked=True)
        with suppress(StoreError):
            await say_full(self._client, self._prefix, True)

    async def verify(self) -> None:
        """That the store knows all that its log holds; nothing is logged before it is on the store's disk.

        Raises:
            LogDamagedError: the store lost its memory, or is an older one. StoreError.
        """
        known = (await counted(self._client, self._prefix)).size
        if known < self.log.size:
            raise LogDamagedError(
                f"{self.log.folder}: the log holds {self.log.size} entries and the store knows of {known}: it was "
                f"emptied, or an older copy was put back; nothing was changed. Put back the newest copy of the store, "
                f"taken with this log (docs/operations.md, Backup and disaster); if there is none: {SUCCESSOR}"
            )

    async def _say_what_is_damaged(self) -> None:
        """DAMAGED for all that the operator has admitted since; said twice if a crash comes between: no harm."""
        for damage in self.log.admitted.ranges:
            while not damage.logged:
                header = encode_header(first=damage.first, last=damage.last, reason=damage.reason)
                try:
                    salt = os.urandom(SALT_SIZE)
                    await append_expired(self._client, self._prefix, salt, header, EventType.DAMAGED)
                except StoreError:
                    await asyncio.sleep(self._linger)
                    continue
                with suppress(OSError):  # said again at the next start
                    self.log.said(damage)
                break

    async def write_batch(self) -> int:
        """Log what waits in the stream, up to one batch; how many events."""
        if self.log.unfinished:
            await asyncio.to_thread(self.log.finish)
            self._trimmed = False
        first = self.log.size + 1
        rows = await self._whole_steps(first + self._base)
        self._taken = len(rows)
        if rows:
            events = [_plain(entry, fields, self._base) for entry, fields in rows]
            if [event.number for event in events] != list(range(first, first + len(events))):
                raise LogDamagedError("the stream of events does not go on where the log ends")
            await wait_on_disk(self._client, f"{self._prefix}:events:seen", events[-1].number)
            await self._log_events(events)
            self._trimmed = False
            size = sum(len(event.payload) for event in events)
            self._count = min(BATCH, max(LEAST, BATCH_BYTES * len(events) // max(size, 1)))
        if not self._trimmed:
            with store_errors():
                await self._client.xtrim(self._stream, minid=f"{self.log.size + self._base + 1}-0", approximate=False)
            self._trimmed = True
        return len(rows)

    async def _whole_steps(self, first: int) -> list[Any]:
        """What waits from a number of the store on: a batch that does not end within a step, however long it is."""
        count = self._count
        while True:
            with store_errors():
                rows: Any = await self._client.xrange(self._stream, min=f"{first}-0", count=count)
            self._behind = len(rows) >= count
            if not self._behind:
                return list(rows)
            steps = [fields.get(b"u", entry) for entry, fields in rows]
            whole = next((at for at in range(len(rows) - 1, 0, -1) if steps[at - 1] != steps[-1]), 0)
            if whole:
                return list(rows[:whole])
            count *= 2

    async def _log_events(self, events: Sequence[PlainEvent]) -> None:
        if self.log.begin_batch():
            self._encryptor.renew()
        items: list[SplitEvent] = []
        async for some in _slices(events):
            items += map(self._encryptor.split, some)
        keys = await self._keys(items)
        leaves = await self._leaves(items, keys)
        await _to_the_end(asyncio.ensure_future(asyncio.to_thread(self._append, items, leaves)))

    async def _leaves(self, items: Sequence[SplitEvent], keys: dict[str, bytes]) -> list[Leaf]:
        leaves: list[Leaf] = []
        try:
            async for some in _slices(items):
                made = self._encryptor.leaves(some, keys)
                for leaf in made:  # what the log needs of them is computed here too, not in the thread that writes
                    _ = leaf.hash, leaf.stored
                leaves += made
        except BaseException:
            # A chain whose seal was not written is of no use to anybody.
            self._encryptor.renew()
            raise
        return leaves

    async def _keys(self, items: Sequence[SplitEvent]) -> dict[str, bytes]:
        people = self._encryptor.missing(items)
        if not people:
            return {}
        with store_errors():
            found: Any = await self._client.mget([evidence_key_name(self._prefix, person) for person in people])
        lost = sum(1 for key in found if key is None)
        if lost:
            _log.error("evidence keys are missing", people=lost)
        return {person: key for person, key in zip(people, found, strict=True) if key is not None}

    def _append(self, items: Sequence[SplitEvent], leaves: Sequence[Leaf]) -> None:
        try:
            self.log.append(leaves)
        except BaseException:
            self._encryptor.renew()
            raise
        for item in items:
            if item.event.type is EventType.EXPIRED:
                fields = decode_header(item.event.fields)
                if fields.get("kind") == "payloads":
                    self.log.expire(int(str(fields["until"])))

    async def _rewrite_if_due(self) -> None:
        if self._clock() - self._rewritten >= self._plain_seconds:
            self._rewritten = self._clock()
            await start_rewrite(self._client)

    async def settle(self) -> int:
        """Log everything that is in the stream now; the number of the last event."""
        while await self.write_batch():
            pass
        return self.log.size


async def _slices(items: Sequence[T]) -> AsyncIterator[Sequence[T]]:
    """A few items at a time, between which the service answers.

    In a thread of its own the work would take the interpreter away whenever a signature is checked, and keep it.
    """
    size = max(SLICE, -(-len(items) // SLICES))
    for start in range(0, len(items), size):
        yield items[start : start + size]
        await asyncio.sleep(0)


async def _to_the_end(work: "asyncio.Future[None]") -> None:
    """Wait for work that cannot be stopped half way, then be cancelled if that was asked for."""
    cancelled = False
    while not work.done():
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            if work.cancelled():
                raise
            cancelled = True
    work.result()
    if cancelled:
        raise asyncio.CancelledError


def _plain(entry: bytes, fields: dict[bytes, bytes], base: int) -> PlainEvent:
    kind = EventType(fields[b"t"].decode("ascii"))
    return PlainEvent(int(entry.partition(b"-")[0]) - base, kind, fields[b"s"], fields[b"h"], fields[b"p"])
