"""The Wyoming door: Home Assistant's own integration speaks it, and others (DESIGN 5.6).

A transcript is answered by `handled`; what the home does itself by `not-handled`, so that it acts. The protocol has no
person and no password: a door is one person's, and listens on this machine unless told otherwise.
"""

import asyncio
from functools import partial
from typing import Any, Final

from wyoming.asr import Transcript
from wyoming.event import Event
from wyoming.handle import Handled, NotHandled
from wyoming.info import Attribution, Describe, HandleModel, HandleProgram, Info
from wyoming.server import AsyncEventHandler, AsyncServer

from proxid import __version__
from proxid.clients.agent.asking import Asking
from proxid.clients.household.doors import WyomingDoor
from proxid.runtime.observability.metrics import AGENT_DROPPED

_MAKER: Final = Attribution(name="proxid", url="")


class _Door(AsyncEventHandler):
    def __init__(self, asking: Asking, user: str, languages: list[str], *connection: object) -> None:
        super().__init__(*connection)  # type: ignore[arg-type]
        self._asking, self._user, self._languages = asking, user, languages

    async def handle_event(self, event: Event) -> bool:
        if Describe.is_type(event.type):
            await self.write_event(_info(self._languages).event())
        elif Transcript.is_type(event.type):
            heard = Transcript.from_event(event)
            AGENT_DROPPED.labels("context").inc(len(heard.context or ()))
            said = await self._asking.ask(self._user, heard.text)
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


async def serve(door: WyomingDoor, asking: Asking, languages: list[str]) -> None:
    """Listen until cancelled; raises OSError where that is not possible."""
    server = AsyncServer.from_uri(door.uri)
    # Not `run`: it takes SIGTERM away from the agent, whose other doors would stay open.
    await server.start(partial(_Door, asking, door.user, languages))
    try:
        await asyncio.get_running_loop().create_future()
    finally:
        await server.stop()
