"""What has to hold after any schedule, counted from the logs' headers and from what everybody was told."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from auditor.findings import Report
from proxid.clients.subscriber.kept import read_groups
from proxid.evidence.events import decode_header
from proxid.evidence.leaf import LeafHeader
from proxid.runtime.evidence_log.log import SEGMENTS
from proxid.runtime.evidence_log.segments import read_leaves, segment_names
from tests.schedules.play import Taken, Told
from tests.schedules.script import PARTIES

Headers = list[tuple[int, str, dict[str, Any]]]

_CLOCKS: Final = (
    "clock was set back by more than an hour", "its clock was wrong when it promised",
    "whose newest choice it had not been told for more than an hour",
)  # fmt: skip
"""Why an audit may be unchecked: the clock of the service whose log it is was wrong, or a machine slept."""


def headers(data: Path, size: int) -> Headers:
    """Number, type and fields of every event of a service's log."""
    folder = data / "evidence" / SEGMENTS
    if not segment_names(folder):
        return []
    found = (LeafHeader.decode(leaf.header) for leaf in read_leaves(folder, 1, size + 1))
    return [(one.number, one.type.value, decode_header(one.fields)) for one in found]


def counted_once(told: Told, gateway: Headers, service: Headers) -> Iterator[str]:
    """Every acknowledged request is exactly once in the evidence."""
    seen: dict[str, Counter[str]] = {}
    for _, kind, fields in (*gateway, *service):
        if "session" in fields:
            seen.setdefault(kind, Counter())[fields["session"]] += 1
    for kind in ("FORWARDED", "ANSWERED", "RECEIVED"):
        wrong = Counter(seen.get(kind, Counter())[session.hex()] for session in told.answered)
        yield from (f"{n} answered requests are {times} times {kind}" for times, n in wrong.items() if times != 1)
    for name, log in (("gateway", gateway), ("main-service", service)):
        if [number for number, *_ in log] != list(range(1, len(log) + 1)):
            yield f"numbers of the log of {name} have gaps"


def groups_once(folder: Path, gateway: Headers, service: Headers) -> Iterator[str]:
    """No group twice: formed, delivered, or kept by a party."""
    named: dict[str, Counter[Any]] = {"RELEASED": Counter(), "DELIVERED": Counter()}
    for _, kind, fields in (*gateway, *service):
        if kind in named:
            named[kind][fields["epoch"], fields["group"], fields.get("party"), fields.get("audience")] += 1
    for kind, found in named.items():
        yield from (f"{kind} {times} times: {place}" for place, times in found.items() if times > 1)
    for party in PARTIES:
        kept = Counter((row["epoch"], row["group"]) for row in _kept(folder, party))
        yield from (f"{party} keeps {place} {times} times" for place, times in kept.items() if times > 1)


def kept_back(told: Told, folder: Path, gateway: Headers) -> Iterator[str]:
    """Nothing of who withdrew, objects or was erased is sent or accepted after the acknowledgement."""
    last: dict[tuple[str, int, int], int] = {}
    for number, kind, fields in gateway:
        if kind in {"SENT", "DELIVERED"}:
            last[fields["party"], fields["epoch"], fields["group"]] = number
    for party in PARTIES:
        for row in _kept(folder, party):
            place = (row["epoch"], row["group"])
            names = {record["user"] for record in row.get("records", ())}
            for taken in told.taken:
                if taken.party == party and taken.person in names and taken.epochs[0] <= place[0] <= taken.epochs[1]:
                    yield from _late(taken, last.get((party, *place), 0), told)


def _late(taken: Taken, number: int, told: Told) -> Iterator[str]:
    if taken.after < number < told.until.get(taken, number + 1):
        yield f"{taken} and sent at {number}, before {told.until.get(taken)}"


def _kept(folder: Path, party: str) -> list[dict[str, Any]]:
    path = folder / f"parties/{party}/data/feed.jsonl"
    return read_groups(path) if path.exists() else []


def audited(report: Report, told: Told) -> Iterator[str]:
    """An honest history is clean, or unchecked for a reason that a wrong clock explains."""
    yield from (f"audit: {v.log} {v.event}, check {v.rule}: {v.text}" for v in report.violations[:5])
    for reason in report.reasons:
        explained = told.leapt or reason.log in told.clocks
        if not (explained and any(words in reason.text for words in _CLOCKS)):
            yield f"audit unchecked: {reason.log} {reason.rule}: {reason.text}"
