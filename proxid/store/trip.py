"""Many commands in one round trip, cheaper than redis-py's own pipeline: they are packed by hiredis, and one time limit
holds for all answers instead of one for each.
"""

import asyncio
import math
from collections.abc import Callable, Sequence
from typing import Any, cast

import hiredis
from redis.asyncio import Redis
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ResponseError

from proxid.store.connection import TIMEOUT

Argument = bytes | str | int | float
Command = tuple[Argument, ...]

_pack: Callable[[Command], bytes] = cast(Any, hiredis).pack_command  # its types know tuples of one item alone


async def round_trip(client: Redis, commands: Sequence[Command]) -> list[Any]:
    """The answers of commands, in order; a ResponseError among them is given back, not raised.

    A lost connection is found again, and everything sent once more, as the client's retry rule says.

    Raises:
        RedisError, OSError, TimeoutError: the store is away, or does not answer in time.
    """
    packed = b"".join([_pack(command) for command in commands])
    pool = client.connection_pool
    connection = await pool.get_connection()

    async def exchange() -> list[Any]:
        await connection.send_packed_command(packed, check_health=False)
        async with asyncio.timeout(TIMEOUT):
            return [await _answer(connection) for _ in commands]

    async def lost(_: Exception) -> None:
        await connection.disconnect()

    try:
        return list(await connection.retry.call_with_retry(exchange, lost))
    finally:
        # One that was broken off has been disconnected: whoever uses it next does not get answers still under way.
        await pool.release(connection)


async def _answer(connection: AbstractConnection) -> Any:
    try:
        return await connection.read_response(timeout=math.inf)
    except ResponseError as error:
        return error
