"""Find and remove every trace of some bytes in a store (DESIGN 10.3): keys named by them, values that hold them.

It reads the whole store: erasure is rare, and complete matters more than quick. The stream of events is left to the
evidence writer, which takes them out encrypted.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from redis.asyncio import Redis

from proxid.store.connection import store_errors

_COUNT: Final = 500


async def sweep(client: Redis, prefix: str, needles: Sequence[bytes], keep: Iterable[str] = ()) -> int:
    """Remove what holds a needle below a prefix; how many keys and elements were removed.

    Args:
        keep: keys left as they are, besides the stream of events. Raises StoreError.
    """
    spared = {key.encode() for key in (*keep, f"{prefix}:events", f"{prefix}:events:n")}
    removed = 0
    with store_errors():
        async for key in client.scan_iter(match=f"{prefix}:*", count=_COUNT):
            if key in spared:
                continue
            if _holds(key, needles):
                removed += await client.delete(key)
            else:
                removed += await _sweep_value(client, key, needles)
    return removed


def _holds(data: Any, needles: Sequence[bytes]) -> bool:
    return isinstance(data, bytes) and any(needle in data for needle in needles)


async def _sweep_value(client: Redis, key: bytes, needles: Sequence[bytes]) -> int:
    name: Any = await client.type(key)
    kind = name.decode()
    remover = _REMOVERS.get(kind)
    return 0 if remover is None else int(await remover(client, key, needles))


async def _string(client: Any, key: bytes, needles: Sequence[bytes]) -> int:
    return int(await client.delete(key)) if _holds(await client.get(key), needles) else 0


async def _hash(client: Any, key: bytes, needles: Sequence[bytes]) -> int:
    found: dict[bytes, bytes] = await client.hgetall(key)
    if any(_holds(value, needles) for value in found.values()):
        # A hash is one thing (a record, a group, a consent): without one of its fields it would be another.
        return int(await client.delete(key))
    gone = [field for field in found if _holds(field, needles)]
    return int(await client.hdel(key, *gone)) if gone else 0


async def _set(client: Any, key: bytes, needles: Sequence[bytes]) -> int:
    gone = [item async for item in client.sscan_iter(key, count=_COUNT) if _holds(item, needles)]
    return int(await client.srem(key, *gone)) if gone else 0


async def _sorted_set(client: Any, key: bytes, needles: Sequence[bytes]) -> int:
    gone = [item for item in await client.zrange(key, 0, -1) if _holds(item, needles)]
    return int(await client.zrem(key, *gone)) if gone else 0


async def _list(client: Any, key: bytes, needles: Sequence[bytes]) -> int:
    return int(await client.delete(key)) if any(_holds(i, needles) for i in await client.lrange(key, 0, -1)) else 0


async def _stream(client: Any, key: bytes, needles: Sequence[bytes]) -> int:
    gone = [at for at, fields in await client.xrange(key) if any(_holds(v, needles) for v in fields.values())]
    return int(await client.xdel(key, *gone)) if gone else 0


_REMOVERS: Final[dict[str, Callable[[Any, bytes, Sequence[bytes]], Any]]] = {
    "string": _string, "hash": _hash, "set": _set, "zset": _sorted_set, "list": _list, "stream": _stream,
}  # fmt: skip
