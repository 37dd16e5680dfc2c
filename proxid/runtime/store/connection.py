"""Connections to the store, with one error for everything that goes wrong there."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError, ResponseError

from proxid.errors import ConfigError, StoreError

MIN_VERSION: Final = (7, 2)
"""Of the server, as its append-only file is expected."""
_SCHEMES: Final = {"valkey": "redis", "valkeys": "rediss"}
"""As the client knows them."""
_LAST_PORT: Final = 65_535
TIMEOUT: Final = 10.0
"""Seconds that the store may take for an answer."""


def connect(url: str, max_connections: int = 32) -> Redis:
    """A client of a `store_url` that returns bytes and retries a lost connection briefly; raises ConfigError.

    A store that gives no answer in time is not asked again: its callers would have gone by then.
    """
    retry = Retry(ExponentialBackoff(cap=0.2, base=0.01), 3, supported_errors=(RedisConnectionError,))
    scheme, _, rest = url.partition("://")
    try:
        client = Redis.from_url(
            f"{_SCHEMES.get(scheme, scheme)}://{rest}", decode_responses=False, max_connections=max_connections,
            retry=retry, socket_timeout=TIMEOUT, socket_connect_timeout=5,
        )  # fmt: skip
        made = client.connection_pool.make_connection()  # which looks at what the URL says behind `?`
    except (ValueError, TypeError, AttributeError):
        raise ConfigError("store_url: is no URL of a store, or has an option that no store takes") from None
    if getattr(made, "port", 0) > _LAST_PORT:
        raise ConfigError("store_url: a port is 65535 at most")
    return client


def shown_url(url: str) -> str:
    """A `store_url` as a message may show it: without what may be a password."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2].partition('?')[0]}"


async def verify_server(client: Redis) -> None:
    """That a store is one that proxid can rely on.

    Raises:
        ConfigError: it is too old, or keeps nothing on disk. StoreError: it is away.
    """
    with store_errors():
        about: Any = await client.info("server")
        kept: Any = await client.info("persistence")
    version = str(about.get("redis_version", "0"))
    # Valkey states the version of Redis that it behaves as.
    if tuple(int(part) for part in re.findall(r"\d+", version)[:2]) < MIN_VERSION:
        raise ConfigError(f"store_url: the server is of version {version}; Valkey or Redis 7.2 or later is needed")
    if not kept.get("aof_enabled"):
        raise ConfigError("store_url: the server keeps no append-only file; it needs `appendonly yes`")
    with store_errors():
        try:
            said: Any = await client.config_get("*append*")
        except ResponseError:
            raise ConfigError("store_url: the server has to allow CONFIG GET, and CONFIG SET of appendfsync") from None
    if said.get("appendfsync") == "no":
        raise ConfigError("store_url: the server never syncs its file; it needs `appendfsync everysec` or `always`")
    if said.get("no-appendfsync-on-rewrite") == "yes":
        raise ConfigError("store_url: the server needs `no-appendfsync-on-rewrite no`")


async def verify_writable(client: Redis, prefix: str) -> None:
    """That a store takes what is written: one that is full, or follows another, is still read; raises StoreError."""
    with store_errors():
        await client.set(f"{prefix}:written", b"", px=1)


@contextmanager
def store_errors() -> Iterator[None]:
    """Turn the client's errors into StoreError; their texts, which may quote arguments, are dropped."""
    try:
        yield
    except (RedisError, OSError, TimeoutError) as error:
        raise StoreError(f"store failed ({type(error).__name__})") from None
