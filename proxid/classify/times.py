"""Times, dates and numbers of an utterance, normalised and bucketed (DESIGN 8.8, 8.9): the part of the day, how far a
day is, the size of a number; never the value itself."""

import re
from collections.abc import Sequence

from proxid.classify.identifiers.numbers import DIGITS, SCALES, TEENS, TENS
from proxid.classify.identifiers.tables import buckets

PARTS, DAYS = buckets("slots", "part"), buckets("slots", "day")
_CLOCK = re.compile(
    r"\b(\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)(?:(?::| )(?:\d\d|oh \w+|fifteen|"
    r"thirty|forty five|forty|twenty|ten|fifty)(?: \w+)?)? ?(a\.? ?m\b|p\.? ?m\b|o'clock)"
)
_COLON = re.compile(r"\b([01]?\d|2[0-3]):[0-5]\d\b")
_MONTHS = frozenset("january february march april may june july august september october november december".split())
_PART_WORDS = frozenset(PARTS)
_NUMBERS = {**SCALES, **TENS, **TEENS, **DIGITS}
_NUMBER_WORDS = frozenset(_NUMBERS)
_DATED = frozenset(DAYS) | _MONTHS | {"week", "month", "year"}
_HALVES = ("am", "pm", "a.m", "p.m", "a m", "p m", "a. m", "p. m", "o'clock")
_UNITS = ("minute", "hour", "second", "day", "week", "month", "year")
"""What a text must hold for `_CLOCK`, for `_SPANS`: looking for it costs a tenth of the pattern."""
_SPANS = re.compile(r"\b(minutes?|hours?|seconds?|days?|weeks?|months?|years?)\b")


def part_of_day(text: str, words: Sequence[str]) -> str | None:
    """morning, afternoon, evening or night; `clock` for a time whose half of the day is not said."""
    if not _PART_WORDS.isdisjoint(words):
        return next(PARTS[word] for word in words if word in PARTS)
    match = _CLOCK.search(text) if any(half in text for half in _HALVES) and " " in text else None
    if match:
        hour = int(match[1]) if match[1].isdigit() else _NUMBERS[match[1]]
        if match[2] == "o'clock":
            return "clock"
        return _part(hour % 12 + 12 * match[2].startswith("p"))
    colon = _COLON.search(text) if ":" in text else None
    return _part(int(colon[1])) if colon and int(colon[1]) > 12 else "clock" if colon else None


def _part(hour: int) -> str:
    return (
        "morning" if 5 <= hour < 12 else "afternoon" if 12 <= hour < 17 else "evening" if 17 <= hour < 22 else "night"
    )


def day(words: Sequence[str]) -> str | None:
    """today, tomorrow, past, weekday, weekend, week, month or year: the granularity of the day that is meant."""
    if _DATED.isdisjoint(words):
        return None
    for i, word in enumerate(words):
        if word in DAYS:
            return DAYS[word]
        if word in ("week", "month", "year") and i and words[i - 1] in ("this", "next", "last", "every", "a", "the"):
            return word if words[i - 1] != "last" else "past"
        if word in _MONTHS and (word != "may" or (i and words[i - 1] in ("in", "on", "of", "next", "this"))):
            return "month"
    return None


def span(text: str) -> str | None:
    """The unit of a length of time ("twenty minutes" is `minutes`)."""
    match = _SPANS.search(text) if any(unit in text for unit in _UNITS) else None
    return match[1].rstrip("s") + "s" if match else None


def number(words: Sequence[str]) -> str | None:
    """Bucket of the first number said: 0, 1, 2-5, 6-10, 11-20, 21-50, 51-100, over 100."""
    if _NUMBER_WORDS.isdisjoint(words) and not any(map(str.isdigit, words)):
        return None
    value = None
    for word in words:
        part = _NUMBERS.get(word)
        if word.isdigit() and len(word) <= 9:
            part = int(word)
        if part is None or word == "oh":
            if value is not None:
                break
            continue
        value = part if value is None else value * part if part >= 100 else value + part
    return None if value is None else bucket(value)


def bucket(value: int) -> str:
    """The bucket of a number."""
    for limit, name in ((0, "0"), (1, "1"), (5, "2-5"), (10, "6-10"), (20, "11-20"), (50, "21-50"), (100, "51-100")):
        if value <= limit:
            return name
    return "over 100"
