"""Slots of an utterance: place, venue, time, date, number, device, contact, item, and what was masked.

Values are kinds and buckets, never the words: "wake me at six tomorrow" fills time=clock, date=tomorrow; a place is
the kind of place it is; a person is `name` or the kind of relation (DESIGN 8.8, 8.9).
"""

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache

from proxid.classify import places, times
from proxid.classify.identifiers.spans import Span
from proxid.classify.identifiers.tables import buckets
from proxid.classify.lexicon import mapping
from proxid.classify.types import Slot

_HERE = frozenset("here nearby nearest closest local near around outside".split())


def slots(text: str, words: Sequence[str], masked: Iterable[Span]) -> tuple[Slot, ...]:
    """Slots of a cleaned, lower-case text whose identifiers `masked` are already blanked out of `words`."""
    found = [*_places(words), *_times(text, words)]
    named = _named()
    for word in words:
        if word in named:
            found += named[word]
    for span in masked:
        kind = "contact" if span.kind == "NAME" else span.kind.lower()
        found.append(slot(kind, "name" if kind == "contact" else "given"))
    return tuple(dict.fromkeys(found)) if len(found) > 1 else tuple(found)


@cache
def _named() -> dict[str, tuple[Slot, ...]]:
    """The slots that a word fills by itself."""
    tables = (
        ("device", mapping("devices")),
        ("venue", mapping("venues")),
        *((kind, buckets("slots", kind)) for kind in ("contact", "item")),
    )
    words = {word for _, table in tables for word in table}
    return {word: tuple(slot(kind, table[word]) for kind, table in tables if table.get(word)) for word in words}


@lru_cache(maxsize=1024)
def slot(kind: str, value: str) -> Slot:
    """One slot; the same object each time, since there are few kinds and buckets."""
    return Slot(kind, value)


def _places(words: Sequence[str]) -> list[Slot]:
    """Kinds of the places that are named; a small place whose name is an ordinary word needs a preposition."""
    known = places.load()
    found = []
    for first, last, place in places.within(words, known):
        before = words[first - 1] if first else ""
        if place.grade >= 2 or last > first or before in ("in", "near", "to", "from", "at", "around", "for"):
            found.append(slot("place", place.kind))
    if not found and _here(words):
        found.append(slot("place", "here"))
    return found


def _here(words: Sequence[str]) -> bool:
    return not _HERE.isdisjoint(words)


def _times(text: str, words: Sequence[str]) -> list[Slot]:
    found = []
    for kind, value in (
        ("time", times.part_of_day(text, words)),
        ("date", times.day(words)),
        ("number", times.number(words)),
        ("duration", times.span(text)),
    ):
        if value:
            found.append(slot(kind, value))
    return found
