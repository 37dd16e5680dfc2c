"""Epochs: all end together, so that PROX_IDs alive at one time are different people (DESIGN 4.3)."""

from dataclasses import dataclass
from typing import Final

EPOCH_SECONDS: Final = 86_400
"""The length of an epoch where nobody chose one: a day."""


@dataclass(frozen=True, slots=True)
class Epochs:
    """Numbering of epochs.

    Attributes:
        seconds: length of an epoch, counted from the Unix epoch in UTC.
    """

    seconds: int = EPOCH_SECONDS

    def number(self, now: float) -> int:
        """The epoch that a Unix time lies in."""
        return int(now // self.seconds)

    def near(self, now: float, skew: float) -> range:
        """The epochs that a clock which is right within `skew` seconds may be in."""
        return range(self.number(now - skew), self.number(now + skew) + 1)

    def start(self, epoch: int) -> int:
        """First second of an epoch."""
        return epoch * self.seconds

    def end(self, epoch: int) -> int:
        """First second after an epoch."""
        return (epoch + 1) * self.seconds
