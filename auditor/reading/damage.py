"""Leaves that a service can no longer show (check 1 of DESIGN 10.4): what rests on them is unchecked, on either side.

A damaged leaf comes as its hash alone, so that the rest of the log is held against the signed head as always. An
operator admits damage by DAMAGED. Such leaves are counted and named, and the audit is `unchecked` for good: never
clean, so that nobody hides behind them, and no violation, so that nobody is accused of what a disk did. But who has not
admitted it for a week after an audit has said so, and cannot show the leaf either, says that it need not be seen.
Findings that may come from a leaf that is missing are told as such; those that cannot stay violations.
"""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from auditor.findings import GATEWAY, HEADS, MAIN_SERVICE, Report, Unchecked, Violation
from auditor.scope import Hours
from proxid.errors import EncodingError
from proxid.evidence.events import Event

ADMITTED_WITHIN: Final = 7 * 86_400.0
"""Seconds after an audit first saw damage until when its service has admitted it, or put the file back."""
LISTED: Final = 100
"""Findings that are told one by one; the rest is counted."""
_OPEN_END: Final = 1 << 62


@dataclass(slots=True)
class Damage:
    """Damaged leaves of one log.

    Attributes:
        lost: leaves without their header, rising. given_up: ends of logs that a successor follows, as first and last
            leaf: how long they are is the service's word. payloads: leaves without their payload, rising.
        admitted: first and last leaf and reason of each DAMAGED.
        forgot: numbers of SUCCEEDED that admit that the service's store was lost.
        hidden: a successor hides leaves, which is a violation of its own.
        keys: the service keeps the evidence keys, so that what it forgets may hide what came before.
        seen: damaged leaves that were not admitted → Unix seconds at which an audit first saw that.
    """

    lost: list[int] = field(default_factory=list)
    given_up: list[tuple[int, int]] = field(default_factory=list)
    payloads: list[int] = field(default_factory=list)
    admitted: list[tuple[int, int, str]] = field(default_factory=list)
    forgot: list[int] = field(default_factory=list)
    hidden: bool = False
    keys: bool = False
    seen: dict[int, float] = field(default_factory=dict)

    def admit(self, event: Event, base: int) -> None:
        """DAMAGED in a log before which there are `base` entries; raises EncodingError."""
        first, last = (base + int(str(event.fields[name])) for name in ("first", "last"))
        if not base < first <= last < event.number:
            raise EncodingError("damage is admitted of leaves that were not there")
        self.admitted.append((first, last, str(event.fields["reason"])))

    def give_up(self, numbers: range) -> None:
        """The end of a log that a successor follows, whose first leaf admits it by naming a head beyond."""
        self.given_up.append((numbers[0], numbers[-1]))
        self.admitted.append((numbers[0], numbers[-1], "a successor log was begun"))

    def covers(self, first: int, end: int) -> bool:
        """Whether all of some leaves, `first` … `end`−1, are without their header."""
        there = bisect_left(self.lost, end) - bisect_left(self.lost, first)
        there += sum(max(0, min(end, last + 1) - max(first, begin)) for begin, last in self.given_up)
        return there == end - first

    def is_lost(self, last: int | None) -> bool:
        """Whether the successor of a log that ends with a leaf admits that its end was lost, or the store beside it.

        Args:
            last: number of that leaf; None if it is not known.
        """
        return last is not None and (last + 1 in self.forgot or any(end == last for _, end in self.given_up))

    def take_over(self, other: "Damage") -> None:
        """Go on from what an earlier audit found."""
        self.lost[:], self.payloads[:], self.admitted[:] = other.lost, other.payloads, other.admitted
        self.given_up[:] = other.given_up
        self.forgot[:], self.hidden = other.forgot, other.hidden
        self.seen = other.seen

    @property
    def first(self) -> int:
        """Number of the first leaf that is damaged; beyond every log if there is none.

        What was admitted and can be read all the same explains nothing: nobody hides behind a word.
        """
        begins = (*self.lost[:1], *self.payloads[:1], *(first for first, _ in self.given_up))
        forgot = [1] if self.forgot and self.keys else self.forgot
        return 1 if self.hidden else min((*begins, *forgot), default=_OPEN_END)

    def _silent(self, numbers: list[int]) -> list[int]:
        return [n for n in numbers if not any(first <= n <= last for first, last, _ in self.admitted)]

    def overdue(self, hours: Hours) -> list[int]:
        """Leaves, rising, that an audit saw damaged long before what time it may be, and that nobody admitted."""
        silent = sorted({*self._silent(self.lost), *self._silent(self.payloads)})
        self.seen = {number: self.seen.get(number, hours.latest) for number in silent}
        return [number for number in silent if hours.earliest - self.seen[number] > ADMITTED_WITHIN]

    def reasons(self, log: str) -> list[Unchecked]:
        """What could not be checked."""
        found = [
            Unchecked(HEADS, log, f"leaves {_range(first, last)} are damaged, as the service admits ({reason})")
            for first, last, reason in self.admitted
        ]
        found += [
            Unchecked(HEADS, log, f"the service's store was lost before leaf {number}, as the service admits")
            for number in self.forgot
        ]
        for numbers, what in ((self.lost, "damaged"), (self.payloads, "without their payload, which is damaged")):
            silent = self._silent(numbers)
            if silent:
                text = f"{len(silent)} leaves are {what}, the first of them leaf {silent[0]}"
                found.append(Unchecked(HEADS, log, f"{text}; the service has not admitted that"))
        return found


def _range(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def excuse_read(report: Report, damage: dict[str, Damage], before: int) -> None:
    """Findings made while the logs were read: those that an earlier leaf may explain, had it been there.

    The gateway's log is read first and from itself alone; the Main Service's rests on all of the gateway's.

    Args:
        before: violations that earlier audits found: they stay.
    """
    gateway, service = damage[GATEWAY].first, damage[MAIN_SERVICE].first
    until = {GATEWAY: gateway, MAIN_SERVICE: service if gateway == _OPEN_END else 0}
    _excuse(report, before, lambda v: 0 < v.event < until.get(v.log, _OPEN_END) or (v.event == 0 and not _any(damage)))


def excuse_compared(report: Report, damage: dict[str, Damage], before: int) -> None:
    """Findings made by comparing the whole of both logs with each other and with what others hold."""
    _excuse(report, before, lambda _: not _any(damage))


def _any(damage: dict[str, Damage]) -> bool:
    return any(log.first != _OPEN_END for log in damage.values())


def _excuse(report: Report, before: int, stays: Callable[[Violation], bool]) -> None:
    found = [(v, v.rule == HEADS or v.firm or stays(v)) for v in report.violations[before:]]
    kept, moved = ([v for v, holds in found if holds is wanted] for wanted in (True, False))
    report.violations[before:] = kept
    report.missing += [
        Unchecked(v.rule, v.log, f"leaf {v.event}: {v.text}; what was damaged or lost may explain it")
        for v in moved[:LISTED]
    ]
    report.counts["leaves.may_explain"] += len(moved)


def count(report: Report, damage: dict[str, Damage]) -> None:
    """What is damaged, in the report."""
    for log, found in damage.items():
        report.missing += found.reasons(log)
        report.counts["leaves.damaged"] += len({*found.lost, *found.payloads})
        report.counts["leaves.damaged"] += sum(last - first + 1 for first, last in found.given_up)
        report.counts["leaves.admitted"] += sum(last - first + 1 for first, last, _ in found.admitted)
