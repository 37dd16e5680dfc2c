"""What services promised (check 9 of DESIGN 10.4): it stands where they said, and their logs were signed in time.

    (a) what a promise names stands at its number, of the type and of what was asked
    (b) of two promises of one log, the later one's head covers what was promised a merge delay before
    (c) the head that it holds is a beginning of the log (check 1)

Clocks may move by the skew before they are doubted, so that much is allowed for. What is late alone is counted.
Heads only grow: where they contradict the times of promises a clock was wrong for a while, which is no lie, and what
was promised then is in no order that (b) could go by.
"""

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from auditor.checks.c7_completeness import Sets
from auditor.checks.c9_recent import Recent
from auditor.event_log import Log
from auditor.findings import RECEIPTS, Report, Unchecked
from auditor.generations import ReadLog
from auditor.trust import Trust
from proxid.errors import EncodingError, NoteInvalidError
from proxid.evidence.checkpoint import Checkpoint, generation_of, origin
from proxid.evidence.note import Verifier
from proxid.evidence.promise import MERGE_SECONDS, Promise
from proxid.evidence.promise import opened as opened_head

LOGS: Final = ("gateway", "main-service")


def opened(data: bytes, trust: Trust) -> tuple[Promise, str, Checkpoint]:
    """A promise that a service gave, whose log it is of, and its head; raises ProxidError."""
    promise = Promise.decode(data)
    for log, key in zip(LOGS, (trust.screener, trust.service_key), strict=True):
        first = Verifier(origin(trust.service, log), key)
        if generation_of(promise.log, first.name):
            return promise, log, promise.verify(first)
    raise NoteInvalidError("promise is of no log that is audited")


@dataclass(slots=True)
class _Given:
    """A promise as it was read: time and size of its head, and the entry that it names, in its own log."""

    time_ms: int
    size: int
    number: int


@dataclass
class Promised:
    """Compares promises with the logs.

    Attributes:
        logs, reads: of both services. recent: which promises are too new to be missed.
        slack: milliseconds by which a service's clock may move.
    """

    trust: Trust
    sets: Sets
    logs: dict[str, ReadLog]
    report: Report
    recent: Recent
    slack: int
    _given: dict[str, list[_Given]] = field(default_factory=dict)
    _heads: dict[str, set[bytes]] = field(default_factory=dict)

    def take(self, data: bytes, late: bool = False) -> None:
        """One promise: (a); raises ProxidError if no service gave it.

        Args:
            late: it was not there yet when the audit began.
        """
        promise, log, head = opened(data, self.trust)
        read = self.logs[log]
        generation = generation_of(promise.log, read.first.name)
        if promise.number < 1:
            raise EncodingError("promise names no entry")
        if promise.log == head.origin:
            self._given.setdefault(promise.log, []).append(_Given(promise.time_ms, head.size, promise.number))
        self._heads.setdefault(log, set()).add(promise.head)
        self._compare(read, generation, promise, late)

    def is_kept(self, data: bytes) -> bool:
        """One promise, as `take`; whether what it names stands there."""
        promise, log, _ = opened(data, self.trust)
        self.take(data)
        base = self.logs[log].entries_before(generation_of(promise.log, self.logs[log].first.name))
        stands = None if base is None else self.sets.promisable.at(log, base + promise.number)
        return stands == (promise.type, promise.asked)

    def shown(self, note: bytes, time_ms: int) -> None:
        """The newest head of the main service's log at a time, as it says with an answer; raises NoteInvalidError."""
        read = self.logs[LOGS[1]]
        head, _ = opened_head(note, read.first)
        self._given.setdefault(head.origin, []).append(_Given(time_ms, head.size, 0))
        self._heads.setdefault(LOGS[1], set()).add(note)

    def _compare(self, read: ReadLog, generation: int, promise: Promise, late: bool) -> None:
        if generation > read.generation:
            return  # its head shows a log that is not shown
        log, base = read.log, read.entries_before(generation)
        if base is None:
            text = "a promise is of a log whose end is not known"
            self.report.missing.append(Unchecked(RECEIPTS, log.name, text))
            return
        place, end = base + promise.number, read.entries_before(generation + 1)
        if self.sets.promisable.at(log.name, place) == (promise.type, promise.asked) and not (end and place > end):
            return
        if end is not None and place > end:
            self._moved(log, promise, place)
        elif place >= log.next_number:
            self._late(log, promise, late)
        elif not log.damage.covers(place, place + 1):
            text = f"a {promise.type} was promised at entry {promise.number}, where something else stands"
            self.report.add(RECEIPTS, log.name, place, text)

    def _moved(self, log: Log, promise: Promise, place: int) -> None:
        if self.sets.promisable.anywhere(log.name, promise.type, promise.asked):
            return
        text = f"a {promise.type} was promised that a successor log does not have"
        if log.damage.forgot:
            self.report.missing.append(Unchecked(RECEIPTS, log.name, text))
        else:
            self.report.add(RECEIPTS, log.name, place, text)

    def _late(self, log: Log, promise: Promise, late: bool) -> None:
        if self.recent.holds(promise.time_ms, self.slack + MERGE_SECONDS * 1000, late):
            self.report.counts["promises.late"] += 1
        else:
            text = f"a {promise.type} was promised at entry {promise.number}, which the log does not have"
            self.report.add(RECEIPTS, log.name, 0, text)

    def finish(self) -> None:
        """(b) and (c) of all that were taken."""
        for name, given in self._given.items():
            log = LOGS[0] if generation_of(name, self.logs[LOGS[0]].first.name) else LOGS[1]
            delay = int(MERGE_SECONDS * 1000) + self.slack
            if (numbers := late(given, delay)) is not None:
                text = (
                    "entry {} was promised, and not in the head of {} entries that was the newest a merge delay later"
                )
                self.report.add(RECEIPTS, log, numbers[0], text.format(*numbers))
            elif late_by_time(given, delay) is not None:
                text = "its clock was wrong when it promised: the heads of its promises rise, their times do not"
                self.report.missing.append(Unchecked(RECEIPTS, log, text))
        for log, heads in self._heads.items():
            for head in sorted(heads):
                digest = hashlib.sha256(head).digest()
                if not self.sets.promisable.is_known_head(digest) and self.logs[log].compare(head):
                    self.sets.promisable.know_head(digest)


def late(given: Iterable[_Given], delay_ms: int) -> tuple[int, int] | None:
    """An entry that was promised more than a delay before a head that lacks it, and that head's size; None if none.

    Promises whose time their head contradicts are left out.
    """
    return late_by_time(_in_order(given, delay_ms), delay_ms)


def _in_order(given: Iterable[_Given], delay_ms: int) -> list[_Given]:
    """Those that have no smaller head than one from before, nor a larger one than one from afterwards."""
    ordered = sorted(given, key=lambda one: one.time_ms)
    wrong: set[int] = set()
    at = largest = 0
    for number, one in enumerate(ordered):
        while ordered[at].time_ms + delay_ms < one.time_ms:
            largest = max(largest, ordered[at].size)
            at += 1
        if one.size < largest:
            wrong.add(number)
    at, smallest = len(ordered) - 1, math.inf
    for number, one in reversed(list(enumerate(ordered))):
        while one.time_ms + delay_ms < ordered[at].time_ms:
            smallest = min(smallest, ordered[at].size)
            at -= 1
        if one.size > smallest:
            wrong.add(number)
    return [one for number, one in enumerate(ordered) if number not in wrong]


def late_by_time(given: Iterable[_Given], delay_ms: int) -> tuple[int, int] | None:
    """The same of all of them, as their times say."""
    ordered = sorted(given, key=lambda one: one.time_ms)
    at = most = 0
    for later in ordered:
        while ordered[at].time_ms + delay_ms < later.time_ms:
            most = max(most, ordered[at].number)
            at += 1
        if later.size < most:
            return most, later.size
    return None
