"""Completeness by sets, not counts (check 7 of DESIGN 10.4).

FORWARDED = RECEIVED ∪ REFUSED ∪ UNREACHED (∪ still open)
RECEIVED  = released ∪ suppressed ∪ withdrawn ∪ waiting (∪ not yet taken up)
RELEASED × its audience's parties = DELIVERED ∪ DROPPED ∪ pending
"""

from collections import Counter
from dataclasses import dataclass, field

from auditor.report import COMPLETENESS, GATEWAY, MAIN_SERVICE, Report

Delivery = tuple[int, int, str]
"""Epoch, group, party."""


@dataclass(slots=True)
class Sets:
    """What both logs name: sessions in hexadecimal, deliveries by epoch, group and party.

    Attributes:
        forwarded: session → time of the request (Unix ms).
        ended: session → how it left the pool or why it never entered it.
    """

    forwarded: dict[str, int] = field(default_factory=dict)
    answered: set[str] = field(default_factory=set)
    unreached: set[str] = field(default_factory=set)
    received: dict[str, int] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    buffered: set[str] = field(default_factory=set)
    ended: dict[str, str] = field(default_factory=dict)
    released: set[Delivery] = field(default_factory=set)
    delivered: set[Delivery] = field(default_factory=set)
    dropped: dict[Delivery, str] = field(default_factory=dict)


def check(sets: Sets, now_ms: int, settle_ms: int, report: Report) -> None:
    """Compare the sets; requests younger than `settle_ms` may still be under way."""
    _requests(sets, now_ms - settle_ms, report)
    _records(sets, now_ms - settle_ms, report)
    _deliveries(sets, report)


def _requests(sets: Sets, settled: int, report: Report) -> None:
    for session, time_ms in sets.forwarded.items():
        report.checked[COMPLETENESS] += 1
        if session in sets.received or session in sets.refused or session in sets.unreached:
            continue
        if session in sets.answered:
            report.add(COMPLETENESS, MAIN_SERVICE, 0, "an answered request was never received")
        elif time_ms < settled:
            report.add(COMPLETENESS, MAIN_SERVICE, 0, "a forwarded request was neither received, refused nor unreached")
    for session in sets.received:
        if session not in sets.forwarded:
            report.add(COMPLETENESS, GATEWAY, 0, "a received request was never forwarded")


def _records(sets: Sets, settled: int, report: Report) -> None:
    for session, time_ms in sets.received.items():
        report.checked[COMPLETENESS] += 1
        if session in sets.ended or session in sets.buffered or time_ms >= settled:
            continue
        report.add(COMPLETENESS, MAIN_SERVICE, 0, "a received request was neither logged nor said not to be")
    for session in sets.ended:
        if session not in sets.received:
            report.add(COMPLETENESS, MAIN_SERVICE, 0, "a record was logged whose request was never received")


def _deliveries(sets: Sets, report: Report) -> None:
    for delivery in sets.released:
        report.checked[COMPLETENESS] += 1
        if delivery in sets.delivered and delivery in sets.dropped:
            report.add(COMPLETENESS, GATEWAY, 0, "a group was both delivered and dropped")
    for delivery in (*sets.delivered, *sets.dropped):
        if delivery not in sets.released:
            report.add(COMPLETENESS, GATEWAY, 0, "a group was delivered or dropped that was never released")


def summarise(sets: Sets, counts: Counter[str]) -> None:
    """Counts by fate, for people."""
    counts["requests"] = len(sets.forwarded)
    counts["received"] = len(sets.received)
    counts["released"] = sum(1 for fate in sets.ended.values() if fate == "released")
    counts["waiting"] = sum(1 for session in sets.buffered if session not in sets.ended)
    counts["groups"] = len({(epoch, group) for epoch, group, _ in sets.released})
    counts["deliveries"] = len(sets.delivered)
    counts["dropped"] = len(sets.dropped)
    counts["pending"] = len(sets.released - sets.delivered - set(sets.dropped))
    for fate in sets.ended.values():
        if fate != "released":
            counts[f"withheld.{fate}"] += 1
