"""The attacks of 003 §3.2 on releases of frequent queries: homogeneity (Example 1) and the active attack (Example 2).

Homogeneity: if everybody who could have asked a published query did, its k askers are hidden among themselves alone.
Active attack: the attacker opens accounts, asks the query that the victim may have asked, and looks whether it is
published. With k - 1 accounts k-query anonymity answers with certainty; under (epsilon, delta) no attacker is right
more often than `best_guess`.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

Row = tuple[str, str]
Publish = Callable[[list[Row]], Collection[str]]
"""A release of (user, query) rows: the queries it publishes."""


@dataclass(frozen=True, slots=True)
class Learned:
    """Facts (user, query) that a release gives away for certain, and of how many published queries."""

    facts: int
    queries: int


def homogeneity(rows: Iterable[Row], published: Collection[str], group_of: Mapping[str, str]) -> Learned:
    """What is learnt from groups whose members all asked a published query.

    group_of: the public group of a user (who lives in the village and has internet access, say); everybody in it is
    listed, whether they asked or not.
    """
    members: dict[str, set[str]] = {}
    for user, group in group_of.items():
        members.setdefault(group, set()).add(user)
    askers: dict[str, set[str]] = {}
    for user, query in rows:
        if query in published:
            askers.setdefault(query, set()).add(user)
    facts = {query: _whole_groups(asked, group_of, members) for query, asked in askers.items()}
    return Learned(sum(facts.values()), sum(count > 0 for count in facts.values()))


def _whole_groups(asked: set[str], group_of: Mapping[str, str], members: Mapping[str, set[str]]) -> int:
    groups = {group_of[user] for user in asked if user in group_of}
    return sum(len(members[group]) for group in groups if members[group] <= asked)


def active_attack(publish: Publish, others: list[Row], query: str, *, victim_asked: bool, accounts: int) -> bool:
    """Whether the attacker is right who says "the victim asked" when, and only when, the query is published.

    others: rows of everybody but the victim and the attacker. accounts: accounts the attacker opens, each asks `query`.
    """
    attacker = [(f"attacker {number}", query) for number in range(accounts)]
    victim = [("victim", query if victim_asked else "something else")]
    return (query in publish([*others, *attacker, *victim])) == victim_asked


def active_attack_rate(publish: Publish, others: list[Row], queries: Iterable[str], accounts: int) -> float:
    """The share of right answers over queries, each with a victim who asked it and with one who did not."""
    right = [
        active_attack(publish, others, query, victim_asked=asked, accounts=accounts)
        for query in queries
        for asked in (True, False)
    ]
    return sum(right) / len(right) if right else math.nan


def best_guess(epsilon: float, delta: float) -> float:
    """The largest chance of being right about one user under (epsilon, delta), both answers equally likely before.

    From Pr[A(S) in O] <= e^eps Pr[A(S') in O] + delta both ways: (e^eps + delta) / (1 + e^eps).
    """
    grown = math.exp(min(epsilon, 700.0))
    return (grown + delta) / (1 + grown)
