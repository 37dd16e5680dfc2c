"""A gateway that is away is waited for as long as one call may take, and then given up (DESIGN 9)."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from proxid.clients.auditing.heads import SeenHeads
from proxid.clients.subscriber import subscriber as module
from proxid.clients.subscriber.acknowledgements import FILE, Acknowledgements
from proxid.clients.subscriber.ledger import GroupId, Kept, Ledger
from proxid.clients.subscriber.subscriber import Subscriber
from proxid.crypto.ed25519 import SigningKey
from proxid.errors import UpstreamError
from proxid.runtime.transport import retry
from proxid.runtime.transport.retry import SECONDS, RetryBudget
from tests.unit.clients.subscriber.test_feed import IS, MS, READER
from tests.unit.clients.subscriber.test_portions_again import opened


class Away:
    """A gateway that nobody reaches; a call of it takes as long as it is told."""

    def __init__(self, clock: "VirtualTime", seconds: float) -> None:
        self._clock, self._seconds = clock, seconds
        self.calls = 0

    def _fail(self) -> grpc.aio.AioRpcError:
        self.calls += 1
        self._clock.now += self._seconds
        return grpc.aio.AioRpcError(grpc.StatusCode.UNAVAILABLE, grpc.aio.Metadata(), grpc.aio.Metadata())

    async def Acknowledge(self, _request: Any, **_: float) -> Any:
        raise self._fail()

    def Subscribe(self, _request: Any) -> Any:
        away = self

        class Stream:
            async def __aiter__(self) -> AsyncIterator[Any]:
                raise away._fail()
                yield

            def cancel(self) -> None:
                pass

        return Stream()


class VirtualTime:
    """A clock that sleeping moves, and nothing else waits for."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        real = asyncio.sleep

        async def sleep(seconds: float) -> None:
            self.now += seconds
            await real(0)

        for where in (module, retry):
            patch.setattr(where.asyncio, "sleep", sleep)
            patch.setattr(where.time, "monotonic", lambda: self.now)
        patch.setattr(retry, "_BUDGET", RetryBudget())


@pytest.mark.parametrize("kept", [False, True], ids=["nothing kept", "a group kept and not acknowledged"])
@pytest.mark.parametrize("seconds", [0.0, 20.0], ids=["refused at once", "silent"])
async def test_it_is_given_up_after_some_ninety_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, kept: bool
) -> None:
    clock = VirtualTime(monkeypatch)
    gateway: Any = Away(clock, seconds)
    with Ledger(tmp_path / "feed.jsonl") as ledger, Acknowledgements(tmp_path / FILE) as taken:
        if kept:
            ledger.add(Kept(GroupId(7, 4), 3, bytes(32)), opened("ann"))

        async def prove(*_: Any) -> list[bytes]:
            return []

        heads = SeenHeads(tmp_path, "main-service", (IS.public, MS.public), prove)
        party = Subscriber(gateway, READER, SigningKey(bytes(32)), ledger, taken, heads, "the gateway at gw:7443")
        begun = clock.now
        with pytest.raises(UpstreamError, match="the gateway at gw:7443"):
            async for _ in party.groups(follow=False):
                raise AssertionError("nothing came")
    assert gateway.calls > 1, "once is not enough"
    assert clock.now - begun <= 2 * SECONDS + seconds
