"""The third parties' feeds (DESIGN 9): groups with a cursor, acknowledged with the party's signature."""

import asyncio
import math
import os
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from gateway.epochs import OpenEpochs
from gateway.identity import Screener
from gateway.notices import Notices
from gateway.store.feeds import KEPT_SECONDS, FeedEntry
from gateway.store.library import GatewayStore
from proxid.crypto.sansig import SignedMessage
from proxid.encoding import decode
from proxid.errors import CredentialError, RecordMismatchError, StoreError
from proxid.evidence.events import DeliveredPayload, SanitizedPair
from proxid.protocol.contents import ContentsMessage
from proxid.protocol.entry import entries_digest
from proxid.protocol.receipt import DeliveryAck, contents_digest, group_digest
from proxid.protocol.record import kind_and_number

_BATCH: Final = 32
_POLL: Final = 0.1
_KEEP: Final = 4.0
"""Seconds between two times that a stream says it is open."""
_TAKEN: Final = 3.0
_ID_SIZE: Final = 16
_CURSORS: Final = 1 << 53


@dataclass(frozen=True, slots=True)
class WrittenGroup:
    """A group or portion as it is written to a party; of a content message `contents`."""

    entry: FeedEntry
    records: tuple[SignedMessage, ...]
    contents: bytes = b""


@dataclass(frozen=True, slots=True)
class WrittenNotice:
    """A notice as it is written to a party: its name, and what is sealed to the party."""

    name: str
    sealed: bytes


def as_written(entry: FeedEntry) -> WrittenGroup:
    """A feed entry as the party gets it."""
    if kind_and_number(entry.group)[0] == "contents":
        return WrittenGroup(entry, (), entry.records)
    return WrittenGroup(entry, sanitized_records(entry))


def delivery_digest(group: WrittenGroup) -> bytes:
    """What the party's acknowledgement of it signs."""
    kind = kind_and_number(group.entry.group)[0]
    if kind == "contents":
        return contents_digest(ContentsMessage.decode(group.contents).digest)
    return entries_digest(group.records) if kind == "entries" else group_digest(group.records)


def sanitized_records(entry: FeedEntry) -> tuple[SignedMessage, ...]:
    """The records of a feed entry as the party gets them."""
    return tuple(SanitizedPair.decode(pair).sanitized for pair in decode(entry.records))


class _Lease:
    """A stream's word that what it took may be on the wire: kept while the stream lives, and no longer.

    A party that takes nothing of what is written to it keeps its stream waiting. Once the stream is to stop, the party
    gets `_TAKEN` seconds for what is under way; then the call is cancelled.
    """

    def __init__(self, store: GatewayStore, party: str, stream: str, closings: int) -> None:
        self._store, self._party, self._stream, self._closings = store, party, stream, closings
        self._loop, self._call = asyncio.get_running_loop(), asyncio.current_task()
        self._until = math.inf
        self._closed = False
        self._watching = asyncio.create_task(self._watch())

    def holds(self) -> bool:
        """Whether more may be written."""
        return not self._closed and self._loop.time() < self._until

    async def take(self, after: int) -> list[FeedEntry]:
        """The party's next groups."""
        begun = self._loop.time()
        entries = await self._store.take(self._party, after, _BATCH, self._stream)
        if entries:
            self._until = begun + KEPT_SECONDS - 1
        return entries

    async def _watch(self) -> None:
        with suppress(StoreError):  # whoever takes next says so
            while self.holds() and await self._store.closings(self._party) == self._closings:
                begun = self._loop.time()
                if self._until - begun < KEPT_SECONDS - _KEEP and await self._store.keep_stream(self._stream):
                    self._until = begun + KEPT_SECONDS - 1
                await asyncio.sleep(_POLL)
        self._closed = True
        await asyncio.sleep(_TAKEN)
        if self._call is not None:
            self._call.cancel()

    async def end(self) -> None:
        """Nothing is on the wire any more."""
        self._closed = True
        self._watching.cancel()
        if self._until < math.inf:
            await self._store.untake(self._stream)


class Feeds:
    """Streams feeds and takes acknowledgements."""

    def __init__(
        self, screener: Screener, store: GatewayStore, notices: Notices, epochs: OpenEpochs,
        random: Callable[[int], bytes] = os.urandom,
    ) -> None:  # fmt: skip
        self._screener = screener
        self._random = random
        self._epochs = epochs
        self._store = store
        self._notices = notices

    async def stream(self, party: str, after: int, follow: bool) -> AsyncIterator[WrittenGroup | WrittenNotice]:
        """The party's groups after a cursor, and notices that it has not acknowledged; with `follow`, those to come,
        until its streams are closed.

        Raises:
            CredentialError: the party has no acknowledgement key here. RecordMismatchError: no feed is so long.
        """
        if party not in self._screener.party_keys:
            raise CredentialError("party is not configured")
        _verify_cursor(after)
        lease = _Lease(self._store, party, self._random(_ID_SIZE).hex(), await self._store.closings(party))
        told: set[str] = set()
        try:
            while lease.holds():
                for name, sealed in await self._notices.waiting(party):
                    if name not in told:
                        told.add(name)
                        yield WrittenNotice(name, sealed)
                entries = await lease.take(after)
                for entry in entries:
                    if not lease.holds():
                        return
                    after = entry.cursor
                    yield as_written(entry)
                if not entries:
                    if not follow:
                        break
                    await asyncio.sleep(_POLL)
        finally:
            await asyncio.shield(lease.end())

    async def acknowledge(self, party: str, cursor: int, data: bytes) -> None:
        """Take the party's signed acknowledgement of one group; the same again is harmless.

        Raises:
            RecordMismatchError: it is of another group, or of one that was not written to the party.
            SignatureInvalidError: not the party's.
        """
        screener = self._screener
        ack = DeliveryAck.decode(data)
        key = screener.party_keys.get(party)
        if key is None:
            raise CredentialError("party is not configured")
        ack.verify(key)
        _verify_cursor(cursor)
        entry = await self._store.group(party, cursor)
        expected = (party, screener.service, entry.epoch, entry.group, delivery_digest(as_written(entry)))
        if (ack.party, ack.service, ack.epoch, ack.group, ack.digest) != expected:
            raise RecordMismatchError("acknowledgement is of another group")
        contents = kind_and_number(entry.group)[0] == "contents"
        payload = DeliveredPayload(data, () if contents else tuple(decode(entry.records))).encode()
        kept = int((await self._epochs.last_known(entry.epoch)).retention.feeds)
        state = await self._store.delivered(party, entry, payload, kept)
        if state in {"UNKNOWN", "UNWRITTEN"}:
            raise RecordMismatchError("group was not written to the party")


def _verify_cursor(cursor: int) -> None:
    # The store counts in doubles, and would call a larger one an error of its own.
    if cursor >= _CURSORS:
        raise RecordMismatchError("feed holds no group at this cursor")
