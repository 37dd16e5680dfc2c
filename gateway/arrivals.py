"""Whether a party's feed has something new is looked at once for all streams of a process that wait for it.

A stream that waits costs nothing itself: it is woken when what was found last is not what it has seen.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, Generic, TypeVar

PAUSE: Final = 0.1
State = TypeVar("State")


class Arrivals(Generic[State]):
    """Wakes the streams of parties.

    Args:
        look: what there is for a party: equal as long as nothing new is. Called each tenth of a second while any stream
            of the party waits; what it raises, all of these get.
    """

    def __init__(self, look: Callable[[str], Awaitable[State]]) -> None:
        self._look = look
        self._waiting: dict[str, dict[asyncio.Future[State], State | None]] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def after(self, party: str, seen: State | None) -> State:
        """What there is, once that is not what was seen; with None, what there is now."""
        future: asyncio.Future[State] = asyncio.get_running_loop().create_future()
        waiting = self._waiting.setdefault(party, {})
        waiting[future] = seen
        if party not in self._tasks:
            self._tasks[party] = asyncio.create_task(self._watch(party, waiting))
        try:
            return await future
        finally:
            del waiting[future]

    async def _watch(self, party: str, waiting: dict[asyncio.Future[State], State | None]) -> None:
        try:
            while waiting:
                await self._wake(party, waiting)
                await asyncio.sleep(PAUSE)
        finally:
            del self._tasks[party]

    async def _wake(self, party: str, waiting: dict[asyncio.Future[State], State | None]) -> None:
        try:
            found = await self._look(party)
        except Exception as error:  # whoever waits must hear of it, whatever it is
            for future in waiting:
                if not future.done():
                    future.set_exception(error)
            return
        for future, seen in waiting.items():
            if found != seen and not future.done():
                future.set_result(found)
