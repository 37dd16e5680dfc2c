"""Follows a party's feed (DESIGN 9): verify, keep, acknowledge; a broken stream is taken up where it was."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import grpc
import structlog

from proxid.clients.auditing.heads import Prove, SeenHeads
from proxid.clients.subscriber.acknowledgements import FILE, Acknowledgements
from proxid.clients.subscriber.config import PartyConfig
from proxid.clients.subscriber.group import (
    OpenedRecord,
    Reader,
    feed_key,
    open_entries,
    open_group,
    open_message,
)
from proxid.clients.subscriber.ledger import GroupId, Kept, Ledger
from proxid.crypto.ed25519 import SigningKey
from proxid.errors import Code, ConfigError, ProxidError, RefusedError, UpstreamError
from proxid.evidence.events import EventType
from proxid.evidence.promise import accepted
from proxid.protocol.contents import ContentsBody
from proxid.protocol.entry import entries_digest
from proxid.protocol.feedkey import FeedKey
from proxid.protocol.notice import Notice, NoticeAck, seal_info
from proxid.protocol.receipt import DeliveryAck, contents_digest, group_digest
from proxid.protocol.record import kind_and_number
from proxid.runtime.provision.keyfile import load_opening_key, load_signing_key
from proxid.runtime.transport.channel import TlsFiles, open_channel
from proxid.runtime.transport.convert import from_wire
from proxid.runtime.transport.retry import Attempts, call, refused, unreached
from proxid.runtime.transport.status import code_of
from proxid.wire.v1 import common_pb2 as common
from proxid.wire.v1 import gateway_pb2 as wire
from proxid.wire.v1.common_pb2_grpc import EvidenceStub
from proxid.wire.v1.gateway_pb2_grpc import FeedStub

if TYPE_CHECKING:
    from proxid.wire.v1.common_pb2_grpc import EvidenceAsyncStub
    from proxid.wire.v1.gateway_pb2_grpc import FeedAsyncStub

_ATTEMPTS: Final = 12
_TIMEOUT: Final = 20.0
_AGAIN_SECONDS: Final = 0.5

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Counts:
    """What was seen: groups, records, repeats, groups taken back, notices by kind, and what was refused by code."""

    groups: int = 0
    records: int = 0
    repeated: int = 0
    withdrawn: int = 0
    notices: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Group:
    """A group or portion as it was kept; or `contents`, which name nobody."""

    id: GroupId
    cursor: int
    records: list[OpenedRecord]
    contents: ContentsBody | None = None


class Subscriber:
    """One party's subscription.

    Args:
        stub: of the gateway's feed. reader: keys to verify and open with. key: signs acknowledgements.
        ledger: an open ledger; its cursor is where the feed goes on. taken: acknowledgements that the gateway took.
        heads: of the gateway's log, which promises that it took them.
        peer: who is called, for messages.
    """

    def __init__(
        self, stub: "FeedAsyncStub", reader: Reader, key: SigningKey, ledger: Ledger, taken: Acknowledgements,
        heads: SeenHeads, peer: str = "the gateway",
    ) -> None:  # fmt: skip
        self._stub = stub
        self._reader = reader
        self._key = key
        self._ledger = ledger
        self._taken = taken
        self._heads = heads
        self._after = ledger.cursor
        self._peer = peer
        self._keys: dict[int, FeedKey] = {}
        self.counts = Counts()
        self.told: Callable[[Notice], None] = lambda notice: None
        """Called with each new notice, once it is kept and acknowledged."""

    async def groups(self, follow: bool) -> AsyncIterator[Group]:
        """New groups, each kept and acknowledged before it is given out.

        Args:
            follow: wait for groups to come, through whatever breaks; else end when the feed is read.

        Raises:
            RefusedError: the gateway does not serve this party. UpstreamError: it cannot be reached (not `follow`).
        """
        failures = Attempts(_ATTEMPTS)
        while True:
            try:
                async for group in self._stream(follow):
                    failures = Attempts(_ATTEMPTS)
                    yield group
                if not follow:
                    return
            except UpstreamError:
                failures.made += 1
                # What was kept and not acknowledged is tried again by itself, as long as one call may take.
                if not follow and (failures.made >= failures.limit or time.monotonic() >= failures.until):
                    raise
            await asyncio.sleep(_AGAIN_SECONDS)

    async def _stream(self, follow: bool) -> AsyncIterator[Group]:
        await self._settle()
        self._keys.clear()  # a stream brings the key of each epoch with the first that it brings of it
        stream = self._stub.Subscribe(wire.SubscribeRequest(after=self._after, follow=follow))
        try:
            async for message in stream:
                group = await self._take(message)
                self._after = max(self._after, message.cursor)
                if group is not None:
                    yield group
        except grpc.aio.AioRpcError as error:
            code = code_of(error)
            if code is not None and error.code() not in {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.INTERNAL}:
                raise refused(code, self._peer) from None
            raise unreached(error, self._peer) from None
        finally:
            stream.cancel()

    async def _settle(self) -> None:
        """Acknowledge what was kept and, because something broke in between, not acknowledged for sure."""
        for kept in [kept for kept in self._ledger.kept.values() if not self._taken.has(kept.id)]:
            await self._acknowledge(kept)

    async def _take(self, message: wire.FeedGroup) -> Group | None:
        """Verify, keep, acknowledge; None for a notice, or a group that was had before or does not verify.

        Raises UpstreamError if a portion was cut while it was under way: it comes again to a new stream.
        """
        if message.notice:
            await self._notice(message.notice)
            return None
        group_id = GroupId(message.epoch, message.group)
        try:
            opened, contents, digest = self._open(message)
        except ProxidError as error:
            # Not acknowledged: the gateway keeps it, and the auditor will see what it was.
            _log.error("group refused", code=error.code.value, group=message.group)
            self.counts.refused[error.code.value] += 1
            return None
        kept = Kept(group_id, message.cursor, digest)
        before = self._ledger.kept.get(group_id)
        if before is not None and before.digest != digest:
            self._ledger.retract(group_id, before.cursor)
        repeated = self._ledger.has(group_id)
        if not repeated:
            self._ledger.add(kept, opened, contents)
        if not await self._acknowledge(kept):
            if not self._ledger.has(group_id):
                raise UpstreamError(f"{self._peer}: a portion was cut while it was under way")
            return None
        if repeated:
            self.counts.repeated += 1
            return None
        self.counts.groups += 1
        self.counts.records += len(opened)
        return Group(group_id, message.cursor, opened, contents)

    def _open(self, message: wire.FeedGroup) -> tuple[list[OpenedRecord], ContentsBody | None, bytes]:
        """Records or contents, and the digest that is acknowledged; raises as `group` says."""
        if message.feed_key:
            self._keys[message.epoch] = feed_key(message.feed_key, message.epoch, self._reader)
        kind, place = kind_and_number(message.group)[0], (message.epoch, message.group)
        opens = (self._reader, self._keys.get(message.epoch))
        if kind == "contents":
            body, plaintext = open_message(message.contents, *place, *opens)
            return [], body, contents_digest(plaintext)
        records = [from_wire(record) for record in message.records]
        if kind == "entries":
            return open_entries(records, *place, *opens), None, entries_digest(records)
        return open_group(records, *place, *opens), None, group_digest(records)

    async def _notice(self, sealed: bytes) -> None:
        reader = self._reader
        try:
            notice = Notice.decode(reader.key.open(sealed, seal_info(reader.service, reader.party)))
            notice.verify(reader.screener, reader.service, reader.party)
        except ProxidError as error:
            _log.error("notice refused", code=error.code.value)
            self.counts.refused[error.code.value] += 1
            return
        fresh = self._ledger.note(notice)
        ack = NoticeAck(reader.party, reader.service, notice.digest, int(time.time() * 1000)).sign(self._key)
        request = wire.AcknowledgeRequest(acknowledgement=ack.encode(), notice=True)
        await call(lambda: self._stub.Acknowledge(request, timeout=_TIMEOUT), Attempts(_ATTEMPTS, self._peer))
        if fresh:
            self.counts.notices[notice.kind] += 1
            self.told(notice)

    async def _acknowledge(self, kept: Kept) -> bool:
        """False, and the group is taken back, if the gateway has dropped or cut it meanwhile: somebody in it withdrew.

        The feed then goes on before what was cut.
        """
        reader, group = self._reader, kept.id
        ack = DeliveryAck(reader.party, reader.service, group.epoch, group.group, kept.digest).sign(self._key)
        request = wire.AcknowledgeRequest(cursor=kept.cursor, acknowledgement=ack.encode())
        try:
            reply = await call(
                lambda: self._stub.Acknowledge(request, timeout=_TIMEOUT), Attempts(_ATTEMPTS, self._peer)
            )
        except RefusedError as error:
            if error.remote is not Code.RECORD_MISMATCH:
                raise
            self._ledger.retract(group, kept.cursor)
            if not self._ledger.has(group):
                self._after = min(self._after, self._ledger.cursor)
            self.counts.withdrawn += 1
            return False
        await self._taken_as(ack, bytes(reply.promise))
        return True

    async def _taken_as(self, ack: DeliveryAck, promise: bytes) -> None:
        """Keep an acknowledgement that the gateway took, and its promise; a gateway of before gives none."""
        try:
            head = self._heads.promised(promise, EventType.DELIVERED, accepted(ack)) if promise else b""
            self._taken.add(ack, promise)
            if head:
                await self._heads.take(head)
        except ProxidError as error:
            _log.error("promise refused", code=error.code.value)
            self.counts.refused[error.code.value] += 1
            self._taken.add(ack)


def reader_of(config: PartyConfig) -> Reader:
    """The reader of a configuration; raises ConfigError, KeyInvalidError."""
    trust = config.trust
    if trust.service is None or trust.screener is None:
        raise ConfigError("trust.service and trust.screener are needed")
    return Reader(config.name, config.service, trust.service, trust.screener, load_opening_key(config.opening_key))


def _prover(stub: "EvidenceAsyncStub", peer: str) -> Prove:
    async def prove(old: int, size: int, generation: int, other: bool) -> list[bytes]:
        request = common.ConsistencyRequest(old=old, size=size, log=generation, other=other)
        return list((await call(lambda: stub.Consistency(request, timeout=_TIMEOUT), Attempts(3, peer))).hashes)

    return prove


@asynccontextmanager
async def open_subscriber(config: PartyConfig) -> AsyncIterator[Subscriber]:
    """The subscriber of a configuration, with its channel and ledger. Raises as `Ledger` and `reader_of`."""
    reader, key = reader_of(config), load_signing_key(config.signing_key)
    tls = TlsFiles(config.tls.key, config.tls.certificate, config.tls.ca)
    tls.verify_issued()
    channel = open_channel(config.gateway, tls, config.gateway_name, config.trust.certificates("gateway"))
    try:
        with Ledger(config.data_dir / "feed.jsonl") as ledger, Acknowledgements(config.data_dir / FILE) as taken:
            peer = f"the gateway at {config.gateway}"
            keys = (reader.screener, reader.service_key)
            heads = SeenHeads(config.data_dir, config.service, keys, _prover(EvidenceStub(channel), peer))
            yield Subscriber(FeedStub(channel), reader, key, ledger, taken, heads, peer)
    finally:
        await channel.close()
