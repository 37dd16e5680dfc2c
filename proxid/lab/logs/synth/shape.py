"""The parameters of a synthetic log."""

import math
from dataclasses import dataclass

from proxid.errors import ConfigError

AOL_RATE = 4.58
"""Records a second: 36,389,576 in 92 days."""
START = 1_141_171_200.0
"""2006-03-01 00:00 UTC, the first day of AOL's log."""
_WHOLE_LOG = (56.0, 1.5)
_ACTIVE_SAMPLE = (318.0, 0.4)
"""Mean records a user and the σ of log-normal activity that fits: the long tail of a whole log, and the sample."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How large a log is and how it is spread.

    rows: records. users: people who may appear. seed: the same log for the same seed. days: time it spans [what AOL's
    rate needs]. spread: σ of the log-normal activity of people [between the two logs that are known, by the mean
    number of records a user]. repeat, fresh, personal, navigation, vanity: shares of records whose text repeats the
    session's last one, was never issued before, is one of the user's own, names a site, names the user; the rest comes
    from the vocabulary that people share. clicked: share of records with a click.
    """

    rows: int
    users: int
    seed: int
    days: float | None = None
    spread: float | None = None
    repeat: float = 0.30
    fresh: float = 0.28
    personal: float = 0.14
    navigation: float = 0.07
    vanity: float = 0.01
    clicked: float = 0.53

    def __post_init__(self) -> None:
        """Raises ConfigError for a value outside its range."""
        shares = (self.repeat, self.fresh, self.personal, self.navigation, self.vanity, self.clicked)
        if self.rows < 0 or self.users < 1 or self.users >= 1 << 31:
            raise ConfigError("rows must not be negative and users at least 1")
        if not all(0 <= share <= 1 for share in shares) or sum(shares[:5]) > 1:
            raise ConfigError("the shares of texts are from 0 to 1 and at most 1 together")
        if (self.days is not None and not self.days > 0) or (self.spread is not None and not self.spread >= 0):
            raise ConfigError("days must be positive and spread not negative")

    @property
    def seconds(self) -> float:
        """The time the log spans."""
        return self.rows / AOL_RATE if self.days is None else self.days * 86_400

    @property
    def sigma(self) -> float:
        """σ of the activity."""
        if self.spread is not None:
            return self.spread
        (low, heavy), (high, light) = _WHOLE_LOG, _ACTIVE_SAMPLE
        mean = max(self.rows, 1) / self.users
        part = (math.log(mean) - math.log(low)) / (math.log(high) - math.log(low))
        return heavy + (light - heavy) * min(1.0, max(0.0, part))
