"""An assistant that spends no time of its own: chat completions over one connection, written by hand."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from proxid.errors import ChildError


@asynccontextmanager
async def assistant(url: str, token: str) -> AsyncIterator[Callable[[str], Awaitable[None]]]:
    """What asks a question at a door and waits for its answer; raises ChildError if it is refused."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)

    async def ask(text: str) -> None:
        body = json.dumps({"model": "proxid", "messages": [{"role": "user", "content": text}]}).encode()
        head = (
            f"POST {parts.path}/chat/completions HTTP/1.1\r\nhost: {parts.netloc}\r\nauthorization: Bearer {token}\r\n"
            f"content-length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode("ascii") + body)
        told = (await reader.readuntil(b"\r\n\r\n")).decode("ascii").lower()
        await reader.readexactly(int(told.partition("content-length:")[2].partition("\r\n")[0]))
        if not told.startswith("http/1.1 200"):
            raise ChildError("the agent refused a question")

    try:
        yield ask
    finally:
        writer.close()
