"""Lua functions as the atomic steps of a service, called through group commits (DESIGN 12).

Calls that arrive while a batch is under way wait for the next one: the server then pays its `fsync` once a batch,
and the client its round trip (`proxid.runtime.store.batching`).
"""

import asyncio
from collections.abc import Sequence
from importlib.resources import files
from typing import Any, Final

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from proxid.errors import LogFullError, StoreError
from proxid.runtime.store.batching import Coalescer
from proxid.runtime.store.connection import store_errors
from proxid.runtime.store.durable import syncs_always, wait_on_disk
from proxid.runtime.store.pipeline import Argument, Command, PipelinedConnection

MAX_BATCH: Final = 256


def named(*rows: Argument, **fields: Argument) -> list[Argument]:
    """Arguments of a step that takes its fields by name, then rows (`named` of `lua/events.lua`)."""
    arguments: list[Argument] = []
    for field in fields.items():
        arguments += field
    if rows:
        arguments += ("", *rows)
    return arguments


def library_source(name: str, sources: Sequence[tuple[str, str]]) -> str:
    """One Lua library of several files, each given as (package, file below `lua/`); events come first."""
    parts = [f"#!lua name={name}"]
    for package, file in sources:
        parts.append(files(package).joinpath("lua", file).read_text("utf-8"))
    return "\n".join(parts)


class FunctionLibrary:
    """The functions of one library on one store; every call is one atomic step.

    Args:
        client: a connection. name: the library's. sources: (package, file) of its Lua parts in order.
        durable: functions whose steps nobody may forget: on disk when a call returns, whatever `appendfsync` is.
        told: functions whose steps somebody else is told of: likewise, but for a store that was set to `always` when
            the library was loaded, which is taken at its word.
    """

    def __init__(
        self, client: Redis, name: str, sources: Sequence[tuple[str, str]], durable: frozenset[str] = frozenset(),
        told: frozenset[str] = frozenset(),
    ) -> None:  # fmt: skip
        self._client = client
        self._pipelined = PipelinedConnection(client)
        self._source = library_source(name, sources)
        self._durable, self._told = durable, told
        self._lazy = True
        """Whether the store may answer before it syncs."""
        # On connections of their own: what need not be on disk does not queue behind what must.
        self._synced: Coalescer[str, None] = Coalescer(self._sync, MAX_BATCH)
        self._steps: Coalescer[Command, Any] = Coalescer(self._execute, MAX_BATCH)

    async def load(self) -> None:
        """Load the library, replacing an older version; raises StoreError."""
        with store_errors():
            await self._client.function_load(self._source, replace=True)
        self._lazy = not await syncs_always(self._client, "{proxid}:synced", 1)

    async def call(self, function: str, keys: Sequence[str], *arguments: Argument) -> Any:
        """Run one function; on disk when it returns, as far as the store's `appendfsync` makes it, or as it must be.

        Raises:
            StoreError: the store is away, full, or the function failed; nothing of the step has happened, or all.
        """
        result = await self._steps.call(("FCALL", function, len(keys), *keys, *arguments))
        if function in self._durable:
            await self._synced.call(keys[0])
        elif function in self._told:
            await self.on_disk(keys)
        return result

    async def on_disk(self, keys: Sequence[str]) -> None:
        """What was read or written is on disk, before somebody else is told of it; raises StoreError."""
        if self._lazy:
            await self._synced.call(keys[0])

    async def _sync(self, prefixes: Sequence[str]) -> list[None]:
        await wait_on_disk(self._client, f"{prefixes[0]}:synced", 1)
        return [None] * len(prefixes)

    async def _execute(self, commands: Sequence[Command]) -> list[Any]:
        try:
            return [_outcome(result) for result in await self._pipeline(commands)]
        except StoreError:
            raise
        except Exception as error:
            raise StoreError(f"store failed ({type(error).__name__})") from None
        except asyncio.CancelledError:
            raise StoreError("store call was cancelled") from None

    async def _pipeline(self, commands: Sequence[Command]) -> list[Any]:
        results = await self._pipelined.execute(commands)
        missing = [i for i, r in enumerate(results) if isinstance(r, ResponseError) and "not found" in str(r)]
        if missing:
            # The store was restarted empty or its functions flushed: load them again, repeat what did not run.
            await self.load()
            again = await self._pipelined.execute([commands[i] for i in missing])
            for i, result in zip(missing, again, strict=True):
                results[i] = result
        return results


def _outcome(result: Any) -> Any:
    """A result as the caller gets it: an error's text may quote arguments, so only its kind is passed on."""
    if not isinstance(result, Exception):
        return result
    kind = str(result).split(" ", 1)[0] if isinstance(result, ResponseError) else type(result).__name__
    if kind == "LOGFULL":
        return LogFullError("the evidence folder cannot be written; nothing is taken until it can")
    known = kind if kind in {"OOM", "READONLY", "LOADING", "MISCONF", "NOSCRIPT"} else type(result).__name__
    return StoreError(f"store refused the step ({known})")
