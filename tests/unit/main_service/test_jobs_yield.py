"""Classification of a batch lets the request path in between slices of it."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from main_service.intake import Anonymiser, Decision, NotLogged, Withheld
from main_service.jobs.classification import Classification


class Requests:
    """A batch of pending requests that are never looked into."""

    async def pending(self, most: int) -> list[Any]:
        return [type("Pending", (), {"session": bytes([i]), "time_ms": 0})() for i in range(min(most, 12))]


class Epochs:
    """All requests are of one epoch."""

    def number(self, now: float) -> int:
        return 0

    async def closing(self, epoch: int) -> object:
        return epoch + 1


class Pool:
    """Takes whatever is withheld."""

    def __init__(self) -> None:
        self.suppressed = 0

    async def suppress(self, session: bytes, reason: str, kind: str, pipeline: str) -> None:
        self.suppressed += 1


class Slow:
    """Notes how often the request path has run at each decision."""

    pipeline = "slow/1"

    def __init__(self) -> None:
        self.served = 0
        self.seen: list[int] = []

    def decide_all(self, asked: list[object]) -> list[Decision]:
        self.seen.append(self.served)
        return [Withheld(NotLogged.REJECTED) for _ in asked]


async def test_the_request_path_runs_between_slices_of_classification(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("main_service.jobs.classification._TOGETHER", 2)
    slow = await logged()
    assert len(slow.seen) == 6
    assert all(later > earlier for earlier, later in zip(slow.seen, slow.seen[1:], strict=False)), slow.seen


async def logged() -> Slow:
    """What decided a batch of 12 while the request path ran whenever it could."""
    slow, pool, nothing = Slow(), Pool(), cast(Any, None)
    stores = cast(Any, (Requests(), pool, nothing, nothing))
    epochs, service = cast(Any, Epochs()), cast(Any, SimpleNamespace(epochs=Epochs()))
    job = Classification(service, stores, epochs, cast(Anonymiser, slow), nothing, asyncio.Event())

    async def request_path() -> None:
        while True:
            slow.served += 1
            await asyncio.sleep(0)

    path = asyncio.create_task(request_path())
    assert await job.batch() == 12
    path.cancel()
    assert pool.suppressed == 12
    return slow
