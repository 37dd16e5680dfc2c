"""What expires is old enough (check 2 of DESIGN 10.4): else any lie would be washed clean by an EXPIRED within seconds.

Events carry no time, so age is counted in epochs, from headers alone: each is vouched for by both services, since MS
opens none without IS's signed word, and IS names none that MS has not opened. Who lies about it needs both.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable
from operator import itemgetter
from typing import Final

from auditor.checks.c2_erasures import Erasures, Expiry
from auditor.findings import GATEWAY, OPENING, Report, Unchecked
from auditor.policies import Policies, spans

EARLY: Final = 2 * 86_400.0
"""Seconds by which things may expire ahead: a gateway says so an hour before, and clocks may be a day apart."""


_SAID: Final = 2
"""Epochs that begin before links that have expired must be said to have: the gateway was there, and looks often."""


def may_be_gone(policies: Policies, epoch: int, event: int, report: Report) -> bool:
    """Whether links of an epoch may have expired when an event of the gateway was recorded, said by then or not."""
    begins = policies.begins[GATEWAY]
    at = bisect_right(begins, event, key=itemgetter(0))
    now = policies.trust.epochs.end(begins[at][1]) + EARLY if at < len(begins) else _now(policies, report)
    return now >= _links_end(policies, epoch)


def goes_unsaid(policies: Policies, epoch: int, report: Report) -> bool:
    """Whether links of an epoch may have expired, and the gateway had no time yet to say so: it or MS was away."""
    end, start = _links_end(policies, epoch), policies.trust.epochs.start
    read = report.scope.hours(policies.trust.witness_lag, 0.0).earliest
    since = sum(start(begun) >= end for begun in policies.told)
    return since < _SAID and max(read, start(max(policies.told, default=0))) + EARLY >= end


def _links_end(policies: Policies, epoch: int) -> float:
    """Unix seconds; infinite by a document that is not known."""
    kept = policies.retention(epoch)
    return math.inf if kept is None else policies.trust.epochs.end(epoch) + kept.links


def check_expiry(policies: Policies, erasures: Erasures, seen: int, report: Report) -> None:
    """At the end: nothing expired that is younger than the auditor's floors; what the policy keeps is `unchecked`.

    Args:
        seen: the gateway's last event before MS's log was read.
    """
    left = []
    for said in erasures.said:
        if said.log == GATEWAY and said.event > seen:
            left.append(said)
            continue
        epoch = said.until if said.kind == "links" else _last(policies, said)
        if epoch is not None and (said.guilty or _is_young(policies, said, epoch)):
            left.append(_judge(policies, said, epoch, report))
    erasures.said[:] = left
    _check_policies(policies, erasures, report)


def _is_young(policies: Policies, said: Expiry, epoch: int) -> bool:
    floors = policies.trust.floors
    floor = floors.links if said.kind == "links" else floors.payloads
    newest = _newest(policies, said.log, said.event, policies.opened if said.log == GATEWAY else None)
    # What both log entries say is right to an epoch.
    return (0 if newest is None else newest - epoch + 1) * policies.trust.epochs.seconds < floor


def _judge(policies: Policies, said: Expiry, epoch: int, report: Report) -> Expiry:
    """Where nobody asked anything there were no epochs: by a clock it may have been time."""
    kept = policies.retention(epoch)
    held = None if kept is None else kept.links if said.kind == "links" else kept.payloads
    text = f"{said.kind} of {spans([epoch])} have expired"
    if not said.guilty and held is not None and _now(policies, report) >= policies.trust.epochs.end(epoch) + held:
        report.missing.append(
            Unchecked(OPENING, said.log, f"{text} before epochs had begun that show that it was time")
        )
        return said
    report.add(OPENING, said.log, said.event, f"EXPIRED: {text} before the auditor's floor lets them")
    return said._replace(guilty=True)


def _now(policies: Policies, report: Report) -> float:
    return report.scope.hours(policies.trust.witness_lag, 0.0).latest + EARLY


def _last(policies: Policies, said: Expiry) -> int | None:
    """The newest epoch of payloads that expired; what stands before the first one in its log is of that one at best."""
    newest, first = _newest(policies, said.log, said.until), next(iter(policies.begins[said.log]), None)
    return first[1] if newest is None and said.until > said.base and first is not None else newest


def _newest(policies: Policies, log: str, number: int, vouched: Iterable[int] | None = None) -> int | None:
    """The newest epoch that had begun at an event of a log."""
    begun = (e for at, e in policies.begins[log] if at <= number and (vouched is None or e in vouched))
    return max(begun, default=None)


def _check_policies(policies: Policies, erasures: Erasures, report: Report) -> None:
    """Nothing is said to have expired that the policy keeps: a clock was wrong, or a service hides it."""
    epochs, links, payloads = policies.trust.epochs, erasures.links, erasures.expired
    now, kept = _now(policies, report), {e: policies.retention(e) for e in policies.named}
    early = [e for e in sorted(links) if (held := kept.get(e)) and now < epochs.end(e) + held.links]
    if early:
        text = f"links of {spans(early)} have expired before the time that the policy sets"
        report.missing.append(Unchecked(OPENING, GATEWAY, text))
    least = min((held.payloads for held in kept.values() if held), default=0.0)
    for log, until in payloads.items():
        newest = _newest(policies, log, until)
        if newest is not None and now < epochs.start(newest) + least:
            text = f"payloads of {spans([newest])} have expired before the time that the policy sets"
            report.missing.append(Unchecked(OPENING, log, text))
