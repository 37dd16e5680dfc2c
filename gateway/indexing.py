"""A store from before people had indexes gets them by one sweep when the service starts (`lua/common.lua`).

It goes by user tags and by what is decoded whole (a link's fields, an answer's user block), never by whether some value
contains a name. Each thing is entered as often as the sweep comes by; a sweep that a crash ended begins anew.
"""

import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Final

from redis.asyncio import Redis

from gateway.identity import Screener
from gateway.names import name_forms
from gateway.store.steps import PREFIX
from proxid.crypto.sansig import SignedMessage
from proxid.encoding import decode, decode_text
from proxid.errors import ProxidError
from proxid.evidence.events import SanitizedPair
from proxid.runtime.store.scan import key_batches, read_all

_DONE: Final = f"{PREFIX}:indexed"
Command = tuple[Any, ...]
Held = defaultdict[str, Counter[str]]
"""User tag → PARTY|NAME → acknowledged records."""


async def index_people(client: Redis, screener: Screener) -> None:
    """Give people their indexes, unless that was done; raises StoreError."""
    done, counter = await read_all(client, [("GET", _DONE), ("GET", f"{PREFIX}:events:n")])
    if done is None and counter is not None:
        held: Held = defaultdict(Counter)
        async for names in key_batches(client, PREFIX):
            await _index(client, screener, names, held)
        rows = [
            ("HSET", f"{PREFIX}:it:{tag}", *(x for pair in found.items() for x in pair)) for tag, found in held.items()
        ]
        await read_all(client, rows)
    if done is None:
        await read_all(client, [("SET", _DONE, "1")])


async def _index(client: Redis, screener: Screener, names: Sequence[bytes], held: Held) -> None:
    groups = [name for name in names if name.startswith(b"g:")]
    answers = [name for name in names if name.startswith(b"a:")]
    links = [name for name in names if name.startswith(b"k:")]
    rows = await read_all(client, [
        *(("HMGET", _key(name), "m", "r", "s", "a") for name in groups),
        *(("GET", _key(name)) for name in answers), *(("TTL", _key(name)) for name in answers),
        *(("HMGET", _key(name), "u", "id") for name in links),
    ])  # fmt: skip
    at, end = len(groups), len(groups) + len(answers)
    writes: list[Command] = [("UNLINK", _key(name)) for name in names if name.startswith(b"alias:")]
    for name, fields in zip(groups, rows[:at], strict=True):
        writes += _group(name, fields, held)
    for name, answer, ttl in zip(answers, rows[at:end], rows[end : end + len(answers)], strict=True):
        writes += _answer(screener, name, answer, ttl)
    await read_all(client, writes)
    await _names(client, screener, rows[end + len(answers) :])


def _key(name: bytes) -> bytes:
    return PREFIX.encode() + b":" + name


def _group(name: bytes, fields: Sequence[bytes | None], held: Held) -> Iterator[Command]:
    members, records, written, acknowledged = fields
    if not members or records is None:
        return
    party, _, cursor = name[2:].decode().rpartition(":")
    people = [decode_text(SanitizedPair.decode(pair).sanitized.message.user_block) for pair in decode(records)]
    yield "HSET", _key(name), "w", json.dumps(people, ensure_ascii=False)
    for tag, published in zip(members.decode().split(","), people, strict=True):
        yield "SADD", f"{PREFIX}:ig:{tag}", f"{party}|{cursor}"
        if b"1" in (written, acknowledged):
            held[tag][f"{party}|{published}"] += acknowledged == b"1"


def _answer(screener: Screener, name: bytes, answer: bytes | None, ttl: int) -> Iterator[Command]:
    if answer is None or ttl < 0:
        return
    try:
        user_id = decode_text(SignedMessage.decode(answer).message.user_block)
    except ProxidError:
        return
    yield "ZADD", f"{PREFIX}:i:{screener.user_tag(user_id)}", int(time.time()) + ttl + 1, name


async def _names(client: Redis, screener: Screener, links: Sequence[Sequence[bytes | None]]) -> None:
    """Names that exist stay valid: of two that look alike the one met first keeps others away."""
    claims = [
        (form, user.decode())
        for user, user_id in links if user and user_id
        for form in name_forms(screener.secret, user_id.decode())
    ]  # fmt: skip
    taken = await read_all(client, [("SET", f"{PREFIX}:nm:{form}", user, "NX") for form, user in claims])
    await read_all(client, [
        ("ZADD", f"{PREFIX}:i:{user}", "+inf", f"nm:{form}")
        for (form, user), new in zip(claims, taken, strict=True) if new
    ])  # fmt: skip
