"""Time and dates, as of when the utterance was said (UTC: a device tells its place, not its time zone)."""

import datetime
import re

from main_service.responder.base import Context

_TIME = re.compile(
    r"\bwhat(?:'s| is)? ?(?:the )?(?:current )?time(?: is it)?(?: now| right now)?\??$|\bwhat time is it\b"
)
_DAY = re.compile(r"\bwhat day is (?:it|today)\b|\bwhat(?:'s| is) today's day\b")
_DATE = re.compile(r"\bwhat(?:'s| is) (?:today's date|the date|today)\b|\btoday's date\b")
_UNTIL = re.compile(r"\bhow many days (?:until|till|to|before) (christmas|new year|halloween)\b")
_FEASTS = {"christmas": (12, 25), "new year": (1, 1), "halloween": (10, 31)}


def answer(text: str, context: Context) -> str | None:
    """The time, day, date or number of days asked for, or None."""
    now = datetime.datetime.fromtimestamp(context.time_ms / 1000, datetime.UTC)
    if _TIME.search(text):
        return f"It is {now:%H:%M} UTC."
    if _DAY.search(text):
        return f"It is {now:%A}."
    if _DATE.search(text):
        return f"It is {now:%A}, {now.day} {now:%B %Y}."
    until = _UNTIL.search(text)
    if until is not None:
        month, day = _FEASTS[until[1]]
        feast = datetime.date(now.year, month, day)
        if feast < now.date():
            feast = feast.replace(year=now.year + 1)
        return f"There are {(feast - now.date()).days} days until {until[1]}."
    return None
