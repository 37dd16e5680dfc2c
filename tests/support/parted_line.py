"""A TCP line that can be parted: between devices and gateway, say, without either of them ending."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

_CHUNK: Final = 65_536
WAYS: Final = ("cut", "silent", "there", "back")
"""How it is parted: connections end and none begins; nothing passes; nothing passes on the way there, or back."""


class PartedLine:
    """A proxy before one server; what was under way while it was silent arrives when it is whole again.

    Args:
        target: HOST:PORT of the server, which need not run yet.
    """

    def __init__(self, target: str) -> None:
        host, _, port = target.rpartition(":")
        self._host, self._port = host, int(port)
        self._open = {way: asyncio.Event() for way in ("there", "back")}
        self._cut = False
        self._lines: set[asyncio.Task[None]] = set()
        self.address = ""
        self.mend()

    def part(self, way: str) -> None:
        """One of WAYS."""
        self._cut = way == "cut"
        for direction, event in self._open.items():
            if way in (direction, "silent"):
                event.clear()
        if self._cut:
            self.hang_up()

    def mend(self) -> None:
        """All passes again."""
        self._cut = False
        for event in self._open.values():
            event.set()

    def hang_up(self) -> None:
        """End every connection."""
        for line in list(self._lines):
            line.cancel()

    @asynccontextmanager
    async def running(self, port: int = 0) -> AsyncIterator["PartedLine"]:
        server = await asyncio.start_server(self._connected, "127.0.0.1", port)
        self.address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            server.close()
            self.hang_up()
            await asyncio.gather(*self._lines, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._carry(reader, writer))
        self._lines.add(task)
        task.add_done_callback(self._lines.discard)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ends = [writer]
        try:
            if self._cut:
                return
            far_reader, far_writer = await asyncio.open_connection(self._host, self._port)
            ends.append(far_writer)
            ways = [("there", reader, far_writer), ("back", far_reader, writer)]
            pumps = [asyncio.create_task(self._pump(*way)) for way in ways]
            try:
                await asyncio.wait(pumps)
            finally:
                for pump in pumps:
                    pump.cancel()
        except OSError:
            return  # nobody listens there: the caller sees its connection end
        finally:
            for end in ends:
                with suppress(OSError, RuntimeError):
                    end.transport.abort()

    async def _pump(self, way: str, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await source.read(_CHUNK):
                await self._open[way].wait()
                sink.write(data)
                await sink.drain()
            await self._open[way].wait()
            if sink.can_write_eof():
                sink.write_eof()
