"""A store from before PROX_IDs had indexes gets them by one sweep when the service starts (`lua/requests.lua`).

What was found by looking through everybody's sets (texts that entered, units counted, slots taken) moves into a set a
person. Each thing is moved as often as the sweep comes by; a sweep that a crash ended begins anew.
"""

import time
from collections.abc import Iterator, Sequence
from typing import Any, Final

from redis.asyncio import Redis

from main_service.store.library import PREFIX
from main_service.store.pool import UNIT_SIZE
from proxid.crypto.identity import Credential
from proxid.crypto.sansig import SignedMessage
from proxid.crypto.sansig.limits import PROX_ID_LENGTH
from proxid.encoding import decode
from proxid.errors import ProxidError
from proxid.runtime.store.scan import key_batches, read_all

_DONE: Final = f"{PREFIX}:indexed"
_KEPT: Final = 3 * 86_400
Command = tuple[Any, ...]


async def index_people(client: Redis) -> None:
    """Give PROX_IDs their indexes, unless that was done; raises StoreError."""
    done, counter = await read_all(client, [("GET", _DONE), ("GET", f"{PREFIX}:events:n")])
    if done is None and counter is not None:
        async for names in key_batches(client, PREFIX):
            await _index(client, names)
    if done is None:
        await read_all(client, [("SET", _DONE, "1")])


async def _index(client: Redis, names: Sequence[bytes]) -> None:
    values = [name for name in names if name[:2] in (b"q:", b"a:")]
    waiting = [name for name in names if name[:2] == b"w:"]
    shared = [name for name in names if _of_all(name)]
    rows = await read_all(client, [
        *(("GET", _key(name)) for name in values), *(("HGET", _key(name), "p") for name in waiting),
        *(("SMEMBERS", _key(name)) for name in shared),
    ])  # fmt: skip
    writes: list[Command] = []
    for name, value in zip(values + waiting, rows, strict=False):
        writes += _entered(name, value)
    for name, members in zip(shared, rows[len(values) + len(waiting) :], strict=True):
        writes += _shared(name, members)
    await read_all(client, writes)


def _key(name: bytes) -> bytes:
    return PREFIX.encode() + b":" + name


def _kind(name: bytes) -> bytes:
    parts = name.split(b":")
    if parts[0] == b"pool" and len(parts) > 3:
        return parts[2]
    return parts[3] if parts[0] == b"slots" and len(parts) == 4 else b""


def _of_all(name: bytes) -> bool:
    """Whether a set holds things of many people: those of one end with the PROX_ID."""
    last = name.rpartition(b":")[2]
    own = last.startswith(b"px1") and len(last) == PROX_ID_LENGTH
    return _kind(name) in (b"in", b"by", b"taken") and not own


def _entered(name: bytes, value: bytes | None) -> Iterator[Command]:
    try:
        prox = _prox_of(name[:1], value or b"")
    except ProxidError:
        return
    index = f"{PREFIX}:i:{prox}"
    yield "ZADD", index, int(time.time()) + _KEPT, name
    yield "EXPIRE", index, 2 * _KEPT


def _prox_of(kind: bytes, value: bytes) -> str:
    if kind == b"q":
        return Credential.decode(value).prox_id
    if kind == b"a":
        return SignedMessage.decode(value).message.user_block.decode("utf-8", "replace")
    return decode(value, 4)[1].decode("utf-8", "replace")


def _shared(name: bytes, members: Sequence[bytes]) -> Iterator[Command]:
    kind, key = _kind(name), _key(name)
    for member in members:
        if kind == b"by":
            unit, person = member[:UNIT_SIZE], member[UNIT_SIZE:]
        else:
            person, _, unit = member.partition(b"|")
        yield "SADD", key + b":" + person, unit
        if kind == b"taken":
            yield "SADD", key.removesuffix(b"taken") + b"who", person
    yield "UNLINK", key
