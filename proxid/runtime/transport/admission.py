"""Requests wait for a place, or are refused before anybody looks at them (DESIGN 5.7): `places` on an event loop."""

import asyncio
import time
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

from proxid.errors import OverloadedError
from proxid.runtime.transport.fairness import Turn
from proxid.runtime.transport.places import Places, Ticket


class Admission:
    """The places of one worker."""

    def __init__(self) -> None:
        self._places = Places()
        self._timer: asyncio.Handle | None = None

    def require_room(self, peer: Hashable) -> None:
        """That a peer's request may find a place, whatever it says; raises OverloadedError, which costs least."""
        if self._places.turns_away(peer, time.monotonic()):
            raise self._full()

    def _full(self) -> OverloadedError:
        return OverloadedError("more is asked than can be answered", self._places.pushback(time.monotonic()))

    @asynccontextmanager
    async def place(self, turn: Turn) -> AsyncIterator[None]:
        """A place while the block runs, for the turn's peer and person.

        Raises:
            OverloadedError: there is none, or its caller's time is over.
        """
        decided: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        since = time.monotonic()

        def told(placed: bool) -> None:  # it does not know the ticket: each request would leave a circle behind
            turn.waited += time.monotonic() - since  # for others' answers, or its own before it
            if not decided.done():  # its caller may have gone
                decided.set_result(placed)

        ticket = Ticket(turn.who, turn.person, since, told, turn.left())
        self._places.enter(ticket)
        try:
            self._watch()
            if not await decided:
                raise self._full()
            turn.require()
            yield
        finally:
            self._places.leave(ticket, time.monotonic(), None if turn.untold else turn.took)

    def _watch(self) -> None:
        due = self._places.due(time.monotonic())
        if due is not None and self._timer is None:  # nobody who came later is due sooner
            self._timer = asyncio.get_running_loop().call_later(due, self._look)

    def _look(self) -> None:
        self._timer = None
        self._places.look(time.monotonic())
        self._watch()
