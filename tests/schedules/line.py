"""A proxy on one line between two parties, over TCP or a Unix socket, that can be made a bad line at any moment."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import Final

_CHUNK: Final = 65_536
_UNIX: Final = "unix://"


class Fault(StrEnum):
    """What a line may do.

    DELAY: each piece takes a while. STALL: nothing passes, and all of it later. DROP: what is sent is lost, and the
    connection with it later. REFUSE: every connection ends, and new ones at once. CUT: every connection ends, new ones
    work. HALF_CLOSE: one direction of every connection ends.
    """

    DELAY = "delay"
    STALL = "stall"
    DROP = "drop"
    REFUSE = "refuse"
    CUT = "cut"
    HALF_CLOSE = "half_close"


AT_ONCE: Final = frozenset({Fault.CUT, Fault.HALF_CLOSE})
"""Over when they have happened."""


class _Connection:
    def __init__(self, near: asyncio.StreamWriter, far: asyncio.StreamWriter) -> None:
        self.ways = (near, far)
        self.lossy = False

    def abort(self) -> None:
        for way in self.ways:
            way.transport.abort()


class Line:
    """See the module.

    Args:
        target: HOST:PORT or `unix://PATH` of the server, which may come and go. own: path of the proxy's own Unix
            socket; a free port if None.
    """

    def __init__(self, target: str, own: Path | None = None) -> None:
        self._target, self._own = target, own
        self.address = "" if own is None else f"{_UNIX}{own}"
        self.fault: Fault | None = None
        self._seconds = 0.0
        self._open: set[_Connection] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._passes = asyncio.Event()

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Line"]:
        """Carry connections until the block ends."""
        self._passes.set()
        if self._own is None:
            server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
            self.address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        else:
            server = await asyncio.start_unix_server(self._connected, self._own)
        try:
            yield self
        finally:
            server.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def strike(self, fault: Fault, seconds: float = 0.0, way: int = 0) -> None:
        """Become a bad line.

        Args:
            seconds: of a delay. way: which direction is half closed: 1 towards the server, 0 from it.
        """
        self.heal()
        if fault is Fault.HALF_CLOSE:
            for connection in self._open:
                with suppress(OSError, RuntimeError):
                    connection.ways[way].write_eof()
            return
        if fault in {Fault.CUT, Fault.REFUSE}:
            for connection in self._open:
                connection.abort()
        if fault is Fault.CUT:
            return
        if fault is Fault.STALL:
            self._passes.clear()
        self.fault, self._seconds = fault, seconds

    def heal(self) -> None:
        """Be a good line again; a connection that has lost something ends."""
        self.fault = None
        self._passes.set()
        for connection in self._open:
            if connection.lossy:
                connection.abort()

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.fault is Fault.REFUSE:
            writer.transport.abort()
            return
        task = asyncio.ensure_future(self._carry(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._passes.wait()
            far_reader, far_writer = await self._reach()
        except OSError:
            writer.transport.abort()
            return
        connection = _Connection(writer, far_writer)
        self._open.add(connection)
        try:
            pumps = (self._pump(connection, reader, far_writer), self._pump(connection, far_reader, writer))
            await asyncio.gather(*pumps)
        finally:
            self._open.discard(connection)
            connection.abort()

    async def _reach(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._target.startswith(_UNIX):
            return await asyncio.open_unix_connection(self._target.removeprefix(_UNIX))
        host, _, port = self._target.rpartition(":")
        return await asyncio.open_connection(host, int(port))

    async def _pump(self, connection: _Connection, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(_CHUNK):
                if self.fault is Fault.DELAY:
                    await asyncio.sleep(self._seconds)
                await self._passes.wait()
                if self.fault is Fault.DROP:
                    connection.lossy = True
                    continue
                sink.write(data)
                await sink.drain()
            sink.write_eof()
        except (OSError, RuntimeError):
            connection.abort()
