"""What a log is counted by: keywords, queries, query pairs, clicks (003 §2.1), and the bounded histogram of them.

003 steps 1 and 2 as Ibis expressions, the same on every engine. A user's m distinct items are the first ones of the
user's own history (time, then the item itself where times are equal): nothing about other users enters the choice.
A bound is on distinct items of a distinct user; repeating a query, or a row for each click, adds nothing.
"""

from typing import Any, Final

import ibis

from proxid.errors import ConfigError

GAP_SECONDS: Final = 30 * 60
"""Two queries of a user are in one session when no more than this lies between them (004 §3.2.1)."""

KINDS: Final = {"keywords": ("keyword",), "queries": ("query",), "pairs": ("query", "next"), "clicks": ("query", "url")}
"""The columns that make an item, by kind."""


def item_columns(kind: str) -> tuple[str, ...]:
    """The columns of a kind of items. Raises ConfigError."""
    if kind not in KINDS:
        raise ConfigError(f"items is one of {', '.join(KINDS)}")
    return KINDS[kind]


def items(log: ibis.Table, kind: str, gap: int = GAP_SECONDS) -> ibis.Table:
    """A row for each occurrence of an item: user, time and the item's columns. gap: seconds (pairs only)."""
    item_columns(kind)
    asked = log.filter(log.query.notnull() & (log.query != ""))
    if kind == "queries":
        return asked.select("user", "time", "query")
    if kind == "clicks":
        return asked.filter(asked.url.notnull() & (asked.url != "")).select("user", "time", "query", "url")
    if kind == "keywords":
        words = asked.select("user", "time", keyword=asked.query.re_split(r"\s+").unnest())
        return words.filter(words.keyword != "")
    return query_pairs(asked, gap)


def query_pairs(asked: ibis.Table, gap: int) -> ibis.Table:
    """Subsequent, different queries of a user within a session: user, time (of the second), query, next."""
    moments = asked.select("user", "time", "query").distinct()
    order = ibis.window(group_by="user", order_by=["time", "query"])
    both = moments.mutate(before=moments["query"].lag().over(order), since=seconds_since_last(moments, order))
    inside = both.filter(both.before.notnull() & (both.since <= gap) & (both.before != both["query"]))
    return inside.select("user", "time", query=inside.before, next=inside["query"])


def seconds_since_last(moments: ibis.Table, order: Any) -> Any:
    """Whole seconds since the user's previous row; null for the first."""
    seconds = moments.time.epoch_seconds()
    return seconds - seconds.lag().over(order)


def bounded(occurrences: ibis.Table, columns: tuple[str, ...], m: int) -> ibis.Table:
    """The first m distinct items of every user (003 step 1): user and the item's columns."""
    distinct = occurrences.group_by("user", *columns).agg(first=occurrences.time.min())
    order = ibis.window(group_by="user", order_by=["first", *columns])
    ranked = distinct.mutate(place=ibis.row_number().over(order))
    return ranked.filter(ranked.place < m).select("user", *columns)


def histogram(chosen: ibis.Table, columns: tuple[str, ...], at_least: int = 1) -> ibis.Table:
    """How many users have each item (003 step 2): the item's columns and `count`; `chosen` is distinct by user."""
    counted = chosen.group_by(*columns).agg(count=chosen.count())
    return counted.filter(counted["count"] >= at_least) if at_least > 1 else counted


def bounded_histogram(log: ibis.Table, kind: str, m: int, at_least: int = 1, gap: int = GAP_SECONDS) -> ibis.Table:
    """003 steps 1 to 3: at most m distinct items a user, counted by users, items with fewer than `at_least` dropped."""
    columns = item_columns(kind)
    return histogram(bounded(items(log, kind, gap), columns, m), columns, at_least)


def full_histogram(log: ibis.Table, kind: str, gap: int = GAP_SECONDS) -> ibis.Table:
    """The histogram of the original log (003 §2.1): users for each item, nobody bounded."""
    columns = item_columns(kind)
    return histogram(items(log, kind, gap).select("user", *columns).distinct(), columns)


def users_of(log: ibis.Table) -> Any:
    """The number of distinct users, as an expression."""
    return log.user.nunique()
