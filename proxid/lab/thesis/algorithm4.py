"""Mode `thesis`: Algorithm 4 of 002 §4.2.5, exactly, for the papers' experiments (DESIGN 8.2).

A node keeps a multiset of users and a set of queries. While it holds more than k distinct users, a random query leaves
with a random user entry that is not its issuer (restrictions 4.1 and 4.2). What this does not give: DESIGN 8.3.
"""

from dataclasses import dataclass, field
from typing import TypeVar

from proxid.errors import ConfigError
from proxid.lab.columns.released import Emitted, RandomSource

T = TypeVar("T")
_PATIENCE = 32
"""Draws of a user entry before the entries are counted instead: the result is uniform either way."""


@dataclass(slots=True)
class Vertex:
    """A vertex v of the tree: users[i] are entries (a user's arity is its count), queries[i] are (source, ...)."""

    users: list[str] = field(default_factory=list)
    queries: list[Emitted] = field(default_factory=list)
    arity: dict[str, int] = field(default_factory=dict)

    def add(self, record: Emitted) -> None:
        """Add a record's user and its query to their sets (lines 7 and 9)."""
        self.users.append(record.user)
        self.queries.append(record)
        self.arity[record.user] = self.arity.get(record.user, 0) + 1

    def pop_query(self, random: RandomSource) -> Emitted:
        """Remove a random query (line 13)."""
        return _swap_pop(self.queries, random.randrange(len(self.queries)))

    def pop_user(self, origin: str, random: RandomSource) -> str:
        """Remove a random user entry that is not of the issuer (line 15)."""
        for _ in range(_PATIENCE):
            at = random.randrange(len(self.users))
            if self.users[at] != origin:
                break
        else:
            others = [i for i, user in enumerate(self.users) if user != origin]
            at = others[random.randrange(len(others))]
        user = _swap_pop(self.users, at)
        self.arity[user] -= 1
        if not self.arity[user]:
            del self.arity[user]
        return user


class Thesis:
    """Algorithm 4 on one record at a time."""

    def __init__(self, k: int, level: int, random: RandomSource) -> None:
        """Raises ConfigError for k < 1 or a negative level."""
        if k < 1 or level < 0:
            raise ConfigError("k must be at least 1 and level at least 0")
        self.k, self.level, self._random = k, level, random
        self.vertices: dict[str, Vertex] = {}
        self.waiting, self._received = 0, 0

    def feed(self, user: str, query: str, category: str) -> list[Emitted]:
        """Take one record (category: path with `/`) and return the records that leave."""
        vertex = self.vertices.setdefault(truncate(category, self.level), Vertex())
        vertex.add(Emitted(user, query, category, self._received))
        self._received += 1
        out = []
        while len(vertex.arity) > self.k:
            chosen = vertex.pop_query(self._random)
            out.append(chosen._replace(user=vertex.pop_user(chosen.user, self._random)))
        self.waiting += 1 - len(out)
        return out


def truncate(category: str, level: int) -> str:
    """The category's ancestor at a level (line 5)."""
    return "/".join(category.split("/")[:level])


def _swap_pop(items: list[T], at: int) -> T:
    items[at], items[-1] = items[-1], items[at]
    return items.pop()
