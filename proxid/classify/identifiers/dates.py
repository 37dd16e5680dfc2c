"""Dates about a person (birth, admission, …) and full written dates (HIPAA Safe Harbor)."""

from collections.abc import Iterator

from proxid.classify.identifiers.numbers import DAY_ORDINAL, NOUGHTS, ORDINALS, TEEN, TEN, UNDER_100, UNIT, either
from proxid.classify.identifiers.searches import Search, rule
from proxid.classify.identifiers.spans import Span
from proxid.classify.identifiers.tables import words
from proxid.classify.identifiers.utterance import Utterance
from proxid.classify.lexicon import lexicon

_MONTHS = lexicon("months")
_MONTH = rf"{either(sorted(_MONTHS, reverse=True))}\.?"
_DAY_WORDS = rf"(?:{DAY_ORDINAL}|\d{{1,2}}(?:st|nd|rd|th)?|{UNDER_100})"
_DAY = rf"(?:the )?{_DAY_WORDS}"
_YEAR = (
    rf"(?:(?:19|20)\d\d|'\d\d|nineteen (?:hundred(?: and)?|oh|{TEN}|{TEEN})(?:[ -]{UNIT})?|"
    rf"(?:two thousand|twenty)(?: and)? (?:oh )?{UNDER_100}|two thousand|twenty twenty|{TEN}[ -]{UNIT}|{TEN})"
)
_OF_YEAR = rf",? (?:of |in )?{_YEAR}(?!\w)"
_SPOKEN = rf"(?:{_MONTH} {_DAY}(?!\w)(?:{_OF_YEAR})?|{_DAY} (?:day )?(?:of )?{_MONTH}(?!\w)(?:{_OF_YEAR})?)"
_NUMERIC = r"(?:\d{1,2} ?[/.-] ?\d{1,2} ?[/.-] ?(?:\d{4}|\d{2})|\d{4} ?[/.-] ?\d{1,2} ?[/.-] ?\d{1,2})(?!\d)"
_SAID, _NOUGHT, _SLASH = rf"(?:{UNDER_100}|\d+)", rf"(?:{NOUGHTS} )?", either(words("dates", "slashes"))
_SLASHED = rf"{_SAID} {_SLASH} {_NOUGHT}{_SAID} {_SLASH} (?:{_YEAR}|{UNDER_100}(?: {UNDER_100})?|\d+)"
_LOOSE = rf"{_NOUGHT}{UNDER_100}(?:,? {_NOUGHT}{UNDER_100}) {_YEAR}(?!\w)"
_ANY = Search(rf"(?<![\w'])(?:{_SLASHED}|{_NUMERIC}|{_SPOKEN}|{_LOOSE}|{_MONTH} {_YEAR}(?!\w))")
_FULL = Search(rf"(?<![\w.])(?:{_NUMERIC})|(?<!\w)(?:{_SLASHED})")
_LONG = Search(rf"(?<![\w'])(?:{_MONTH} {_DAY}{_OF_YEAR}|{_DAY} (?:day )?(?:of )?{_MONTH}{_OF_YEAR})")
_EXPIRY = Search(
    rf"\b(?:expir(?:y|es|ation)|exp|valid (?:thru|through|until|till|to))(?: date)?(?: is| on| in| ?:)? "
    rf"(?P<date>(?:{NOUGHTS} {UNIT}|ten|eleven|twelve|\d{{1,2}})(?: ?(?:/|{_SLASH}|-) ?| )(?:{TEN}(?: {UNIT})?|\d{{2,4}}))(?!\w)"
)
_TURNS = rf"turn(?:s|ed|ing)? {UNDER_100}|(?:will|'ll) be {UNDER_100}"
_KEY = Search(
    rf"\b(?:{_TURNS}|birth ?days?|birth ?dates?|dates? of birth|birth|born|dob|d o b|d\.o\.b\.?|admitted|admission|discharged?|"
    r"hospitali[sz]ed|diagnosed|deceased|passed away|(?:date of )?death|died|surgery|operated|anniversary|"
    r"(?:got |were |was |am |are |is )?married|immunized|vaccinated|hired|"
    r"(?:date of )?(?:service|injury|accident|hire|discharge|admission))\b"
)
_PERSONAL = Search(
    r"\b(?:i|i'm|my|me|mine|we|our|his|her|hers|he|she|he'll|she'll|their|patient|mom|dad|son|daughter|wife|husband|twins|kids|baby)\b"
)
REACH = 45
"""A date is about the person when it stands within that many characters of the word that says so."""


@rule(words=ORDINALS, kinds="said")
def dates(u: Utterance) -> Iterator[Span]:
    """Dates beside birth, admission and the like; full numeric dates; full dates where somebody's own life is told."""
    text = u.clean.folded
    for match in _FULL.matches(text):
        yield Span(match.start(), match.end(), "DATE", "numeric")
    for match in _EXPIRY.matches(text):
        yield Span(*match.span("date"), "ACCOUNT", "expiry")
    yield from _keyed(text)
    if not _MONTHS.isdisjoint(u.bag) and _personal(text):
        yield from full(u)


def full(u: Utterance) -> Iterator[Span]:
    """Dates with day, month and year, in words."""
    if _MONTHS.isdisjoint(u.bag):
        return
    for match in _LONG.matches(u.clean.folded):
        yield Span(match.start(), match.end(), "DATE", "full")


def _personal(text: str) -> bool:
    return any(_PERSONAL.matches(text))


def _keyed(text: str) -> Iterator[Span]:
    keys = [match.span() for match in _KEY.matches(text)]
    if not keys or not (_personal(text) or any(word in text for word in ("birth", "dob", "d o b", "admi"))):
        return
    for match in _ANY.matches(text):
        if any(0 <= match.start() - end <= REACH or 0 <= start - match.end() <= REACH // 3 for start, end in keys):
            yield Span(match.start(), match.end(), "DATE", "keyword")
