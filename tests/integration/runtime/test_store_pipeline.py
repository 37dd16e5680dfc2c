"""Round trips to a real store: answers in order, and never those of an exchange that was broken off."""

import asyncio

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from proxid.errors import StoreError
from proxid.runtime.store.connection import connect, store_errors
from proxid.runtime.store.pipeline import Command, PipelinedConnection

LONG: Command = ("EVAL", "redis.call('INCR', KEYS[1]) for i = 1, 1e8 do end", 1, "asked")
SLOW: list[Command] = [("BLPOP", "nothing", 1), ("ECHO", "late")]


async def test_answers_come_in_order_and_an_error_is_one_of_them(client: Redis) -> None:
    first, wrong, last = await PipelinedConnection(client).execute(
        [("SET", "a", b"\x00\xff"), ("LPUSH", "a", 1), ("GET", "a")]
    )
    assert (first, last) == (b"OK", b"\x00\xff") and isinstance(wrong, ResponseError)


async def test_nobody_gets_the_answers_of_a_trip_that_was_cancelled(client: Redis) -> None:
    connection = PipelinedConnection(client)
    call = asyncio.create_task(connection.execute(SLOW))
    while not (await client.info("clients"))["blocked_clients"]:  # noqa: ASYNC110 - nothing signals it
        await asyncio.sleep(0.01)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    for number in range(3):
        assert await connection.execute([("ECHO", str(number))]) == [str(number).encode()]


async def test_a_store_that_takes_too_long_is_given_up(client: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proxid.runtime.store.pipeline.TIMEOUT", 0.1)
    connection = PipelinedConnection(client)
    with pytest.raises((RedisError, OSError)):
        await connection.execute(SLOW)
    monkeypatch.undo()
    assert await connection.execute([("ECHO", "next")]) == [b"next"]


async def test_a_store_that_takes_too_long_is_not_asked_again(
    client: Redis, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever waits for it has the time for one answer; what it hears once it is awake it would do four times."""
    for limit in ("connection", "pipeline"):
        monkeypatch.setattr(f"proxid.runtime.store.{limit}.TIMEOUT", 0.1)
    patient = connect(store_url)
    for number, ask in enumerate(
        (lambda: patient.execute_command(*LONG), lambda: PipelinedConnection(patient).execute([LONG])), 1
    ):
        with pytest.raises(StoreError), store_errors():
            await ask()
        assert await client.get("asked") == b"%d" % number
    await patient.aclose()


async def test_trips_at_once_do_not_get_each_others_answers(client: Redis) -> None:
    connection = PipelinedConnection(client)
    found = await asyncio.gather(*(connection.execute([("ECHO", str(n)), ("ECHO", str(-n))]) for n in range(1, 9)))
    assert found == [[str(n).encode(), str(-n).encode()] for n in range(1, 9)]


async def test_a_connection_that_the_store_closed_is_found_again(client: Redis) -> None:
    connection = PipelinedConnection(client)
    (mine,) = await connection.execute([("CLIENT", "ID")])
    assert await client.client_kill_filter(_id=mine) == 1
    (other,) = await connection.execute([("CLIENT", "ID")])
    assert other != mine
