"""The Wyoming door: Home Assistant's own integration speaks it, and others (DESIGN 5.6).

A transcript is answered by `handled`; what the home does itself by `not-handled`, so that it acts. The protocol has no
person and no password: a door is one person's, and listens on this machine unless told otherwise.
"""

import asyncio
from contextlib import suppress
from functools import partial
from typing import Any, Final

from wyoming.asr import Transcript
from wyoming.event import Event
from wyoming.handle import Handled, NotHandled
from wyoming.info import Attribution, Describe, HandleModel, HandleProgram, Info
from wyoming.server import AsyncEventHandler, AsyncServer

from proxid import __version__
from proxid.clients.agent.asking import Asking
from proxid.clients.agent.visitors import Visitors
from proxid.clients.household.doors import WyomingDoor
from proxid.errors import MALFORMED
from proxid.runtime.observability.metrics import AGENT_DROPPED

_LARGEST: Final = 1 << 20
"""Bytes of an event's data; what somebody said has a few hundred."""
_MAKER: Final = Attribution(name="proxid", url="")


class _Bounded:
    """A connection's reader that waits for no more bytes than an event may have: the library believes any number."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self.readline, self.feed_eof = reader.readline, reader.feed_eof

    async def readexactly(self, count: int) -> bytes:
        """So many bytes; raises ValueError for too many."""
        if count > _LARGEST:
            raise ValueError
        return await self._reader.readexactly(count)


class _Door(AsyncEventHandler):
    def __init__(
        self,
        asking: Asking,
        user: str,
        languages: list[str],
        visitors: Visitors,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        super().__init__(_Bounded(reader), writer)  # type: ignore[arg-type]
        self._asking, self._user, self._languages = asking, user, languages
        self._visitors, self._is_asked = visitors, False
        visitors.came(writer.transport, lambda: self._is_asked)

    async def run(self) -> None:
        """Until the connection ends, or somebody sends what is no event: the library believes its form, too."""
        try:
            with suppress(EOFError, *MALFORMED):
                await super().run()
        finally:
            self._visitors.went(self.writer.transport)

    async def handle_event(self, event: Event) -> bool:
        if Describe.is_type(event.type):
            await self.write_event(_info(self._languages).event())
        elif Transcript.is_type(event.type):
            heard = Transcript.from_event(event)
            heard.text.encode()  # what is no text of Unicode is nothing that anybody said
            AGENT_DROPPED.labels("context").inc(len(heard.context or ()))
            self._is_asked = True
            said = await self._asking.ask(self._user, heard.text)
            self._is_asked = False
            answer = NotHandled(text=said.text) if said.home else Handled(text=said.text)
            await self.write_event(answer.event())
        return True


def _info(languages: list[str]) -> Info:
    about: dict[str, Any] = {
        "attribution": _MAKER,
        "installed": True,
        "description": "Asks without saying who",
        "version": __version__,
    }
    model = HandleModel(name="proxid", languages=languages, **about)
    return Info(handle=[HandleProgram(name="proxid", models=[model], **about)])


async def serve(door: WyomingDoor, asking: Asking, languages: list[str], visitors: Visitors) -> None:
    """Listen until cancelled; raises OSError where that is not possible."""
    server = AsyncServer.from_uri(door.uri)
    # Not `run`: it takes SIGTERM away from the agent, whose other doors would stay open.
    await server.start(partial(_Door, asking, door.user, languages, visitors))
    try:
        await asyncio.get_running_loop().create_future()
    finally:
        await server.stop()
