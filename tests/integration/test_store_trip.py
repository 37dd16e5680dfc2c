"""Round trips to a real store: answers in order, and never those of a trip that was broken off."""

import asyncio

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from proxid.store.trip import Command, round_trip

SLOW: list[Command] = [("BLPOP", "nothing", 1), ("ECHO", "late")]


async def test_answers_come_in_order_and_an_error_is_one_of_them(client: Redis) -> None:
    first, wrong, last = await round_trip(client, [("SET", "a", b"\x00\xff"), ("LPUSH", "a", 1), ("GET", "a")])
    assert (first, last) == (b"OK", b"\x00\xff") and isinstance(wrong, ResponseError)


async def test_nobody_gets_the_answers_of_a_trip_that_was_cancelled(client: Redis) -> None:
    trip = asyncio.create_task(round_trip(client, SLOW))
    while not (await client.info("clients"))["blocked_clients"]:  # noqa: ASYNC110 - nothing signals it
        await asyncio.sleep(0.01)
    trip.cancel()
    with pytest.raises(asyncio.CancelledError):
        await trip
    for number in range(3):
        assert await round_trip(client, [("ECHO", str(number))]) == [str(number).encode()]


async def test_a_store_that_takes_too_long_is_given_up(client: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proxid.store.trip.TIMEOUT", 0.1)
    with pytest.raises((RedisError, OSError)):
        await round_trip(client, SLOW)
    monkeypatch.undo()
    assert await round_trip(client, [("ECHO", "next")]) == [b"next"]
