"""Settings of form `split` and what follows from them (DESIGN 8.11)."""

from dataclasses import dataclass
from typing import Final

from proxid.anonymise.mix.settings import MAX_GROUP, MAX_LEVEL
from proxid.errors import ConfigError

MIN_NODES: Final = 3
"""Nodes that what leaves at a tick lies in, at least; none of them has over half of it."""

_MILLE: Final = 1000


@dataclass(frozen=True, slots=True)
class SplitSettings:
    """Parameters of the form.

    Attributes:
        k: anonymity parameter: at least k + 1 others may own each content, m of its round's people colluding.
        margin: m, the colluding (or Sybil) people that a round withstands.
        level: ℓ, depth of the nodes at which people are shown, and of the nodes whose contents are shown.
        min_text_users: records of one round, margin apart, that carry whatever is shown below the node.
        max_share: share of a round's records over which nothing is shown of what they have in common.
        sensitive: categories in whose subtrees `sensitive_share` takes the place of `max_share`.
        bucket_s: seconds between two ticks; divides the epoch. epoch_s: its length in seconds.
    """

    k: int = 10
    margin: int = 1
    level: int = 1
    min_text_users: int = 3
    max_share: float = 0.8
    sensitive: tuple[tuple[str, ...], ...] = ()
    sensitive_share: float = 0.5
    bucket_s: int = 21_600
    epoch_s: int = 86_400

    def __post_init__(self) -> None:
        """Raises ConfigError for a value outside its range; the rule names the key."""
        _need(self.k >= 1, "k must be at least 1")
        _need(self.margin >= 0, "margin must not be negative")
        _need(self.n <= MAX_GROUP, "k + margin is too large")
        _need(1 <= self.level <= MAX_LEVEL, "level must be from 1 to 32")
        _need(self.min_text_users >= 1, "min_text_users must be at least 1")
        _need(0 < self.sensitive_share <= 1, "sensitive_share must be over 0 and at most 1")
        _need(0 < self.max_share <= 1, "max_share must be over 0 and at most 1")
        _need(all(self.sensitive), "sensitive_categories holds an empty category")
        _need(self.bucket_s >= 1, "bucket must be at least one second")
        _need(self.epoch_s % self.bucket_s == 0, "bucket must divide the epoch")

    @property
    def n(self) -> int:
        """Distinct people that open a node, and that a round has at least: k + 1 + m."""
        return self.k + 1 + self.margin

    @property
    def threshold(self) -> int:
        """T: records of a round that carry what is shown below the node, at least: `min_text_users` + m."""
        return self.min_text_users + self.margin

    @property
    def ticks(self) -> int:
        """Ticks of an epoch, numbered from 1; the last one is the close."""
        return self.epoch_s // self.bucket_s

    def most(self, path: tuple[str, ...], people: int) -> int:
        """Records of a round of so many people that may have a category, or what lies under it, in common."""
        share = self.sensitive_share if self._is_sensitive(path) else self.max_share
        return round(share * _MILLE) * people // _MILLE

    def bucket(self, time: float) -> int:
        """Unix seconds at which the bucket of a time begins; buckets are aligned to the epoch's start."""
        return int(time // self.bucket_s) * self.bucket_s

    def tick(self, since: float) -> int:
        """The last tick that is due so many seconds after the epoch's start, the close left out; 0 if none is."""
        return max(0, min(int(since // self.bucket_s), self.ticks - 1))

    def _is_sensitive(self, path: tuple[str, ...]) -> bool:
        return any(path[: len(marked)] == marked for marked in self.sensitive)


def _need(holds: bool, rule: str) -> None:
    if not holds:
        raise ConfigError(rule)
