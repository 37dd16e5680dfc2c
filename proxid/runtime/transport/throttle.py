"""A client that is told again and again that a service is overloaded asks less (DESIGN 5.7).

To refuse is cheap and not for nothing: a service that refuses six for each that it answers answers fewer. So a client
sends at most ASKED times what was taken of late, and tells the rest by itself what the service would have told it
(adaptive throttling, Beyer, Jones, Petoff and Murphy 2016, chapter 21).

Who does not do so is found by the service (`Heed`), and hears of each refusal when the time has come that it tells:
with its calls and streams taken up so, it cannot ask more. So is who sends again and again what no client of the
library sends: nothing of it is signed or counted by a rule, and it costs its sender nothing.
"""

import math
import random
from collections.abc import Callable, Hashable
from typing import Final

ASKED: Final = 1.5
"""Calls sent for each that is taken."""
SPARE: Final = 1.0
"""Calls that may be refused before less is asked."""
MEMORY: Final = 0.7
"""Seconds after which a call counts half."""

IGNORED: Final = 2.0
"""Refusals for each call that is taken, above which a caller does not heed them: what `Throttle` never sends."""
SPARE_REFUSALS: Final = 192
"""Refusals that are nobody's fault: of calls that were on their way before the first was refused, a connection's worth
and half of it again.
"""

BROKEN: Final = 32.0
"""Messages that are none, or have no place in the protocol, of a caller whose client is older, or has a fault."""
BROKEN_MEMORY: Final = 10.0
"""Seconds after which such a message counts half."""
BROKEN_PAUSE: Final = 4.0
"""Seconds after which a caller that sends more of them hears of each."""


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


class Heed:
    """Which callers ask on and on while they are refused. Times as in `Throttle`; callers are as many as are let in."""

    def __init__(self) -> None:
        self._callers: dict[Hashable, tuple[float, float]] = {}
        """When it was counted last, and refusals beyond IGNORED for each that was taken, as they count then."""
        self._broken: dict[Hashable, tuple[float, float]] = {}
        """The same of broken messages."""

    def ignores(self, who: Hashable, now: float, taken: bool) -> bool:
        """Count a call that has ended: answered, or refused for overload; whether its refusal is to be told later."""
        counted, beyond = self._callers.get(who, (now, 0.0))
        beyond = max(0.0, beyond * 0.5 ** ((now - counted) / MEMORY) + (-IGNORED if taken else 1.0))
        self._callers[who] = now, beyond
        return not taken and beyond > SPARE_REFUSALS

    def breaks(self, who: Hashable, now: float) -> bool:
        """Count a broken message; whether it is one of too many."""
        counted, broken = self._broken.get(who, (now, 0.0))
        broken *= math.exp2((counted - now) / BROKEN_MEMORY)
        broken += 1.0
        self._broken[who] = now, broken
        return broken > BROKEN
