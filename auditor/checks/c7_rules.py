"""What the sets of both logs must say of each other (check 7 of DESIGN 10.4)."""

from typing import Final

from auditor.checks.c7_completeness import Sets
from auditor.findings import COMPLETENESS, GATEWAY, MAIN_SERVICE, Report, Unchecked
from proxid.errors import EvidenceOlderError

_NAMED: Final = 20
"""Violations of one kind that are listed; the rest is counted."""

_UNRECEIVED = "FROM sessions WHERE forwarded IS NOT NULL AND received IS NULL AND refused IS NULL AND unreached IS NULL"
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
     f"{_UNRECEIVED} AND answered IS NULL AND forwarded<:settled", "forwarded_at"),
    (GATEWAY, "a received request was never forwarded",
     "FROM sessions WHERE received IS NOT NULL AND forwarded IS NULL", "received_at"),
    (GATEWAY, "a refused request was never forwarded", "FROM sessions WHERE refused IS NOT NULL AND forwarded IS NULL",
     "0"),
    (MAIN_SERVICE, "a received request was neither logged nor said not to be",
     "FROM sessions WHERE received IS NOT NULL AND fate IS NULL AND buffered IS NULL AND received<:settled",
     "received_at"),
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


def check(sets: Sets, settled_ms: int, seen: int, report: Report) -> None:
    """Compare the sets.

    Args:
        settled_ms: requests of a later time may still be under way. seen: the gateway's last event before MS's log was
            read; what came after it may follow from something that MS recorded later.
    """
    for table in ("sessions", "deliveries"):
        report.checked[COMPLETENESS] += sets.rows(f"SELECT COUNT(*) FROM {table}")[0][0]  # noqa: S608
    values = {"settled": settled_ms, "seen": seen}
    for log, text, where, event in _RULES:
        found = sets.rows(f"SELECT {event} {where} LIMIT {_NAMED + 1}", values)
        for (number,) in found[:_NAMED]:
            report.add(COMPLETENESS, log, number or 0, text)
        if len(found) > _NAMED:
            total = sets.rows(f"SELECT COUNT(*) {where}", values)[0][0]
            report.add(COMPLETENESS, log, 0, f"{text} (and {total - _NAMED} more)")
    report.counts["unanswered"] = sets.rows(f"SELECT COUNT(*) {_UNANSWERED}", values)[0][0]
    for text, where in _OLDER:
        total = sets.rows(f"SELECT COUNT(*) {where}", values)[0][0]
        if total:
            code = EvidenceOlderError.code.value
            report.missing.append(Unchecked(COMPLETENESS, MAIN_SERVICE, f"{total} {text}", code))
