"""Mode `thesis3`: Algorithm 2 of 002 §3.3.4.2, exactly, for the papers' experiments (DESIGN 8.2).

A category keeps a list of users and a list of queries. When the lists reach the category's k, a random user and a
random query leave, unless all its users are the same: then its k grows by the factor δ (rounded up). Nothing keeps a
query from its own issuer.
"""

import math
from dataclasses import dataclass, field

from proxid.errors import ConfigError
from proxid.lab.columns.released import Emitted, RandomSource
from proxid.lab.thesis.algorithm4 import truncate


@dataclass(slots=True)
class Category:
    """The two lists of a category, its k, and the number of entries of each user."""

    k: int
    users: list[str] = field(default_factory=list)
    queries: list[Emitted] = field(default_factory=list)
    arity: dict[str, int] = field(default_factory=dict)


class Thesis3:
    """Algorithm 2 on one record at a time."""

    def __init__(self, k: int, level: int, random: RandomSource, *, delta: float = 1.2) -> None:
        """Raises ConfigError for k < 1, a negative level or δ ≤ 1."""
        if k < 1 or level < 0 or not delta > 1:
            raise ConfigError("k must be at least 1, level at least 0 and delta above 1")
        self.k, self.level, self.delta, self._random = k, level, delta, random
        self.categories: dict[str, Category] = {}
        self.waiting, self._received = 0, 0

    def feed(self, user: str, query: str, category: str) -> list[Emitted]:
        """Take one record (category: path with `/`) and return the record that leaves, if one does."""
        kept = self.categories.setdefault(truncate(category, self.level), Category(self.k))
        kept.users.append(user)
        kept.arity[user] = kept.arity.get(user, 0) + 1
        kept.queries.append(Emitted(user, query, category, self._received))
        self._received += 1
        self.waiting += 1
        if len(kept.users) < kept.k:
            return []
        if len(kept.arity) == 1:
            kept.k = max(kept.k + 1, math.ceil(kept.k * self.delta))
            return []
        self.waiting -= 1
        return [self._send(kept)]

    def _send(self, kept: Category) -> Emitted:
        user = kept.users.pop(self._random.randrange(len(kept.users)))
        kept.arity[user] -= 1
        if not kept.arity[user]:
            del kept.arity[user]
        chosen = kept.queries.pop(self._random.randrange(len(kept.queries)))
        return chosen._replace(user=user)
