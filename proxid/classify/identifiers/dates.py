"""Dates about a person (birth, admission, …) and full written dates (HIPAA Safe Harbor)."""

import re
from collections.abc import Iterator

from proxid.classify.identifiers.spans import Span
from proxid.classify.identifiers.utterance import Utterance

_MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december|"
    r"jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.?"
)
_UNIT = r"(?:one|two|three|four|five|six|seven|eight|nine)"
_TEEN = r"(?:ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen)"
_TENS = r"(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)"
_ORDINAL = (
    r"(?:(?:twenty|thirty)[ -])?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)|tenth|eleventh|twelfth|"
    r"thirteenth|fourteenth|fifteenth|sixteenth|seventeenth|eighteenth|nineteenth|twentieth|thirtieth"
)
_SMALL = rf"(?:{_TENS}(?:[ -]{_UNIT})?|{_TEEN}|{_UNIT})"
_DAY = rf"(?:the )?(?:{_ORDINAL}|\d{{1,2}}(?:st|nd|rd|th)?|{_SMALL})"
_YEAR = (
    rf"(?:(?:19|20)\d\d|'\d\d|nineteen (?:hundred(?: and)?|oh|{_TENS}|{_TEEN})(?:[ -]{_UNIT})?|"
    rf"(?:two thousand|twenty)(?: and)? (?:oh )?{_SMALL}|two thousand|twenty twenty|{_TENS}[ -]{_UNIT}|{_TENS})"
)
_SPOKEN = (
    rf"(?:{_MONTH} {_DAY}(?!\w)(?:,? (?:of |in )?{_YEAR}(?!\w))?|(?:the )?(?:{_ORDINAL}|\d{{1,2}}(?:st|nd|rd|th)?|{_SMALL}) (?:day )?(?:of )?{_MONTH}(?!\w)"
    rf"(?:,? (?:of |in )?{_YEAR}(?!\w))?)"
)
_NUMERIC = r"(?:\d{1,2} ?[/.-] ?\d{1,2} ?[/.-] ?(?:\d{4}|\d{2})|\d{4} ?[/.-] ?\d{1,2} ?[/.-] ?\d{1,2})(?!\d)"
_SLASHED = rf"(?:{_SMALL}|\d+) (?:slash|dash|stroke) (?:oh |zero )?(?:{_SMALL}|\d+) (?:slash|dash|stroke) (?:{_YEAR}|{_SMALL}(?: {_SMALL})?|\d+)"
_LOOSE = rf"(?:oh |zero )?{_SMALL}(?:,? (?:oh |zero )?{_SMALL}) {_YEAR}(?!\w)"
_ANY = re.compile(rf"(?<![\w'])(?:{_SLASHED}|{_NUMERIC}|{_SPOKEN}|{_LOOSE}|{_MONTH} {_YEAR}(?!\w))")
_FULL = re.compile(rf"(?<![\w.])(?:{_NUMERIC})|(?<!\w)(?:{_SLASHED})")
_LONG = re.compile(
    rf"(?<![\w'])(?:{_MONTH} {_DAY},? (?:of |in )?{_YEAR}(?!\w)|(?:the )?{_DAY} (?:day )?(?:of )?{_MONTH},? (?:of |in )?{_YEAR}(?!\w))"
)
_KEY = re.compile(
    r"\b(?:birth ?days?|birth ?dates?|dates? of birth|birth|born|d ?o ?b|d\.o\.b\.?|admitted|admission|discharged?|"
    r"hospitali[sz]ed|diagnosed|deceased|passed away|(?:date of )?death|died|surgery|operated|anniversary|"
    r"(?:got |were |was |am |are |is )?married|immunized|vaccinated|hired|"
    r"(?:date of )?(?:service|injury|accident|hire|discharge|admission))\b"
)
_PERSONAL = re.compile(
    r"\b(?:i|i'm|my|me|mine|we|our|his|her|hers|he|she|their|patient|mom|dad|son|daughter|wife|husband)\b"
)
_WORDS = frozenset(
    "birthday birthdays birthdate birth born dob d.o.b admitted admission discharge discharged hospitalized "
    "hospitalised diagnosed deceased passed death died surgery operated anniversary married b d immunized "
    "vaccinated hired service injury accident hire".split()
)
_PARTED = ("/", ".", "-", "slash", "dash", "stroke")
"""What every date of `_FULL` has."""
REACH = 45
"""A date is about the person when it stands within that many characters of the word that says so."""


_MONTHS = frozenset(
    "january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept "
    "oct nov dec".split()
)


def dates(u: Utterance) -> Iterator[Span]:
    """Dates beside birth, admission and the like; full numeric dates; full dates where somebody's own life is told."""
    text = u.clean.folded
    if not ({"d", "t", "y", "n"} & set(u.codes) or "th" in text or "st" in text):
        return
    if ("n" in u.codes or "s" in u.codes or "k" in u.codes) and any(mark in text for mark in _PARTED):
        for match in _FULL.finditer(text):
            yield Span(match.start(), match.end(), "DATE", "numeric")
    if not _WORDS.isdisjoint(u.words):
        yield from _keyed(text)
    if _PERSONAL.search(text):
        yield from full(u)


def full(u: Utterance) -> Iterator[Span]:
    """Dates with day, month and year, in words."""
    if _MONTHS.isdisjoint(u.words):
        return
    for match in _LONG.finditer(u.clean.folded):
        yield Span(match.start(), match.end(), "DATE", "full")


def _keyed(text: str) -> Iterator[Span]:
    keys = [match.span() for match in _KEY.finditer(text)]
    for match in _ANY.finditer(text) if keys else ():
        near = any(0 <= match.start() - end <= REACH or 0 <= start - match.end() <= REACH // 3 for start, end in keys)
        if near and (_PERSONAL.search(text) or "birth" in text or "dob" in text or "d o b" in text or "admi" in text):
            yield Span(match.start(), match.end(), "DATE", "keyword")
