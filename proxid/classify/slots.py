"""Slots of an utterance: place, venue, time, date, number, device, contact, item, and what was masked.

Values are kinds and buckets, never the words: "wake me at six tomorrow" fills time=clock, date=tomorrow; a place is
the kind of place it is; a person is `name` or the kind of relation (DESIGN 8.8, 8.9).
"""

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from importlib.resources import files

from proxid.classify import places, times
from proxid.classify.identifiers.spans import Span
from proxid.classify.types import Slot

RELATIONS = {
    word: kind
    for kind, words in {
        "family": "mom mother mommy mum dad father daddy parents wife husband spouse son daughter kids "
        "children brother sister "
        "family grandma grandpa grandmother grandfather aunt uncle cousin nephew niece",
        "friend": "friend friends girlfriend boyfriend buddy roommate neighbor",
        "work": "boss coworker coworkers colleague colleagues manager team client secretary assistant",
        "service": "doctor dentist lawyer plumber landlord teacher vet",
    }.items()
    for word in words.split()
}
ITEMS = {
    word: kind
    for kind, words in {
        "food": "milk eggs bread butter cheese chicken rice pasta pizza sushi burger burgers apples "
        "bananas fruit vegetables "
        "coffee tea beer wine groceries food dinner lunch breakfast tacos salad sugar flour meat fish snacks",
        "music": "jazz rock pop country classical rap blues reggae metal song songs music album playlist artist band",
        "media": "podcast podcasts audiobook book news movie show video game",
        "message": "email emails tweet post message text facebook twitter instagram",
        "colour": "red blue green yellow orange purple pink white black",
        "money": "dollars dollar euros pounds bucks payment bill rent",
        "cuisine": "chinese italian mexican indian thai japanese french greek vegan vegetarian",
    }.items()
    for word in words.split()
}


_HERE = frozenset("here nearby nearest closest local near around outside".split())


@cache
def mapping(name: str) -> dict[str, str]:
    """A two-column list of the package as a mapping."""
    text = (files("proxid.classify") / "data" / f"{name}.tsv").read_text()
    return dict(line.split("\t")[:2] for line in text.splitlines())


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
    tables = ("device", mapping("devices")), ("venue", mapping("venues")), ("contact", RELATIONS), ("item", ITEMS)
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
