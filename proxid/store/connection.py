"""Connections to the store, with one error for everything that goes wrong there."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError

from proxid.errors import StoreError

TIMEOUT: Final = 10.0
"""Seconds that the store may take for an answer."""


def connect(url: str, max_connections: int = 32) -> Redis:
    """A client of `redis://`, `rediss://` or `unix://` that returns bytes and retries a lost connection briefly."""
    retry = Retry(ExponentialBackoff(cap=0.2, base=0.01), 3)
    client = Redis.from_url(
        url, decode_responses=False, max_connections=max_connections, retry=retry,
        retry_on_error=[RedisConnectionError], socket_timeout=TIMEOUT, socket_connect_timeout=5,
    )  # fmt: skip
    assert isinstance(client, Redis)
    return client


@contextmanager
def store_errors() -> Iterator[None]:
    """Turn the client's errors into StoreError; their texts, which may quote arguments, are dropped."""
    try:
        yield
    except (RedisError, OSError, TimeoutError) as error:
        raise StoreError(f"store failed ({type(error).__name__})") from None
