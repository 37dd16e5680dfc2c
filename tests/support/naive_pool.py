"""The rules of the pool (DESIGN 8.4-8.7) in the plainest form, as slow as that is: an oracle for the real ones."""

import math
from collections.abc import Collection
from dataclasses import dataclass

from proxid.anonymise.mix.settings import Settings
from proxid.anonymise.mix.types import (
    Group,
    Member,
    Outcome,
    Raised,
    Reason,
    Record,
    Rung,
    Step,
    Submission,
    Suppressed,
    WaitingRecord,
)
from proxid.errors import InputError, PoolClosedError


@dataclass
class Entry:
    """A waiting record: its place in its audience's order, its node, when it came there (arrivals, clock, turn)."""

    record: Record
    arrival: int
    node: tuple[str, ...]
    entered: int
    time: float
    turn: int
    raised: bool = False


class NaivePool:
    """One list of everything that waits."""

    def __init__(self, settings: Settings) -> None:
        self.s = settings
        self.list: list[Entry] = []
        self.audiences: list[str] = []
        self.arrivals: dict[str, int] = {}
        self.ids: set[bytes] = set()
        self.people: dict[str, bool] = {}
        self.texts: set[tuple[str, str, bytes]] = set()
        self.issues: set[tuple[str, bytes, str]] = set()
        self.clock = 0.0
        self.turns = 0
        self.number = 0
        self.closed = False

    def submit(self, record: Record) -> Submission:
        if self.closed:
            raise PoolClosedError("closed")
        if record.id in self.ids:
            return Submission(Outcome.DUPLICATE)
        if self.people.setdefault(record.person, record.seasoned) != record.seasoned:
            raise InputError("season")
        self.ids.add(record.id)
        node, text = record.path[: self.s.level], record.units[:1]
        if text and (record.audience, record.person, text[0]) in self.texts:
            return Submission(Outcome.REPEATED)
        if self.is_full(record, node):
            return Submission(Outcome.CAPPED)
        self.clock = max(self.clock, record.time)
        if record.audience not in self.audiences:
            self.audiences.append(record.audience)
        arrival = self.arrivals[record.audience] = self.arrivals.get(record.audience, 0) + 1
        self.turns += 1
        self.list.append(Entry(record, arrival, node, arrival, self.clock, self.turns))
        if text:
            self.texts.add((record.audience, record.person, text[0]))
        if record.seasoned:
            self.issues |= {(record.audience, unit, record.person) for unit in record.units}
        return Submission(Outcome.BUFFERED, tuple(self.form(record.audience, node)))

    def tick(self, now: float, limit: int) -> Step:
        clock = max(self.clock, now)
        raised, suppressed, groups = [], [], []
        while (entry := self.next_due(clock)) is not None:
            if len(raised) + len(suppressed) == limit:
                return Step(tuple(raised), tuple(suppressed), tuple(groups), True)
            self.clock = clock
            source, target = entry.node, entry.node[:-1]
            if not source or self.is_full(entry.record, target):
                self.list.remove(entry)
                suppressed.append(Suppressed(entry.record.id, Reason.CAPPED if source else Reason.EXPIRED))
                continue
            self.turns += 1
            entry.node, entry.raised, entry.turn = target, True, self.turns
            entry.entered, entry.time = self.arrivals[entry.record.audience], self.clock
            raised.append(Raised(entry.record.id, source, target))
            groups += self.form(entry.record.audience, target)
        return Step(tuple(raised), tuple(suppressed), tuple(groups))

    def withdraw(self, person: str, audiences: Collection[str] | None = None) -> tuple[bytes, ...]:
        gone = []
        for name in self.audiences:
            for entry in sorted(self.list, key=lambda entry: entry.arrival):
                record = entry.record
                if record.audience == name and record.person == person and (audiences is None or name in audiences):
                    self.list.remove(entry)
                    gone.append(record.id)
        return tuple(gone)

    def close(self, limit: int) -> Step:
        self.closed = True
        order = [e for name in self.audiences for e in sorted(self.of(name), key=lambda e: e.turn)]
        for entry in order[:limit]:
            self.list.remove(entry)
        gone = tuple(Suppressed(entry.record.id, Reason.EPOCH_END) for entry in order[:limit])
        return Step(suppressed=gone, more=len(order) > limit)

    def waiting(self) -> tuple[WaitingRecord, ...]:
        order = [e for name in self.audiences for e in sorted(self.of(name), key=lambda e: e.arrival)]
        return tuple(WaitingRecord(e.record.id, e.record.person, e.record.audience, e.node, e.arrival) for e in order)

    def of(self, audience: str) -> list[Entry]:
        return [entry for entry in self.list if entry.record.audience == audience]

    def is_full(self, record: Record, node: tuple[str, ...]) -> bool:
        mine = [e for e in self.of(record.audience) if e.node == node and e.record.person == record.person]
        return self.s.person_cap is not None and len(mine) >= self.s.person_cap

    def next_due(self, clock: float) -> Entry | None:
        for name in self.audiences:
            for entry in sorted(self.of(name), key=lambda e: e.turn)[:1]:
                late = self.s.max_delay_records, self.arrivals[name] - entry.entered
                slow = self.s.max_delay_s, clock - entry.time
                if any(most is not None and waited >= most for most, waited in (late, slow)):
                    return entry
        return None

    def form(self, audience: str, node: tuple[str, ...]) -> list[Group]:
        oldest: dict[str, Entry] = {}
        for entry in sorted(self.of(audience), key=lambda e: e.arrival):
            if entry.node == node:
                oldest.setdefault(entry.record.person, entry)
        n = self.s.k + 1 + self.s.margin
        seasoned = [e for e in oldest.values() if e.record.seasoned]
        if len(seasoned) < n:
            return []
        others = [e for e in oldest.values() if not e.record.seasoned][:n]
        taken = sorted(seasoned[:n] + others, key=lambda e: e.arrival)
        for entry in taken:
            self.list.remove(entry)
        self.number += 1
        raised = any(entry.raised for entry in taken)
        members = tuple(self.member(entry.record, raised) for entry in taken)
        bucket = math.floor(self.clock / self.s.time_bucket_s) * self.s.time_bucket_s
        return [Group(self.number, audience, node, raised, bucket, members)]

    def member(self, record: Record, raised: bool) -> Member:
        shown: tuple[Rung, int | None] = (Rung.NODE, None) if raised else (Rung.CATEGORY, None)
        for i, unit in reversed(list(enumerate(() if raised else record.units))):
            issuers = {p for audience, u, p in self.issues if (audience, u) == (record.audience, unit)}
            if len(issuers) >= self.s.min_text_users + self.s.margin:
                shown = (Rung.UNIT if i else Rung.TEXT), i
        return Member(record.id, record.person, record.seasoned, *shown)
