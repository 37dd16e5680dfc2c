"""A real store for each test: Valkey or Redis on a Unix socket in the test's folder."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from redis.asyncio import Redis

from proxid.store import connect
from proxid.store.embedded import EmbeddedStore


@pytest.fixture
def store_url(tmp_path: Path) -> Iterator[str]:
    """URL of an empty store."""
    with EmbeddedStore(tmp_path / "store", appendfsync="everysec") as store:
        yield store.url


@pytest.fixture
async def client(store_url: str) -> AsyncIterator[Redis]:
    """A client of an empty store."""
    client = connect(store_url)
    yield client
    await client.aclose()
