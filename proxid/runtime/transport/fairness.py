"""Computing in small portions: what arrives together does not hold up what is done.

Requests come many in one message. If all of them compute before the event loop turns once, the first one's round trip
to the store starts after the last one's computing, and the processes of a request's way work one after another instead
of at once.
"""

import asyncio
import math
import time
from collections import OrderedDict, deque
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from proxid.errors import OverloadedError

PORTION: Final = 8
"""Computations in one turn of the event loop: two to four milliseconds."""


@dataclass(slots=True)
class Turn:
    """One request on its way through a service.

    Attributes:
        who: whose it is, as far as that is known: nobody holds up others with many. person: the same, of the person.
        until: monotonic time at which its caller gives up. begun: when it came. waited: seconds for the answer of
            somebody whom this house asked, which cost it nothing. untold: none came within this house's own time,
            so that nobody knows how much of it was waiting.
    """

    who: Hashable = None
    person: Hashable = None
    until: float = math.inf
    begun: float = field(default_factory=time.monotonic)
    waited: float = 0.0
    untold: bool = False

    @classmethod
    def of(cls, left_ms: int, who: Hashable = None, person: Hashable = None) -> "Turn":
        """The turn of a message that says how many milliseconds its caller has left; 0: it does not."""
        return cls(who, person, time.monotonic() + left_ms / 1000 if left_ms else math.inf)

    @property
    def took(self) -> float:
        """Seconds that it has taken this house until now."""
        return time.monotonic() - self.begun - self.waited

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """While the block runs it waits for somebody else, however that ends."""
        begun = time.monotonic()
        try:
            yield
        finally:
            self.waited += time.monotonic() - begun

    def left(self) -> float:
        """Seconds until its caller gives up."""
        return self.until - time.monotonic()

    def require(self) -> None:
        """That somebody still waits for it; raises OverloadedError, which is heard by nobody."""
        if self.left() <= 0:
            raise OverloadedError("its caller's time is over")


class FairScheduler:
    """Lets a few computations begin in each turn of the event loop; who waits goes before who comes next.

    Callers take turns, each its own in order.

    Args:
        portion: how many; those that were woken and those that just came may be twice as many in one turn.
    """

    def __init__(self, portion: int = PORTION) -> None:
        self._portion = portion
        self._left = portion
        self._waiting: OrderedDict[Hashable, deque[asyncio.Future[None]]] = OrderedDict()

    async def slot(self, turn: Turn | None = None) -> None:
        """Return when it is the caller's turn; at once if this turn of the loop has room."""
        if self._left > 0:
            self._take()
            return
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(turn and turn.who, deque()).append(waiting)
        await waiting

    def _take(self) -> None:
        if self._left == self._portion:  # the first of this turn
            asyncio.get_running_loop().call_soon(self._next)
        self._left -= 1

    def _next(self) -> None:
        self._left = self._portion
        while self._waiting and self._left > 0:
            who, line = next(iter(self._waiting.items()))
            waiting = line.popleft()
            if line:
                self._waiting.move_to_end(who)
            else:
                del self._waiting[who]
            if not waiting.done():  # it may have been cancelled
                waiting.set_result(None)
                self._take()
