"""The representative of a cluster: quotas, contributions, expected repetitions (001 §3.3, Algorithm 5).

What the paper leaves open and what is done here: quotas are fractions, so the representative's size (the mean of the
members' query numbers, rounded) is shared out by largest remainders; a list that ends before its quota is filled up
from the repetitions not yet taken, most repeated query first; no query appears more often than its user issued it;
the representative is shuffled, since Algorithm 5's order would tell whose query is whose.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from proxid.lab.release.microaggregation.matrices import Ints

Reals = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class QueryLists:
    """Every user's distinct queries, most repeated first: `query[start[u]:start[u+1]]` with `times`."""

    start: Ints
    query: Ints
    times: Ints

    def of(self, user: int) -> tuple[Ints, Ints]:
        """Distinct queries of one user and how often each was issued."""
        a, b = self.start[user], self.start[user + 1]
        return self.query[a:b], self.times[a:b]


def query_lists(user: Ints, query: Ints, users: int) -> QueryLists:
    """Sort every user's queries by repetitions; equally often issued ones by first appearance of their text."""
    width = int(query.max()) + 1 if len(query) else 1
    cell, times = np.unique(user * width + query, return_counts=True)
    owner, text = cell // width, cell % width
    order = np.lexsort([text, -times, owner])
    start = np.zeros(users + 1, np.int64)
    np.cumsum(np.bincount(owner, minlength=users), out=start[1:])
    return QueryLists(start, text[order], times[order].astype(np.int64))


def contributions(totals: Ints) -> Reals:
    """Share of each member of a cluster in its representative (eq. 2): |Q_i| / Σ|Q_i|."""
    return totals / max(int(totals.sum()), 1)


def quotas(totals: Ints) -> Ints:
    """Number of queries of each member in the representative (eq. 3): |Q_i| / members, in whole numbers."""
    members, total = len(totals), int(totals.sum())
    whole, rest = totals // members, totals % members
    missing = (2 * total + members) // (2 * members) - int(whole.sum())  # the mean, halves rounded up
    whole[np.argsort(-rest, kind="stable")[:missing]] += 1
    return np.minimum(whole, totals)


def take(times: Ints, quota: int, contribution: float, rng: np.random.Generator) -> Ints:
    """How often each query of one list enters the representative; the sum is the quota.

    A query issued n times enters contribution·n times: the whole part for certain, one more with the rest as
    probability.
    """
    expected = contribution * times
    wanted = np.floor(expected + rng.random(len(times))).astype(np.int64)
    wanted = np.minimum(wanted, times)
    chosen = _first(wanted, quota)
    missing = quota - int(chosen.sum())
    return chosen + _first(times - chosen, missing) if missing else chosen


def _first(wanted: Ints, limit: int) -> Ints:
    """As much of `wanted`, from the front, as fits under the limit."""
    reached = np.minimum(np.cumsum(wanted), limit)
    return np.diff(reached, prepend=0)


def aggregate(cluster: list[int], lists: QueryLists, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Algorithm 5: the representative's queries in random order, and the member each came from."""
    totals = np.array([lists.of(u)[1].sum() for u in cluster], np.int64)
    shares, limits = contributions(totals), quotas(totals)
    queries, owners = [], []
    for user, share, quota in zip(cluster, shares.tolist(), limits.tolist(), strict=True):
        query, times = lists.of(user)
        count = take(times, quota, share, rng)
        queries.append(np.repeat(query, count))
        owners.append(np.full(int(count.sum()), user, np.int64))
    order = rng.permutation(sum(map(len, queries)))
    return np.concatenate(queries)[order], np.concatenate(owners)[order]
