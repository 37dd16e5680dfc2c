"""The third parties' feeds (DESIGN 9): groups with a cursor, acknowledged with the party's signature."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Final

from gateway.arrivals import Arrivals
from gateway.epochs import OpenEpochs
from gateway.identity import Screener
from gateway.notices import Notices
from gateway.refusals import OF_PARTY
from gateway.store.feeds import FeedEntry
from gateway.store.library import GatewayStore
from proxid.crypto.sansig import SignedMessage
from proxid.encoding import decode
from proxid.errors import CredentialError, RecordMismatchError
from proxid.evidence.events import DeliveredPayload, EventType, SanitizedPair
from proxid.evidence.promise import accepted
from proxid.protocol.contents import ContentsMessage
from proxid.protocol.entry import entries_digest
from proxid.protocol.receipt import DeliveryAck, contents_digest, group_digest
from proxid.protocol.record import kind_and_number
from proxid.runtime.evidence_log.promising import Promises

_BATCH: Final = 32
_FRESH: Final = 1.0
"""Seconds after which what was taken and not written yet is taken again: somebody may have withdrawn meanwhile."""
_CURSORS: Final = 1 << 53


@dataclass(frozen=True, slots=True)
class WrittenGroup:
    """A group or portion as it is written to a party; of a content message `contents`.

    Attributes:
        feed_key: with the first of an epoch on a stream: the key of its bodies, sealed to the party by MS.
    """

    entry: FeedEntry
    records: tuple[SignedMessage, ...]
    contents: bytes = b""
    feed_key: bytes = b""


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


class Feeds:
    """Streams feeds and takes acknowledgements."""

    def __init__(
        self, screener: Screener, store: GatewayStore, notices: Notices, epochs: OpenEpochs, promises: Promises
    ) -> None:
        self._screener = screener
        self._promises = promises
        self._epochs = epochs
        self._store = store
        self._notices = notices
        self._arrivals = Arrivals(self._state)

    async def _state(self, party: str) -> tuple[int, list[str]]:
        """What grows with each group, and the notices that are due."""
        return await self._store.newest(party), [name for name, _ in await self._notices.waiting(party)]

    async def stream(self, party: str, after: int, follow: bool) -> AsyncIterator[WrittenGroup | WrittenNotice]:
        """The party's groups after a cursor, and notices that it has not acknowledged; with `follow`, those to come.

        Raises:
            CredentialError: the party has no acknowledgement key here. RecordMismatchError: no feed is so long.
        """
        if party not in self._screener.party_keys:
            raise CredentialError("party is not configured")
        _verify_cursor(after)
        loop, told, keyed = asyncio.get_running_loop(), set[str](), set[int]()
        seen: tuple[int, list[str]] | None = None
        while True:
            for name, sealed in await self._notices.waiting(party):
                if name not in told:
                    told.add(name)
                    yield WrittenNotice(name, sealed)
            entries = await self._store.take(party, after, _BATCH)
            begun = loop.time()
            for entry in entries:
                if loop.time() - begun > _FRESH:
                    break  # the party takes little at a time
                after = entry.cursor
                key = b"" if entry.epoch in keyed else await self._store.feed_key(party, entry.epoch)
                keyed.add(entry.epoch)
                yield replace(as_written(entry), feed_key=key or b"")
            if not entries:
                if not follow:
                    return
                seen = await self._arrivals.after(party, seen)

    async def acknowledge(self, party: str, cursor: int, data: bytes) -> bytes:
        """Take the party's signed acknowledgement of one group. The same again is harmless.

        Returns:
            The promise of DELIVERED; empty while this clock is not confirmed.

        Raises:
            RecordMismatchError: it is of another group, or of one that was not written to the party.
            SignatureInvalidError: not the party's. RateLimitError.
        """
        screener = self._screener
        ack = DeliveryAck.decode(data)
        key = screener.party_keys.get(party)
        if key is None:
            raise CredentialError("party is not configured")
        ack.verify(key)
        screener.limit("acknowledgements", party, data, OF_PARTY)
        _verify_cursor(cursor)
        entry = await self._store.group(party, cursor)
        named = accepted(ack)
        place = (party, screener.service, entry.epoch, entry.group)
        if (ack.party, ack.service, ack.epoch, ack.group) != place:
            raise RecordMismatchError("acknowledgement is of another group")
        if entry.records:
            await self._deliver(party, entry, ack, named)
        if not screener.watch.confirmed():
            return b""  # a promise says the time, and nobody has agreed to this clock yet
        return await self._promises.of(
            await self._store.delivered_at(party, cursor, named), EventType.DELIVERED, named
        )  # fmt: skip

    async def _deliver(self, party: str, entry: FeedEntry, ack: DeliveryAck, named: bytes) -> None:
        if ack.digest != delivery_digest(as_written(entry)):
            raise RecordMismatchError("acknowledgement is of another group")
        contents = kind_and_number(entry.group)[0] == "contents"
        payload = DeliveredPayload(ack.encode(), () if contents else tuple(decode(entry.records))).encode()
        kept = int((await self._epochs.last_known(entry.epoch)).retention.feeds)
        if await self._store.delivered(party, entry, payload, kept, named) == "UNKNOWN":
            raise RecordMismatchError("group was not written to the party")


def _verify_cursor(cursor: int) -> None:
    # The store counts in doubles, and would call a larger one an error of its own.
    if cursor >= _CURSORS:
        raise RecordMismatchError("feed holds no group at this cursor")
