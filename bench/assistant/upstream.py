"""A server that speaks chat completions and counts who asks what, from which process."""

import asyncio
import json
import os
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path


class CountingUpstream:
    """Answers after `delay` seconds; waits for nobody who hangs up.

    Attributes:
        calls: by question how often it was asked. ports: of the connections of each question.
    """

    def __init__(self) -> None:
        self.delay = 0.0
        self.calls: Counter[str] = Counter()
        self.ports: dict[str, int] = {}
        self.url = ""

    @asynccontextmanager
    async def running(self) -> AsyncIterator["CountingUpstream"]:
        """Serve within the block."""
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        try:
            yield self
        finally:
            server.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("ascii").lower()
                size = int(head.partition("content-length:")[2].partition("\r\n")[0])
                question = json.loads(await reader.readexactly(size))["messages"][-1]["content"]
                self.calls[question] += 1
                self.ports[question] = writer.get_extra_info("peername")[1]
                await asyncio.sleep(self.delay)
                said = json.dumps({"choices": [{"message": {"role": "assistant", "content": "So it is."}}]}).encode()
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(said) + said)
                await writer.drain()
        writer.close()


def owner(port: int, processes: Iterable[int]) -> int | None:
    """The process, of some of this machine's, that has a TCP connection from a port."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]]
    sockets = {f"socket:[{row[9]}]" for row in rows if int(row[1].partition(":")[2], 16) == port}
    for process in processes:
        with suppress(OSError):
            for file in Path(f"/proc/{process}/fd").iterdir():
                with suppress(OSError):
                    if os.readlink(file) in sockets:
                        return process
    return None
