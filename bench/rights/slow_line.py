"""A TCP line that takes its time: what goes in comes out a while later, as over a satellite or a crowded cell."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_CHUNK = 65_536


class SlowLine:
    """A proxy before one server.

    Args:
        target: HOST:PORT of the server. delay: seconds that each byte is under way, in either direction.
    """

    def __init__(self, target: str, delay: float) -> None:
        host, _, port = target.rpartition(":")
        self._host, self._port, self._delay = host, int(port), delay
        self._lines: set[asyncio.Task[None]] = set()
        self.address = ""
        self.opened = 0
        """Connections that were asked for."""

    @asynccontextmanager
    async def running(self) -> AsyncIterator["SlowLine"]:
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            server.close()
            for line in self._lines:
                line.cancel()
            await asyncio.gather(*self._lines, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.opened += 1
        task = asyncio.create_task(self._carry(reader, writer))
        self._lines.add(task)
        task.add_done_callback(self._lines.discard)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # The kernel has answered the caller's SYN already: a line like this one would have taken a round trip.
        await asyncio.sleep(2 * self._delay)
        far_reader, far_writer = await asyncio.open_connection(self._host, self._port)
        await asyncio.gather(self._pump(reader, far_writer), self._pump(far_reader, writer))

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        loop = asyncio.get_running_loop()
        under_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

        async def deliver() -> None:
            while True:
                due, data = await under_way.get()
                await asyncio.sleep(due - loop.time())
                if not data:
                    return
                sink.write(data)

        delivery = asyncio.create_task(deliver())
        try:
            while data := await source.read(_CHUNK):
                under_way.put_nowait((loop.time() + self._delay, data))
            under_way.put_nowait((loop.time() + self._delay, b""))
            await delivery
        except OSError:
            pass
        finally:
            delivery.cancel()
            sink.close()
