"""What a household or party presents by itself: each line once, and nothing that is refused keeps the rest back."""

import base64
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grpc
import pytest

from proxid.clients.auditing import presenting
from proxid.clients.auditing.client import AuditorClient
from proxid.clients.auditing.presenting import Presented, present
from proxid.errors import Code, RefusedError, UpstreamError, told
from proxid.wire.v1.auditor_pb2_grpc import AuditorStub
from tests.support.addresses import free_address

Item = tuple[str, bytes, bytes]


class FakeAuditor:
    """Keeps what it is shown; refuses `bad` messages, and everything once it is full."""

    def __init__(self) -> None:
        self.kept: list[bytes] = []
        self.calls: list[int] = []
        self.full = False

    async def present(self, items: Sequence[Item]) -> int:
        self.calls.append(len(items))
        if self.full:
            raise RefusedError(Code.RATE_LIMITED)
        if any(message == b"bad" for _, _, message in items):
            raise RefusedError(Code.SIGNATURE_INVALID)
        fresh = [message for _, _, message in items if message not in self.kept]
        self.kept += fresh
        return len(fresh)


@pytest.fixture
def auditor(monkeypatch: pytest.MonkeyPatch) -> FakeAuditor:
    fake = FakeAuditor()

    @asynccontextmanager
    async def opened(*_: Any) -> AsyncIterator[FakeAuditor]:
        yield fake

    monkeypatch.setattr(presenting, "open_auditor", opened)
    return fake


def config(address: str | None = "au:7445") -> Any:
    return SimpleNamespace(auditor=address, auditor_name="auditor")


def line(message: bytes) -> str:
    return json.dumps({"kind": "response", "session": "00", "message": base64.b64encode(message).decode()}) + "\n"


async def test_only_what_was_added_is_presented(tmp_path: Path, auditor: FakeAuditor) -> None:
    file = tmp_path / "receipts.jsonl"
    assert await present(config(), file) == Presented()
    file.write_text(line(b"one") + line(b"two") + line(b"three")[:-9])  # the last one is under way
    assert await present(config(None), file) == Presented() and auditor.calls == []
    assert await present(config(), file) == Presented(new=2)
    assert await present(config(), file) == Presented()
    file.write_text(line(b"one") + line(b"two") + line(b"three"))
    assert await present(config(), file) == Presented(new=1)
    assert auditor.kept == [b"one", b"two", b"three"] and auditor.calls == [2, 1]
    # Another auditor has seen nothing; a mark that was lost, or is of a longer file, costs calls and nothing else.
    assert await present(config("other:7445"), file) == Presented() and auditor.calls[-1] == 3
    (tmp_path / "receipts.jsonl.presented").write_text("{")
    assert await present(config(), file) == Presented() and auditor.calls[-1] == 3
    file.write_text(line(b"four"))
    assert await present(config(), file) == Presented(new=1)


async def test_what_is_refused_keeps_nothing_else_back(tmp_path: Path, auditor: FakeAuditor) -> None:
    file = tmp_path / "receipts.jsonl"
    file.write_text(line(b"one") + "{}\n" + line(b"bad") + line(b"two"))
    assert await present(config(), file) == Presented(new=2, refused=1)
    assert auditor.kept == [b"one", b"two"]
    assert await present(config(), file) == Presented()


async def test_a_full_auditor_gets_the_rest_later(tmp_path: Path, auditor: FakeAuditor) -> None:
    file = tmp_path / "receipts.jsonl"
    file.write_text(line(b"one"))
    auditor.full = True
    with pytest.raises(RefusedError):
        await present(config(), file)
    auditor.full = False
    assert await present(config(), file) == Presented(new=1)


class RefusingStub:
    """An auditor's service that knows this caller, and lets it not read reports."""

    def Report(self, _request: Any, timeout: float) -> AsyncIterator[Any]:
        async def refuse() -> AsyncIterator[Any]:
            raise grpc.aio.AioRpcError(
                grpc.StatusCode.PERMISSION_DENIED,
                grpc.aio.Metadata(),
                grpc.aio.Metadata(("proxid-code", "peer_refused")),
            )
            yield

        return refuse()


async def test_who_may_not_read_reports_is_told_where_that_is_said() -> None:
    stub: Any = RefusingStub()
    with pytest.raises(RefusedError) as raised:
        await AuditorClient(stub, "the auditor at au:7445").report(3)
    assert "the auditor at au:7445" in told(raised.value) and "report_to" in told(raised.value)


async def test_an_auditor_that_is_away_is_told_in_words() -> None:
    async with grpc.aio.insecure_channel(free_address()) as channel:
        with pytest.raises(UpstreamError) as raised:
            await AuditorClient(AuditorStub(channel), "the auditor").present([])
    assert told(raised.value) == "the auditor: nobody listens there; see that it is started, and at this address"


@pytest.mark.parametrize("code", [Code.OVERLOADED, Code.EVIDENCE_UNREADABLE, Code.INTERNAL])
async def test_what_an_auditor_cannot_take_now_is_presented_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: Code
) -> None:
    """None of it is a word about what was presented: it must not be passed over as refused."""

    class Stub:
        def __init__(self) -> None:
            self.busy, self.kept = True, 0

        async def Present(self, request: Any, **_: float) -> Any:
            if self.busy:
                trailing = grpc.aio.Metadata(("proxid-code", code.value))
                raise grpc.aio.AioRpcError(grpc.StatusCode.UNAVAILABLE, grpc.aio.Metadata(), trailing)
            self.kept += len(request.items)
            return SimpleNamespace(kept=len(request.items))

    stub: Any = Stub()

    @asynccontextmanager
    async def opened(*_: Any) -> AsyncIterator[AuditorClient]:
        yield AuditorClient(stub, "the auditor at au:7445")

    monkeypatch.setattr(presenting, "open_auditor", opened)
    file = tmp_path / "receipts.jsonl"
    file.write_text(line(b"one") + line(b"two"))
    with pytest.raises(UpstreamError):
        await present(config(), file)
    stub.busy = False
    assert await present(config(), file) == Presented(new=2) and stub.kept == 2
