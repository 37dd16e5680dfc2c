"""The gateway's following of releases while the main service is away: patient, and quiet (DESIGN 12)."""

import asyncio
import io
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway import releases
from gateway.releases import FIRST_DELAY, MAX_DELAY, Releases
from gateway.upstream import ReleasedGroup
from proxid.errors import ConfigError, PolicyError, ProxidError, StoreError, UpstreamError, UpstreamRefusedError
from proxid.runtime.observability.logging import configure_logging
from tests.support.logs import logging_restored


class Store:
    def __init__(self) -> None:
        self.dropped: list[str] = []

    async def released_cursor(self) -> int:
        return 0

    async def people(self, prox_ids: list[str]) -> list[Any]:
        return []

    async def append(self, *_: Any, reason: str) -> str:
        self.dropped.append(reason)
        return "DROPPED"


class Epochs:
    """Their document is not here for the first so many times that it is asked for; then it lists nobody."""

    parties: frozenset[str] = frozenset()

    def __init__(self, *failures: ProxidError) -> None:
        self._failures = list(failures)

    async def latest(self) -> Any:
        if self._failures:
            raise self._failures.pop(0)
        return self


class Documents:
    """A current epoch that says nothing, and one of before whose document is not here."""

    def __init__(self, failure: ProxidError) -> None:
        self._failure = failure

    async def latest(self) -> None:
        return None

    async def terms(self, epoch: int) -> Any:
        raise self._failure


class Upstream:
    """Fails so many times, then gives what it has and stays open."""

    def __init__(self, *failures: ProxidError, groups: tuple[ReleasedGroup, ...] = (), connected: bool = True) -> None:
        self._failures = list(failures)
        self.connected = connected
        self._groups = groups
        self.open = asyncio.Event()

    async def releases(self, after: int) -> AsyncIterator[Any]:
        if self._failures:
            raise self._failures.pop(0)
        for group in self._groups:
            yield group
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


async def test_an_attempt_to_reach_nobody_is_no_line_however_long_it_lasts(delays: list[float]) -> None:
    stream, upstream = io.StringIO(), Upstream(UpstreamError("away"), connected=False)
    with logging_restored():
        configure_logging("gateway", "info", stream)
        follower = asyncio.create_task(Releases(None, Store(), upstream, None).follow())  # type: ignore[arg-type]
        await asyncio.wait_for(upstream.open.wait(), 20)
        await asyncio.wait({follower}, timeout=4 * releases.STEADY_SECONDS)
        follower.cancel()
    assert [json.loads(line)["event"] for line in stream.getvalue().splitlines()] == ["releases interrupted"]


GROUP = ReleasedGroup(1, "acme", 20_000, 0, ())
GONE = (PolicyError("not here"), ConfigError("damaged"))


@pytest.mark.parametrize("failure", GONE)
async def test_what_cannot_be_judged_without_its_document_is_not_dropped(failure: ProxidError) -> None:
    store = Store()
    with pytest.raises(type(failure)):
        await Releases(None, store, None, Documents(failure)).handle(GROUP)  # type: ignore[arg-type]
    assert not store.dropped


async def test_releases_wait_until_the_document_is_back(delays: list[float]) -> None:
    store, upstream = Store(), Upstream(groups=(GROUP,))
    with logging_restored():
        configure_logging("gateway", "info", io.StringIO())
        follower = asyncio.create_task(Releases(None, store, upstream, Epochs(*GONE)).follow())  # type: ignore[arg-type]
        opened = asyncio.create_task(upstream.open.wait())
        done, _ = await asyncio.wait({follower, opened}, timeout=20, return_when=asyncio.FIRST_COMPLETED)
        for task in (follower, opened):
            task.cancel()
    assert done == {opened}
    assert store.dropped == ["party_left"]
