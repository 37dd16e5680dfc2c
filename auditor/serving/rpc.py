"""The auditor's gRPC surface: translates, and calls the plain classes (DESIGN 10.5)."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import structlog

from auditor.report.series import JSON, NOTE, PAGE, newest, report_folder
from auditor.serving.exchange import Exchange
from auditor.serving.judging import ROLES, Allowance, Judgement, judged
from auditor.serving.presented import Item, PresentedStore
from auditor.trust import Trust
from proxid.crypto.ed25519 import SigningKey
from proxid.crypto.sansig import SignedMessage
from proxid.errors import EvidenceUnreadableError, InputError, OutputError, PeerRefusedError
from proxid.regular import regular_bytes
from proxid.runtime.transport.convert import from_wire, to_wire
from proxid.runtime.transport.methods import streaming, unary
from proxid.runtime.transport.peers import Peer, PeerRegistry
from proxid.wire.v1 import auditor_pb2 as wire
from proxid.wire.v1 import common_pb2
from proxid.wire.v1.auditor_pb2_grpc import AuditorServicer

_PIECE: Final = 256 * 1024

_log = structlog.get_logger(__name__)


Finder = Callable[[SignedMessage], Judgement]
"""Looks a message up in the gateway's log, which takes its time; raises EvidenceUnreadableError if that is away."""


@contextmanager
def _kept() -> Iterator[None]:
    """Within the block a disk without room is what callers know already: an auditor that takes it later."""
    try:
        yield
    except OutputError as error:
        _log.error("receipts wait", code=error.code.value)
        raise EvidenceUnreadableError("the auditor cannot keep anything now: its disk takes nothing more") from None


class AuditorService(AuditorServicer):
    """See the proto file.

    Args:
        peers: who may call. name, key: the auditor's. reports: the series' folder.
        report_to: roles that may fetch a report, besides the auditor's own certificate. find: see `Finder`.
    """

    def __init__(
        self, peers: PeerRegistry, trust: Trust, author: tuple[str, SigningKey], store: PresentedStore,
        exchange: Exchange, reports: Path, report_to: Collection[str], allowance: Allowance, find: Finder,
    ) -> None:  # fmt: skip
        self.peers = peers
        self._trust, (self._name, self._key) = trust, author
        self._store, self._exchange, self._reports = store, exchange, reports
        self._report_to = frozenset(report_to)
        self._allowance, self._find, self._finding = allowance, find, asyncio.Lock()

    @unary("device", "party")
    async def Present(self, request: wire.PresentRequest, peer: Peer) -> wire.PresentReply:
        """Keep what the caller holds."""
        items = [Item(item.kind, item.session, item.message) for item in request.items]
        with _kept():
            kept, known = await asyncio.to_thread(self._store.keep, peer, items)
        return wire.PresentReply(kept=kept, known=known)

    @unary("device", "party")
    async def Judge(self, request: wire.JudgeRequest, peer: Peer) -> wire.JudgeReply:
        """Who answers for a message. Without the gateway's log the message alone is judged."""
        signed = from_wire(request.message)
        found = judged(signed, self._trust)
        self._allowance.take(peer)
        async with self._finding:
            with suppress(EvidenceUnreadableError):  # the key that verifies is proof enough of who answers
                found = await asyncio.to_thread(self._find, signed)
        note = found.note(signed, self._name, self._key, time.time())
        return wire.JudgeReply(
            accountable=ROLES[found.accountable], key=found.key, entry=found.entry, named=found.named.value, note=note,
            original=None if found.original is None else to_wire(found.original),
        )  # fmt: skip

    @unary("auditor", "witness")
    async def Heads(self, request: common_pb2.HeadsRequest, peer: Peer) -> common_pb2.HeadsReply:
        """Take heads that the caller was shown, and show those that are held here."""
        with _kept():
            await asyncio.to_thread(self._exchange.take, f"{peer.role}/{peer.name}", list(request.heads))
        return common_pb2.HeadsReply(heads=await asyncio.to_thread(self._exchange.shown))

    @streaming("auditor", "gateway", "main-service", "party", "device", "witness")
    async def Report(self, request: wire.ReportRequest, peer: Peer) -> AsyncIterator[wire.ReportPart]:
        """The files of a report."""
        if (peer.role, peer.name) != ("auditor", self._name) and peer.role not in self._report_to:
            raise PeerRefusedError("this role may not fetch a report")
        folder = report_folder(self._reports, request.number) if request.number else newest(self._reports)
        if folder is None:
            raise InputError("there is no such report")
        for name in (JSON, PAGE, NOTE):
            try:
                data = await asyncio.to_thread(regular_bytes, folder / name)
            except OSError:
                raise EvidenceUnreadableError("a file of the report cannot be read here") from None
            for at in range(0, max(1, len(data)), _PIECE):
                yield wire.ReportPart(name=name, data=data[at : at + _PIECE])
