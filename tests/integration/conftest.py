"""A real store for each test, Valkey or Redis on a Unix socket in its folder; an auditor's desk."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from redis.asyncio import Redis

from proxid.runtime.store import connect
from proxid.runtime.store.embedded import EmbeddedStore
from tests.support.desk import Desk, two_trials


@pytest.fixture
def store_url(tmp_path: Path) -> Iterator[str]:
    """URL of an empty store."""
    with EmbeddedStore(tmp_path / "store", appendfsync="always") as store:
        yield store.url


@pytest.fixture
async def client(store_url: str) -> AsyncIterator[Redis]:
    """A client of an empty store."""
    client = connect(store_url)
    yield client
    await client.aclose()


@pytest.fixture(scope="session")
def trials(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two trials that ran for an evening; their tests copy what they change."""
    return two_trials(tmp_path_factory.mktemp("here"), tmp_path_factory.mktemp("there"))


@pytest.fixture
def desk(tmp_path: Path, trials: dict[str, Path], capfd: pytest.CaptureFixture[str]) -> Desk:
    """An auditor's desk."""
    return Desk(tmp_path, trials, capfd)
