"""What 004 counts on an engine: session subsequences, and the first l clicks of every user."""

import ibis

from proxid.lab.release.items import items


def first_clicks(log: ibis.Table, limit: int) -> ibis.Table:
    """The first `limit` click records of every user (004 §3.2.2 step 1): user, query, url, once each."""
    clicks = items(log, "clicks")
    order = ibis.window(group_by="user", order_by=["time", "query", "url"])
    ranked = clicks.mutate(place=ibis.row_number().over(order))
    return ranked.filter(ranked.place < limit).select("user", "query", "url").distinct()


def click_histogram(log: ibis.Table, limit: int) -> ibis.Table:
    """How many users have each (query, URL) among their first `limit` clicks: query, url, count."""
    kept = first_clicks(log, limit)
    return kept.group_by("query", "url").agg(count=kept.count())


def click_users(log: ibis.Table, over: int) -> ibis.Table:
    """How many users have each (query, URL), nobody bounded, where that is more than `over` (004 §5.1, KA)."""
    kept = items(log, "clicks").select("user", "query", "url").distinct()
    counted = kept.group_by("query", "url").agg(count=kept.count())
    return counted.filter(counted["count"] > over)
