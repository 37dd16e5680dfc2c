"""What a store has to hold after an erasure, worked out from what it held before and from what is the person's alone.

Whose a thing is, is told by random values: tags, PROX_IDs, keys, sessions. Names prove nothing, and the indexes that
the services keep are what is tested.
"""

from collections.abc import Collection
from typing import Any

from redis.asyncio import Redis

Snapshot = dict[bytes, Any]

_SAID = (b"events", b"x", b"rq", b"y", b"j", b"jobs", b"nt", b"no", b"withheld")
"""What tells of erasures: events, tombstones, where requests stand in the log, jobs, notices, counts."""
_ENDING = (b"r", b"heard")
"""What goes, or is renewed, by itself while a test looks."""
_FEEDS = (b"f", b"o", b"end")


async def snapshot(client: Redis) -> Snapshot:
    """Every key with its value."""
    found: Snapshot = {}
    readers: dict[bytes, Any] = {
        b"string": client.get, b"hash": client.hgetall, b"set": client.smembers,
        b"zset": lambda key: client.zrange(key, 0, -1), b"list": lambda key: client.lrange(key, 0, -1),
        b"stream": client.xrange,
    }  # fmt: skip
    async for key in client.scan_iter(count=1000):
        kind = await client.type(key)
        if kind != b"none":  # it has ended since
            found[key] = await readers[kind](key)
    return found


def touches(value: Any, marks: Collection[bytes]) -> bool:
    """Whether one of a person's marks stands anywhere in a value."""
    if isinstance(value, bytes):
        return any(mark in value for mark in marks)
    items = [part for pair in value.items() for part in pair] if isinstance(value, dict) else value
    return not isinstance(value, int | float) and any(touches(item, marks) for item in items)


def others(store: Snapshot) -> Snapshot:
    """A store without what tells of erasures, and without what goes by itself."""
    kept = {key: _settled(key, value) for key, value in store.items() if _kind(key) not in (*_SAID, *_ENDING)}
    return {key: value for key, value in kept.items() if value}


def _settled(key: bytes, value: Any) -> Any:
    """A value without what changes by itself: until when slots are closed and how often they changed."""
    passing = {b"{ms}:slots:": (b"revision", b"horizon")}
    for prefix, fields in passing.items():
        if key.startswith(prefix) and isinstance(value, dict):
            return {name: item for name, item in value.items() if name not in fields}
    return value


def groups_with(store: Snapshot, marks: Collection[bytes]) -> set[tuple[bytes, bytes]]:
    """Party and cursor of the groups in feeds that hold a person."""
    return {
        tuple(key.split(b":", 2)[2].rsplit(b":", 1))
        for key, value in store.items() if _kind(key) == b"g" and touches(value.get(b"m", b""), marks)
    }  # type: ignore[misc] # fmt: skip


def without(store: Snapshot, marks: Collection[bytes]) -> Snapshot:
    """What `others` must be once a person is erased, with the groups in feeds that hold the person.

    The others of a group that was sent and not acknowledged are possibly held.
    """
    groups, expected = groups_with(store, marks), {}
    gone = {b"{gw}:g:" + party + b":" + cursor for party, cursor in groups}
    for key, value in others(store).items():
        if key in gone or touches(key, marks):
            continue
        left = value if _stays(key) else _left(value, marks, _names(key, groups))
        if left or isinstance(left, bytes):
            expected[key] = left
    for user, name in _possibly_held(store, groups, marks):
        held = expected.get(b"{gw}:ps:" + user, {})
        expected[b"{gw}:ps:" + user] = {**held, name: b"%d" % (int(held.get(name, 0)) + 1)}
    return expected


def _possibly_held(
    store: Snapshot, groups: Collection[tuple[bytes, bytes]], marks: Collection[bytes]
) -> list[tuple[bytes, bytes]]:
    """User tag of each other member, and how the group is remembered, of groups that go after they were sent."""
    found = []
    for party, cursor in groups:
        fields = store[b"{gw}:g:" + party + b":" + cursor]
        if (fields.get(b"z"), fields[b"a"]) == (b"1", b"0"):
            name = b"|".join((party, fields[b"e"], fields[b"n"], fields[b"k"]))
            found += [(user, name) for user in fields[b"m"].split(b",") if not touches(user, marks)]
    return found


def _kind(key: bytes) -> bytes:
    return key.split(b":")[1]


def _stays(key: bytes) -> bool:
    """Ids that came before, so that none comes twice; they are nobody's."""
    return key.startswith(b"{ms}:pool:") and key.endswith(b":ids")


def _names(key: bytes, groups: Collection[tuple[bytes, bytes]]) -> set[bytes]:
    """What the groups that go are called in a collection."""
    if _kind(key) == b"ig":
        return {b"|".join(group) for group in groups}
    return {cursor for party, cursor in groups if _kind(key) in _FEEDS and key.split(b":", 2)[2] == party}


def _left(value: Any, marks: Collection[bytes], gone: Collection[bytes]) -> Any:
    if isinstance(value, bytes):
        return None if touches(value, marks) else value
    if isinstance(value, dict):
        return {field: item for field, item in value.items() if not touches((field, item), marks)}
    kept = [item for item in value if not (isinstance(item, bytes) and item in gone) and not touches(item, marks)]
    return type(value)(kept)
