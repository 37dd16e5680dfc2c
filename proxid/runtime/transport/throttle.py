"""A client that is told again and again that a service is overloaded asks less (DESIGN 5.7).

To refuse is cheap and not for nothing: a service that refuses six for each that it answers answers fewer. So a client
sends at most ASKED times what was taken of late, and tells the rest by itself what the service would have told it
(adaptive throttling, Beyer, Jones, Petoff and Murphy 2016, chapter 21).
"""

import random
from collections.abc import Callable
from typing import Final

ASKED: Final = 1.5
"""Calls sent for each that is taken."""
SPARE: Final = 4.0
"""Calls that may be refused before less is asked."""
MEMORY: Final = 0.7
"""Seconds after which a call counts half."""


class Throttle:
    """Times are seconds of any one clock that does not go back.

    Args:
        chance: a number from 0 to 1, drawn anew for each call.
    """

    def __init__(self, chance: Callable[[], float] = random.random) -> None:
        self._chance = chance
        self._ended = self._taken = self._counted = 0.0

    def admits(self, now: float) -> bool:
        """Whether a call may be sent; one that may not counts as refused."""
        self._forget(now)
        if self._chance() * (self._ended + 1) >= self._ended - ASKED * self._taken - SPARE:
            return True
        self._ended += 1
        return False

    def ended(self, now: float, taken: bool) -> None:
        """A call that was sent has ended: taken, or refused because the service is overloaded."""
        self._forget(now)
        self._ended += 1
        self._taken += taken

    def _forget(self, now: float) -> None:
        kept = 0.5 ** ((now - self._counted) / MEMORY)
        self._ended, self._taken, self._counted = self._ended * kept, self._taken * kept, now
