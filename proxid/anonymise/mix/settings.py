"""Settings of mode `mix` and what follows from them (DESIGN 8.4-8.7, 16)."""

from dataclasses import dataclass

from proxid.errors import ConfigError

MAX_LEVEL = 32
MAX_GROUP = 65_536


@dataclass(frozen=True, slots=True)
class Settings:
    """Parameters of the mix; `None` switches an optional part off.

    Attributes:
        k: anonymity parameter: at least k others may own each record.
        margin: m, the colluding (or Sybil) members a group withstands.
        level: ℓ, the depth at which records start to wait; the privacy parameter of 8.4.2.
        max_delay_records: records buffered in the same audience after which a record moves up; None: never.
        max_delay_s: seconds after which a record moves up; None: never.
        min_text_users: distinct people, margin apart, who must have issued what is shown of a text.
        person_cap: records one person may have waiting at one node; None: no cap.
        time_bucket_s: width in seconds of the time bucket that a group carries.
    """

    k: int = 10
    margin: int = 1
    level: int = 2
    max_delay_records: int | None = 10_000
    max_delay_s: float | None = 6 * 3600.0
    min_text_users: int = 3
    person_cap: int | None = 20
    time_bucket_s: int = 900

    def __post_init__(self) -> None:
        """Raises ConfigError for a value outside its range; the rule names the key."""
        _need(self.k >= 1, "k must be at least 1")
        _need(self.margin >= 0, "margin must not be negative")
        _need(self.n <= MAX_GROUP, "k + margin is too large")
        _need(0 <= self.level <= MAX_LEVEL, "level must be from 0 to 32")
        _need(self.max_delay_records is None or self.max_delay_records >= 1, "max_delay_records must be at least 1")
        _need(self.max_delay_s is None or self.max_delay_s > 0, "max_delay_s must be positive")
        _need(self.min_text_users >= 1, "min_text_users must be at least 1")
        _need(self.person_cap is None or self.person_cap >= 1, "person_cap must be at least 1")
        _need(self.time_bucket_s >= 1, "time_bucket_s must be at least 1")

    @property
    def n(self) -> int:
        """Distinct seasoned people that a group needs: k + 1 + m."""
        return self.k + 1 + self.margin

    @property
    def text_threshold(self) -> int:
        """Distinct seasoned issuers after which a text or unit may be shown: `min_text_users` + m."""
        return self.min_text_users + self.margin

    @property
    def unseasoned_cap(self) -> int:
        """Unseasoned people who may join one group: no more than the seasoned ones it needs."""
        return self.n


def _need(holds: bool, rule: str) -> None:
    if not holds:
        raise ConfigError(rule)
