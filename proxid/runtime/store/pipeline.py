"""Many commands in one round trip, cheaper than redis-py's own pipeline: they are packed by hiredis, travel on a
connection that is kept, and one time limit holds for everything instead of one for each step.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, cast

import hiredis
from redis.asyncio import Redis
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ResponseError

from proxid.runtime.store.connection import TIMEOUT

Argument = bytes | str | int | float
Command = tuple[Argument, ...]

_pack: Callable[[Command], bytes] = cast(Any, hiredis).pack_command  # its types know tuples of one item alone


class PipelinedConnection:
    """One connection of a client's pool, taken at the first use and closed with the pool.

    Args:
        client: whose connection it is.
    """

    def __init__(self, client: Redis) -> None:
        self._pool = client.connection_pool
        self._connection: AbstractConnection | None = None
        self._free = asyncio.Lock()

    async def execute(self, commands: Sequence[Command]) -> list[Any]:
        """The answers of commands, in order; a ResponseError among them is given back, not raised.

        A lost connection is found again, and everything sent once more, as the client's retry rule says.

        Raises:
            RedisError, OSError, TimeoutError: the store is away, or does not answer in time.
        """
        packed = b"".join([_pack(command) for command in commands])
        async with self._free:
            connection = self._connection or await self._take()

            async def exchange() -> list[Any]:
                async with asyncio.timeout(TIMEOUT):
                    await connection.send_packed_command(packed, check_health=False)
                    return [await _answer(connection) for _ in commands]

            async def lost(_: Exception) -> None:
                await connection.disconnect()

            return list(await connection.retry.call_with_retry(exchange, lost))

    async def _take(self) -> AbstractConnection:
        # Never given back: one that is broken off is disconnected, and connects anew when it is used again.
        connection: AbstractConnection = await self._pool.get_connection()
        connection.socket_timeout = None
        self._connection = connection
        return connection


async def _answer(connection: AbstractConnection) -> Any:
    try:
        return await connection.read_response()
    except ResponseError as error:
        return error
