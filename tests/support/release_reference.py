"""The counts of 003 and 004 written plainly, to compare the engines' expressions with."""

from collections import Counter
from itertools import combinations, pairwise

Row = tuple[str, str, int, str]  # user, query, second, url ("" without a click)
GAP = 1800


def by_user(rows: list[Row]) -> dict[str, list[Row]]:
    users: dict[str, list[Row]] = {}
    for row in rows:
        users.setdefault(row[0], []).append(row)
    return users


def occurrences(history: list[Row], kind: str) -> list[tuple[int, tuple[str, ...]]]:
    """(second, item) of one user's history."""
    asked = [row for row in history if row[1]]
    if kind == "queries":
        return [(t, (q,)) for _, q, t, _ in asked]
    if kind == "keywords":
        return [(t, (word,)) for _, q, t, _ in asked for word in q.split()]
    if kind == "clicks":
        return [(t, (q, url)) for _, q, t, url in asked if url]
    moments = sorted({(t, q) for _, q, t, _ in asked})
    return [(t, (before, q)) for (s, before), (t, q) in pairwise(moments) if t - s <= GAP and before != q]


def bounded_counts(rows: list[Row], kind: str, m: int) -> Counter[tuple[str, ...]]:
    """003 steps 1 and 2."""
    counts: Counter[tuple[str, ...]] = Counter()
    for history in by_user(rows).values():
        first: dict[tuple[str, ...], int] = {}
        for t, item in occurrences(history, kind):
            first[item] = min(t, first.get(item, t))
        counts.update(sorted(first, key=lambda item: (first[item], item))[:m])
    return counts


def sessions(history: list[Row]) -> list[list[str]]:
    """One user's sessions; a query that repeats the one before it in its session is the same query."""
    found: list[list[str]] = []
    last = -GAP - 1
    for t, q in sorted({(t, q) for _, q, t, _ in history if q}):
        if t - last > GAP:
            found.append([])
        if found[-1][-1:] != [q]:
            found[-1].append(q)
        last = t
    return found


def sequence_counts(rows: list[Row], l_s: int, l_q: int) -> Counter[tuple[str, ...]]:
    """004 steps 1 to 3: users of every order-preserving subsequence of two or more queries."""
    counts: Counter[tuple[str, ...]] = Counter()
    for history in by_user(rows).values():
        mine = set()
        for session in [s for s in sessions(history) if len(s) > 1][:l_s]:
            for size in range(2, l_q + 1):
                mine |= set(combinations(session[:l_q], size))
        counts.update(mine)
    return counts


def click_counts(rows: list[Row], limit: int) -> Counter[tuple[str, ...]]:
    """004 §3.2.2: users of each (query, url) among their first clicks."""
    counts: Counter[tuple[str, ...]] = Counter()
    for history in by_user(rows).values():
        clicks = sorted((t, q, url) for _, q, t, url in history if q and url)
        counts.update({(q, url) for _, q, url in clicks[:limit]})
    return counts
