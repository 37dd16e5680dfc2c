"""Time and dates, as of when the utterance was said: in UTC, which is said, or on the clocks of a place that is named.

A device tells its place, not its time zone; so "here" has no time, and neither has a place whose zone is not known.
"""

import datetime
import re

from main_service.responder.base import Context
from main_service.responder.zones import is_place, time_in

_TIME = re.compile(r"\bwhat(?:'s| is) (?:the )?(?:current )?time(?: is it)?\b|\bwhat time is it\b|\bwhat time\??$")
_DAY = re.compile(r"\bwhat day is (?:it|today)\b|\bwhat(?:'s| is) today's day\b")
_DATE = re.compile(r"\bwhat(?:'s| is) (?:today's date|the date|today)\b|\btoday's date\b")
_UNTIL = re.compile(r"\bhow many days (?:until|till|to|before) (christmas|new year|halloween)\b")
_FEASTS = {"christmas": (12, 25), "new year": (1, 1), "halloween": (10, 31)}
_FILLERS = re.compile(
    r"\b(?:right now|now|please|today|currently|exactly|again|at the moment|thank you|thanks|right this minute|"
    r"tell me|can you|could you|hey|ok|okay|so)\b|[?!.,;]"
)
_ELSEWHERE = re.compile(
    r"^(?:over |out |up |down |back )?(?:in|at|on|for|near|around|by|from)\b ?(.*)|^(?:over )?(here|there)$"
)

_QUESTIONS = (
    (_TIME, "{0:%H:%M}", "what time it is"),
    (_DAY, "{0:%A}", "what day it is"),
    (_DATE, "{0:%A}, {0.day} {0:%B %Y}", "the date"),
)
"""A question, how its answer is written, and what it asks for."""
_ASKED = ("what", "today's date", "how many days")
"""No question is without one of them."""


def answer(text: str, context: Context) -> str | None:
    """The time, day, date or number of days asked for, or None."""
    if not any(words in text for words in _ASKED):
        return None
    now = datetime.datetime.fromtimestamp(context.time_ms / 1000, datetime.UTC)
    for pattern, form, what in _QUESTIONS:
        if found := pattern.search(text):
            return _told(_place(text[: found.start()], text[found.end() :]), now, form, what)
    until = _UNTIL.search(text)
    if until is not None:
        month, day = _FEASTS[until[1]]
        feast = datetime.date(now.year, month, day)
        if feast < now.date():
            feast = feast.replace(year=now.year + 1)
        return f"There are {(feast - now.date()).days} days until {until[1]}."
    return None


def _told(place: str | None, now: datetime.datetime, form: str, what: str) -> str | None:
    """The answer to a question about a place; "" is none named, None something else than a place."""
    if place is None:
        return None
    if not place:
        return f"It is {form.format(now)}{' UTC' if 'H' in form else ''}."
    there = time_in(place, now)
    return f"Sorry, I don't know {what} there." if there is None else f"It is {form.format(there)} in {_titled(place)}."


def _place(before: str, after: str) -> str | None:
    """The place that a question is about, by what stands around it: "" for none, None if it is about something else."""
    left, right = (" ".join(_FILLERS.sub(" ", part).split()) for part in (before, after))
    if right:
        elsewhere = _ELSEWHERE.match(right)
        if elsewhere is not None:
            return elsewhere[1] or elsewhere[2] or right
        return right if is_place(right) else None
    inside = re.search(r"(?:^| )in (.+)$", left)
    if inside is not None:
        return inside[1]
    return left if is_place(left) else ""


def _titled(place: str) -> str:
    """A name with capitals, without the article's."""
    return " ".join(word if word in ("the", "of", "and") else word[:1].upper() + word[1:] for word in place.split())
