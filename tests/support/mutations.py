"""Every event of a history changed in every field, told out of order, left out or told twice: what an audit says of it.

python -m pytest -m "slow or not slow" tests/integration/auditor/test_mutations.py
"""

import dataclasses
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import pytest
from nacl import bindings

from auditor.findings import Verdict
from proxid.crypto.hpke import OpeningKey
from proxid.errors import ProxidError
from proxid.evidence.events import EventType, decode_header
from proxid.evidence.parts import split
from tests.support.mutation_believed import believed_as, reason_of
from tests.support.mutation_fields import Field, Fields, others
from tests.support.mutation_history import LOGS, Entry, History

FOUND, UNCHECKED, BELIEVED, UNREADABLE, NAMED, MISSED = OUTCOMES = (
    "found", "unchecked", "believed", "unreadable", "named", "missed",
)  # fmt: skip
"""`unreadable`: what would show it was erased or has expired, which the report counts. `named`: `mutation_believed`."""
_ORDER: Final = ("told after the next", "left out", "told twice")


@dataclass(frozen=True, slots=True)
class Mutation:
    """A log in which one event is told otherwise: which, what of it, how, and the whole log then.

    Attributes:
        beside: type of the event behind, where two changed places; of the last one of the same session, where one is
            left out.
    """

    log: str
    kind: str
    field: str
    how: str
    at: int
    entries: Callable[[], list[Entry]]
    beside: str = ""

    @property
    def name(self) -> str:
        """By which it is found again."""
        return f"{self.log}/{self.kind}/{self.field}/{self.how}"


def mutations(history: History, source: random.Random, each: int = 3) -> Iterator[Mutation]:
    """All of them; of those of one name `each`, in events that are drawn."""
    for log in LOGS:
        entries = history.events[log]
        yield from _told_otherwise(log, entries)
        by_field: dict[tuple[EventType, str], list[tuple[int, Field]]] = defaultdict(list)
        looks = Fields(history, log)
        for at, entry in enumerate(entries):
            found = Counter[str]()
            for field in looks.of(entry.event, history.is_readable(log, entry)):
                found[field.path] += 1
                if found[field.path] <= 2:
                    by_field[entry.event.type, field.path].append((at, field))
        for (kind, path), fields in by_field.items():
            yield from _changed(log, entries, kind, path, fields, source, each)
        yield from _typed(history, log, source, each)


def _told_otherwise(log: str, entries: list[Entry]) -> Iterator[Mutation]:
    ends = {session: entry.event.type.value for entry in entries if (session := _session(entry))}
    for at, entry in enumerate(entries):
        kind = entry.event.type.value
        after = entries[at + 1].event.type.value if at + 1 < len(entries) else ""
        changed = {
            "told after the next": lambda at=at: [
                *entries[:at],
                *entries[at + 1 : at + 2],
                entries[at],
                *entries[at + 2 :],
            ],
            "left out": lambda at=at: [*entries[:at], *entries[at + 1 :]],
            "told twice": lambda at=at: [*entries[: at + 1], *entries[at:]],
        }
        for how, tell in changed.items():
            beside = {_ORDER[0]: after, _ORDER[1]: ends.get(_session(entry), "")}.get(how, "")
            if after or how != _ORDER[0]:
                yield Mutation(log, kind, "event", how, at, tell, beside)


def _session(entry: Entry) -> str:
    return str(decode_header(entry.event.fields).get("session", ""))


def _changed(
    log: str, entries: list[Entry], kind: EventType, path: str, fields: list[tuple[int, Field]],
    source: random.Random, each: int,
) -> Iterator[Mutation]:  # fmt: skip
    tried, order = Counter[str](), source.sample(fields, len(fields))
    for at, field in order:
        known = [other.value for _, other in order if other.value != field.value][:2]
        for how, value in others(field, known):
            if tried[how] < each and (made := _made(log, field, value, entries[at])) is not None:
                tried[how] += 1
                yield Mutation(log, kind.value, path, how, at, _with(entries, at, made))


def _made(log: str, field: Field, value: Any, entry: Entry) -> Entry | None:
    """The entry with another value; None if that is no event, or the same one."""
    if value == field.value:
        return None
    try:
        event = field.put(value)
        parts = [split(log, one.type, one.payload) for one in (event, entry.event)]
    except (ProxidError, ValueError, TypeError, AttributeError, OverflowError, IndexError):
        return None
    same = event.fields == entry.event.fields and parts[0] == parts[1]
    return None if same else dataclasses.replace(entry, event=event)


def _with(entries: list[Entry], at: int, entry: Entry) -> Callable[[], list[Entry]]:
    return lambda: [*entries[:at], entry, *entries[at + 1 :]]


def _typed(history: History, log: str, source: random.Random, each: int) -> Iterator[Mutation]:
    """Another type, and another person's evidence."""
    entries = history.events[log]
    kinds = sorted({entry.event.type for entry in entries})
    by_kind: dict[EventType, list[int]] = defaultdict(list)
    for at, entry in enumerate(entries):
        by_kind[entry.event.type].append(at)
    people = sorted(history.evidence)
    for kind, places in by_kind.items():
        for other in kinds:
            for at in source.sample(places, min(1, len(places))):
                if other != kind:
                    event = dataclasses.replace(entries[at].event, type=other)
                    made = dataclasses.replace(entries[at], event=event)
                    yield Mutation(log, kind.value, "type", other.value, at, _with(entries, at, made))
        for at in source.sample(places, min(each, len(places))):
            own = sorted(history.people(log, entries[at]))
            if own and history.is_readable(log, entries[at]):
                whose = source.choice(own)
                other = source.choice([one for one in people if one != whose])
                made = dataclasses.replace(entries[at], person=other, whose=whose)
                yield Mutation(log, kind.value, "tags", "another person's", at, _with(entries, at, made))


@dataclass(frozen=True, slots=True)
class Told:
    """What an audit said of a mutation: the outcome, and the row or the reason."""

    mutation: Mutation
    outcome: str
    row: str = ""


def judge(history: History, mutation: Mutation) -> Told | None:
    """Audit it; None if it cannot be told at all."""
    try:
        entries = mutation.entries()
        leaves = history.leaves(mutation.log, entries)
    except (ProxidError, ValueError, KeyError, TypeError, IndexError):
        return None
    try:
        report = history.audit(mutation.log, entries, leaves)
    except ProxidError:
        return Told(mutation, UNCHECKED)
    if report.verdict is not Verdict.CLEAN:
        return Told(mutation, FOUND if report.verdict is Verdict.VIOLATION else UNCHECKED)
    row = believed_as(mutation)
    if row and (report.believed.get(row) or row == "order"):
        return Told(mutation, BELIEVED, row)
    if history.is_hidden(mutation.log, history.events[mutation.log][mutation.at]):
        return Told(mutation, UNREADABLE)
    reason = reason_of(mutation)
    return Told(mutation, NAMED if reason else MISSED, reason)


@contextmanager
def remembered(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Signatures and seals that were opened once are not opened again: thousands of audits read nearly the same."""
    opened = OpeningKey.open
    known = lru_cache(100_000)(lambda seed, sealed, info: opened(OpeningKey(seed), sealed, info))
    with patch.context() as within:
        within.setattr(bindings, "crypto_sign_open", lru_cache(100_000)(bindings.crypto_sign_open))
        within.setattr(OpeningKey, "open", lambda self, sealed, info: known(self.seed, sealed, info))
        yield


def table(told: Iterable[Told]) -> str:
    """By log and type: how many, and what was said of them."""
    rows: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for one in told:
        rows[one.mutation.log, one.mutation.kind][one.outcome] += 1
        rows["both", "all"][one.outcome] += 1
    lines = ["| log | event | mutations | " + " | ".join(OUTCOMES) + " |", "|---" * (3 + len(OUTCOMES)) + "|"]
    for (log, kind), counts in sorted(rows.items()):
        cells = [log, kind, str(counts.total()), *(str(counts[outcome]) for outcome in OUTCOMES)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def missed(told: Sequence[Told]) -> Counter[str]:
    """Those that end clean and stand in no row, by their names."""
    return Counter(
        f"{one.mutation.name}" + (f" ({one.mutation.beside})" if one.mutation.beside else "")
        for one in told if one.outcome == MISSED
    )  # fmt: skip
