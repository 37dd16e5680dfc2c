"""What the sets of both logs must say of each other (check 7 of DESIGN 10.4).

What a service owes it must have done by a time at which it was demonstrably at work, as what people asked of it since
shows that it received: one that was away had no time for it. Until then what is old by the clock is `unchecked`. So is
all of it once epochs went by a policy that is not known: nobody knows by how much it lets clocks differ.
"""

import math
from heapq import heappop, heappush
from typing import Final, NamedTuple

from auditor.checks.c7_completeness import Sets
from auditor.findings import COMPLETENESS, GATEWAY, MAIN_SERVICE, Report, Unchecked
from proxid.errors import EvidenceOlderError
from proxid.protocol.request import ANSWERED, HELD

OWED_SECONDS: Final = ANSWERED + HELD + 60.0
"""Besides the skew of two clocks: for so long people may ask while a request is owed something."""
_APART_MS: Final = 300_000
"""Between two requests that show a service at work, which may be killed between any two steps."""
_PAGE: Final = 1 << 16
"""Requests that are looked at at a time."""
_NEVER: Final = 1 << 62
_NAMED: Final = 20
"""Violations of one kind that are listed; the rest is counted."""

_UNRECEIVED = "FROM sessions WHERE forwarded IS NOT NULL AND received IS NULL AND refused IS NULL AND unreached IS NULL"
_NOWHERE = f"{_UNRECEIVED} AND answered IS NULL"
_UNFILED = "FROM sessions WHERE received IS NOT NULL AND fate IS NULL AND buffered IS NULL"
_ANSWERED = "FROM sessions WHERE forwarded IS NOT NULL AND received IS NULL AND answered<=:seen"
_RULES: Final = (
    (GATEWAY, "a party got other records than were released to it",
     "FROM deliveries d JOIN shown USING (epoch, grp, party) WHERE differs=1", "COALESCE(d.delivered, d.dropped)"),
    (GATEWAY, "the logs name different audiences of entries or contents", "FROM deliveries WHERE told<>audience",
     "COALESCE(sent, delivered, dropped)"),
    (MAIN_SERVICE, "an answered request was never received",
     f"{_ANSWERED} AND COALESCE(unreached, 2)>1", "forwarded_at"),
    (MAIN_SERVICE, "a request was both refused and received",
     "FROM sessions WHERE received IS NOT NULL AND refused>1", "received_at"),
    (MAIN_SERVICE, "a forwarded request was neither received, refused nor unreached",
     f"{_NOWHERE} AND forwarded_at<=:forwarded", "forwarded_at"),
    (GATEWAY, "a received request was never forwarded",
     "FROM sessions WHERE received IS NOT NULL AND forwarded IS NULL", "received_at"),
    (GATEWAY, "a refused request was never forwarded", "FROM sessions WHERE refused IS NOT NULL AND forwarded IS NULL",
     "0"),
    (MAIN_SERVICE, "a received request was neither logged nor said not to be",
     f"{_UNFILED} AND received_at<=:received", "received_at"),
    (MAIN_SERVICE, "a record was logged whose request was never received",
     "FROM sessions WHERE fate IS NOT NULL AND received IS NULL", "ended_at"),
    (GATEWAY, "a group was both delivered and dropped",
     "FROM deliveries WHERE delivered IS NOT NULL AND dropped IS NOT NULL", "delivered"),
    (GATEWAY, "a group was sent, delivered or dropped that was never released",
     "FROM deliveries WHERE released IS NULL AND COALESCE(sent, delivered, dropped)<=:seen",
     "COALESCE(sent, delivered, dropped)"),
)  # fmt: skip
_UNANSWERED: Final = "FROM sessions WHERE answered IS NULL AND refused IS NULL AND forwarded<:settled"
_OLDER: Final = (
    ("answered requests may have been received or not", f"{_ANSWERED} AND unreached=1"),
    ("requests were refused and, at another try, received", "FROM sessions WHERE received IS NOT NULL AND refused=1"),
)
"""What entries of earlier versions, which say less, leave open."""
_WAITING: Final = (
    ("forwarded requests were neither received, refused nor unreached",
     f"{_NOWHERE} AND forwarded_at>:forwarded AND forwarded_at<=:old_forwarded"),
    ("received requests were neither logged nor said not to be",
     f"{_UNFILED} AND received_at>:received AND received_at<=:old_received"),
)  # fmt: skip
"""What is owed for long by the clock, of a service that may have been away."""
_AWAY: Final = "and nobody has asked for long enough since"
_UNKNOWN: Final = "and epochs went by a policy that is not accepted, which may say that clocks differ by as much"


class Times(NamedTuple):
    """Unix milliseconds, and a span of them.

    Attributes:
        now: up to which the logs were read. settled: requests of a later time may still be under way.
        owed: for so long people may ask while a request is owed something; infinite if a policy is not known.
        known: the same, by the policies that are known.
    """

    now: int
    settled: int
    owed: float
    known: float


def check(sets: Sets, times: Times, seen: int, report: Report) -> None:
    """Compare the sets.

    Args:
        seen: the gateway's last event before MS's log was read; what came after it may follow from something that MS
            recorded later.
    """
    for table in ("sessions", "deliveries"):
        report.checked[COMPLETENESS] += sets.rows(f"SELECT COUNT(*) FROM {table}")[0][0]  # noqa: S608
    values = {"settled": times.settled, "seen": seen, **_last_owed(sets, times)}
    for log, text, where, event in _RULES:
        found = sets.rows(f"SELECT {event} {where} LIMIT {_NAMED + 1}", values)
        for (number,) in found[:_NAMED]:
            report.add(COMPLETENESS, log, number or 0, text)
        if len(found) > _NAMED:
            total = sets.rows(f"SELECT COUNT(*) {where}", values)[0][0]
            report.add(COMPLETENESS, log, 0, f"{text} (and {total - _NAMED} more)")
    report.counts["unanswered"] = sets.rows(f"SELECT COUNT(*) {_UNANSWERED}", values)[0][0]
    for text, where in _WAITING:
        total = sets.rows(f"SELECT COUNT(*) {where}", values)[0][0]
        if total:
            since = _AWAY if times.owed < math.inf else _UNKNOWN
            report.missing.append(Unchecked(COMPLETENESS, MAIN_SERVICE, f"{total} {text}, {since}"))
    for text, where in _OLDER:
        total = sets.rows(f"SELECT COUNT(*) {where}", values)[0][0]
        if total:
            code = EvidenceOlderError.code.value
            report.missing.append(Unchecked(COMPLETENESS, MAIN_SERVICE, f"{total} {text}", code))


def _last_owed(sets: Sets, times: Times) -> dict[str, int]:
    """The last event of what must be done by now: as its service was at work and, as `old_`, by the clock."""
    found = dict[str, int]()
    for column, owed in (("forwarded", _NOWHERE), ("received", _UNFILED)):
        first = sets.rows(f"SELECT COALESCE(MIN({column}_at), 0) {owed}")[0][0]
        found[column] = _owed_at_work(sets, times, column, first) if first else 0
        last = f"SELECT COALESCE(MAX({column}_at), 0) FROM sessions WHERE {column} BETWEEN 1 AND :until"  # noqa: S608
        found[f"old_{column}"] = sets.rows(last, {"until": times.now - times.known})[0][0]
    return found


def _owed_at_work(sets: Sets, times: Times, column: str, first: int) -> int:
    """The last event behind which people asked for as long as something may be owed, from event `first` on; 0: none.

    That is so long between requests behind it: clocks may have gone back since, or been set ahead, and what was never
    received, or was refused, may say any time. What MS received it found fresh.
    """
    apart, before = max(0.0, min(_APART_MS, times.owed)), _NEVER
    page = (
        f"SELECT {column}_at, {column} FROM sessions WHERE {column} BETWEEN 1 AND :now "  # noqa: S608 - one of two names
        f"AND {column}_at>=:first AND {column}_at<:before AND (received IS NOT NULL OR :owed<=0) "
        f"ORDER BY {column}_at DESC LIMIT {_PAGE}"
    )
    newest, at_work = 0, 0
    later: list[int] = []  # a heap of those that are not that far before the newest
    while rows := sets.rows(page, {"now": times.now, "first": first, "before": before, "owed": times.owed}):
        for event, time in rows:
            newest = max(newest, time)
            heappush(later, time)
            while later and later[0] <= newest - apart:
                at_work = max(at_work, heappop(later))
            if time <= at_work - times.owed:
                return event - (times.owed > 0)
            before = event
    return 0
