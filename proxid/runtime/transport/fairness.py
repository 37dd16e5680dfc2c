"""Computing in small portions: what arrives together does not hold up what is done.

Requests come many in one message. If all of them compute before the event loop turns once, the first one's round trip
to the store starts after the last one's computing, and the processes of a request's way work one after another instead
of at once.
"""

import asyncio
from collections import deque
from typing import Final

PORTION: Final = 8
"""Computations in one turn of the event loop: two to four milliseconds."""


class FairScheduler:
    """Lets a few computations begin in each turn of the event loop; who waits goes before who comes next.

    Args:
        portion: how many; those that were woken and those that just came may be twice as many in one turn.
    """

    def __init__(self, portion: int = PORTION) -> None:
        self._portion = portion
        self._left = portion
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def slot(self) -> None:
        """Return when it is the caller's turn; at once if this turn of the loop has room."""
        if self._left > 0:
            self._take()
            return
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiting)
        await waiting

    def _take(self) -> None:
        if self._left == self._portion:  # the first of this turn
            asyncio.get_running_loop().call_soon(self._next)
        self._left -= 1

    def _next(self) -> None:
        self._left = self._portion
        while self._waiting and self._left > 0:
            waiting = self._waiting.popleft()
            if not waiting.done():  # it may have been cancelled
                waiting.set_result(None)
                self._take()
