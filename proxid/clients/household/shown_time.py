"""The time that a device puts into its messages: the gateway's, in steps (DESIGN 4.3).

Every clock is off by an amount of its own, for weeks. Put into what the main service opens, it would tell the people
and the days of one household from everybody else's. So a device measures by how much its clock differs from the
gateway's, and shows only steps of that time.
"""

from typing import Final

from proxid.clients.household.session import Clock
from proxid.protocol.epochs import Epochs

STEP: Final = 30
"""Seconds."""
HOUR: Final = 3600.0
"""Seconds for which a measurement is good: a cheap clock drifts by a tenth of a second meanwhile."""


class ShownTime:
    """See the module.

    Args:
        own: the device's clock, Unix seconds. skew: by how many seconds the gateway may correct it, at most; a clock
            that is further off is not believed to be, and is refused where it shows.
    """

    def __init__(self, own: Clock, epochs: Epochs, skew: float) -> None:
        self._own = own
        self._epochs = epochs
        self._skew = skew
        self._offset = 0.0
        self._measured = float("-inf")

    @property
    def due(self) -> bool:
        """Whether the gateway should be asked (again)."""
        return not 0 <= self._own() - self._measured < HOUR

    def heard(self, time_ms: int, asked: float) -> None:
        """The gateway's time has come, which it read between asking and now. asked: the device's clock then."""
        now = self._own()
        offset = time_ms / 1000 - (asked + now) / 2
        self._measured = now
        self._offset = offset if abs(offset) <= self._skew else 0.0

    def ms(self) -> int:
        """The nearest step within the epoch of the gateway's time, Unix milliseconds."""
        now = self._own() + self._offset
        epoch = self._epochs.number(now)
        step = round(now / STEP) * STEP
        if step >= self._epochs.end(epoch):
            step -= STEP
        return max(step, self._epochs.start(epoch)) * 1000
