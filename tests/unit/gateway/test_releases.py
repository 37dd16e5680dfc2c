"""The gateway's following of releases while the main service is away: patient, and quiet (DESIGN 12)."""

import asyncio
import io
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway import releases
from gateway.releases import FIRST_DELAY, MAX_DELAY, Releases
from proxid.errors import ProxidError, StoreError, UpstreamError, UpstreamRefusedError
from proxid.runtime.observability.logging import configure_logging
from tests.support.logs import logging_restored


class Store:
    async def released_cursor(self) -> int:
        return 0


class Upstream:
    """Fails so many times, then stays open."""

    def __init__(self, *failures: ProxidError) -> None:
        self._failures = list(failures)
        self.open = asyncio.Event()

    async def releases(self, after: int) -> AsyncIterator[Any]:
        if self._failures:
            raise self._failures.pop(0)
        self.open.set()
        await asyncio.Event().wait()
        yield


@pytest.fixture
def delays(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    found: list[float] = []
    sleep = asyncio.sleep

    async def quick(seconds: float) -> None:
        found.append(seconds)
        await sleep(0)

    monkeypatch.setattr(releases.asyncio, "sleep", quick)
    monkeypatch.setattr(releases, "STEADY_SECONDS", 0.05)
    return found


async def test_interruption_is_said_when_it_begins_and_when_it_ends(delays: list[float]) -> None:
    away = [UpstreamError("away")] * 8 + [StoreError("away"), UpstreamRefusedError("revoked")]
    stream, upstream = io.StringIO(), Upstream(*away)
    with logging_restored():
        configure_logging("gateway", "info", stream)
        follower = asyncio.create_task(Releases(None, Store(), upstream, None).follow())  # type: ignore[arg-type]
        await asyncio.wait_for(upstream.open.wait(), 20)
        async with asyncio.timeout(20):
            while "resumed" not in stream.getvalue():
                await asyncio.wait({follower}, timeout=0.01)
        follower.cancel()
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(line["event"], line.get("code")) for line in lines] == [
        ("releases interrupted", "upstream_unreachable"),
        ("releases resumed", None),
    ]
    assert delays[:3] == [FIRST_DELAY, 2 * FIRST_DELAY, 4 * FIRST_DELAY]
    assert max(delays) == MAX_DELAY
