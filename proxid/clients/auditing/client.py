"""Calls of an auditor's service, with the caller's own certificate (DESIGN 10.5)."""

from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import grpc

from proxid.crypto.sansig import SignedMessage
from proxid.errors import Code, RefusedError
from proxid.runtime.config.base import PartyBase
from proxid.runtime.transport.channel import TlsFiles, open_channel
from proxid.runtime.transport.convert import from_wire, to_wire
from proxid.runtime.transport.retry import refused, unreached
from proxid.runtime.transport.status import code_of
from proxid.wire.v1 import auditor_pb2 as wire
from proxid.wire.v1.auditor_pb2_grpc import AuditorStub

if TYPE_CHECKING:
    from proxid.wire.v1.auditor_pb2_grpc import AuditorAsyncStub

SECONDS: Final = 10.0
JUDGE_SECONDS: Final = 300.0
"""A judgement takes a reading of the gateway's log."""
_REPORT_TO: Final = "have the auditor's operator add this role to report_to, or see proxid doctor"
_NO_REPORT: Final = "without a number its newest one is fetched; before its first audit it has none"
_AWAY: Final = frozenset({Code.UPSTREAM_UNREACHABLE, Code.EVIDENCE_UNREADABLE, Code.INTERNAL, Code.OVERLOADED})
"""What says nothing of what was asked or presented: the same is taken later."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What an auditor says of a message; see `proto/proxid/wire/v1/auditor.proto`."""

    accountable: str
    key: bytes
    entry: int
    named: str
    original: SignedMessage | None
    note: bytes


class AuditorClient:
    """One channel to an auditor.

    Args:
        stub: of its service. peer: for messages.
    """

    def __init__(self, stub: "AuditorAsyncStub", peer: str) -> None:
        self._stub, self._peer = stub, peer

    async def present(self, items: Sequence[tuple[str, bytes, bytes]]) -> int:
        """Present kind, session and message of some items; how many were new. Raises RefusedError, UpstreamError."""
        held = [wire.Held(kind=kind, session=session, message=message) for kind, session, message in items]
        reply = await self._call(self._stub.Present(wire.PresentRequest(items=held), timeout=SECONDS))
        return int(reply.kept)

    async def judge(self, signed: SignedMessage) -> Judged:
        """Who answers for a message; raises RefusedError (nobody does, or too many were asked), UpstreamError."""
        request = wire.JudgeRequest(message=to_wire(signed))
        reply = await self._call(self._stub.Judge(request, timeout=JUDGE_SECONDS))
        original = from_wire(reply.original) if reply.HasField("original") else None
        return Judged(reply.accountable, reply.key, reply.entry, reply.named, original, reply.note)

    async def report(self, number: int = 0) -> dict[str, bytes]:
        """The files of a report by name; the newest one's if `number` is 0. Raises RefusedError, UpstreamError."""
        files: dict[str, bytes] = {}

        async def read() -> None:
            async for part in self._stub.Report(wire.ReportRequest(number=number), timeout=SECONDS):
                files[part.name] = files.get(part.name, b"") + part.data

        try:
            await self._call(read())
        except RefusedError as error:
            if error.remote is Code.PEER_REFUSED:
                error.next = _REPORT_TO
            if error.remote is Code.INPUT_INVALID:
                text = f"{self._peer} has no such report"
                raise RefusedError(error.remote, text).at(self._peer, _NO_REPORT) from None
            raise
        return files

    async def _call(self, made: Awaitable[Any]) -> Any:
        try:
            return await made
        except grpc.aio.AioRpcError as error:
            code = code_of(error)
            if code is None or code in _AWAY:
                raise unreached(error, self._peer) from None
            raise refused(code, self._peer) from None


@asynccontextmanager
async def open_auditor(config: PartyBase, address: str, name: str = "auditor") -> AsyncIterator[AuditorClient]:
    """The client of a configuration's certificate; raises ConfigError if no auditor's certificate is accepted."""
    tls = TlsFiles(config.tls.key, config.tls.certificate, config.tls.ca)
    channel = open_channel(address, tls, name, config.trust.certificates("auditor"))
    try:
        yield AuditorClient(AuditorStub(channel), f"the auditor at {address}")
    finally:
        await channel.close()
