"""Sessions and their order-preserving subsequences as Ibis expressions (004 §3.2.1, steps 1 to 3; DESIGN 13).

A session ends where more than `gap` seconds pass between two queries of a user. Rows of one query in a row (AOL has a
row for each click and each further page of results) are one query of the session. The first l_s sessions of two or
more queries are taken of every user, the first l_q queries of each, and all subsequences of at least two queries of
those; a sequence counts each *user* once, which is within the sensitivity l_s (2^l_q - 1 - l_q) that 004 charges for.
"""

from itertools import combinations
from typing import Final

import ibis

from proxid.errors import ConfigError
from proxid.lab.release.items import GAP_SECONDS, seconds_since_last

LONGEST: Final = 8
"""Largest l_q: 2^8 - 9 = 247 subsequences a session."""


def session_queries(log: ibis.Table, gap: int = GAP_SECONDS) -> ibis.Table:
    """A row for each query of each session: user, session (0, 1, ... by time), place (0, 1, ...), time, query."""
    asked = log.filter(log.query.notnull() & (log.query != ""))
    moments = asked.select("user", "time", "query").distinct()
    order = ibis.window(group_by="user", order_by=["time", "query"])
    near = moments.mutate(before=moments["query"].lag().over(order), since=seconds_since_last(moments, order))
    starts = (near.since.isnull() | (near.since > gap)).cast("int64")
    marked = near.mutate(starts=starts)
    running = ibis.window(group_by="user", order_by=["time", "query"], rows=(None, 0))
    numbered = marked.mutate(session=marked.starts.sum().over(running) - 1)
    kept = numbered.filter((numbered.starts == 1) | (numbered.before != numbered["query"]))
    inside = ibis.window(group_by=["user", "session"], order_by=["time", "query"])
    return kept.select("user", "session", "time", "query", place=ibis.row_number().over(inside))


def bounded_sessions(queries: ibis.Table, l_s: int, l_q: int) -> ibis.Table:
    """The first l_s sessions of two or more queries of every user: user, session, q0 ... q(l_q - 1), null when shorter.

    Raises ConfigError when l_q is not between 2 and LONGEST.
    """
    if not 2 <= l_q <= LONGEST:
        raise ConfigError(f"l_q is between 2 and {LONGEST}: a session of one query is no sequence")
    first = queries.filter(queries.place < l_q)
    wide = first.group_by("user", "session").agg(
        **{f"q{i}": first["query"].max(where=first.place == i) for i in range(l_q)}
    )
    wide = wide.filter(wide.q1.notnull())
    order = ibis.window(group_by="user", order_by="session")
    ranked = wide.mutate(nth=ibis.row_number().over(order))
    return ranked.filter(ranked.nth < l_s).drop("nth")


def subsequences(sessions: ibis.Table, l_q: int) -> ibis.Table:
    """All order-preserving subsequences of at least two queries, once a user: user, sequence (array of queries)."""
    parts = []
    for size in range(2, l_q + 1):
        for places in combinations(range(l_q), size):
            long_enough = sessions.filter(sessions[f"q{places[-1]}"].notnull())
            parts.append(long_enough.select("user", sequence=ibis.array([long_enough[f"q{i}"] for i in places])))
    return ibis.union(*parts, distinct=True) if len(parts) > 1 else parts[0].distinct()


def sequence_histogram(log: ibis.Table, l_s: int, l_q: int, gap: int = GAP_SECONDS) -> ibis.Table:
    """004 steps 1 to 3 and the counts of step 4: sequence and `count`."""
    found = subsequences(bounded_sessions(session_queries(log, gap), l_s, l_q), l_q)
    return found.group_by("sequence").agg(count=found.count())
