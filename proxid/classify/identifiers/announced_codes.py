"""Numbers and codes that a keyword announces: "my member id is w two two …", "7ABC123 is my plate".

HIPAA Safe Harbor's numbered identifiers: social security, medical record, health plan, account, certificate and
licence, vehicle, device numbers and any other unique number or code; telephone and fax too when announced.
"""

import re
from collections.abc import Iterator
from functools import cache

from proxid.classify.identifiers.digit_runs import Run, begins_word, measure
from proxid.classify.identifiers.kinds import kinds, sequence
from proxid.classify.identifiers.searches import rule
from proxid.classify.identifiers.spans import Span
from proxid.classify.identifiers.tables import table, words
from proxid.classify.identifiers.utterance import Utterance
from proxid.classify.lexicon import lexicon

_NAMED = re.compile(r"<(\w+)>")
_VALUE = sequence(
    "<plus>? <number any-letter> (?: (?: <dash dot slash underscore bracket colon> | <as-in>+ | ) <number any-letter> )* <as-in>*"
)
_BEFORE_IS, _BEFORE_VALUE = kinds("number any-letter"), kinds("number any-letter dash dot slash as-in")
_ANY_LETTER, _ENDS, _LETTER_BEFORE = (
    kinds("any-letter"),
    kinds("dash dot slash underscore bracket colon"),
    kinds("letter glued"),
)
_AFTER_GLUED, _FIGURES = kinds("colon bracket dash mark"), kinds("figures")
_FILLERS, _COUNTED, _BEFORE_KEYWORD = (
    words("codes", "fillers"),
    words("codes", "counted"),
    words("codes", "before_keyword"),
)
_NUMBERS = frozenset(kinds("number glued"))
_IS = frozenset({"is", "was", "'s", "as", "for", "are", "being"})
_YEAR = sequence(
    "<figures> | <tens> <teen> | <teen> <tens> <digit>? | <tens> <tens> <digit>? | <digit> <scale> (?: <digit> | <tens> <digit> )? | <teen> <teen>"
)
_TWO_TEENS = sequence("<teen> <tens teen>")
LEAST_LETTERS = 4
"""Letters that are a value without any digit."""
_WITH_LETTER = ("PLATE", "LICENSE", "ID", "DEVICE", "PLAN", "MRN", "ACCOUNT")
"""Kinds whose values may begin with a short word: "abc four five six"."""


@cache
def keywords() -> dict[str, str]:
    """The expression of each kind's keywords, from data/rules/keywords.toml."""
    rules = table("keywords")
    lists = {
        name: "|".join(entry.replace("_", " ") for entry in entries.split()) for name, entries in rules["lists"].items()
    }

    def whole(phrase: str) -> str:
        named = _NAMED.sub(lambda found: f"({({'no': rules['no']} | lists)[found[1]]})", phrase)
        return re.sub(r"\((?!\?)", "(?:", named)

    return {kind: "|".join(map(whole, phrases)) for kind, phrases in rules["phrases"].items()}


_KEY = re.compile("|".join(rf"(?P<{kind}>\b(?:{pattern})(?![\w]))" for kind, pattern in keywords().items()))
_NUMBER = re.compile(r"\b(?:numbers?|id|i d|code)(?!\w)")
NEAR = 8
"""A value is looked for in that many tokens after its keyword."""


@rule(kinds="number any-letter")
def announced(u: Utterance) -> Iterator[Span]:
    """Values beside a keyword, after it or before it."""
    if _NUMBERS.isdisjoint(u.kinds) and sum(map(u.codes.count, _ANY_LETTER)) < LEAST_LETTERS:
        return
    for match in _KEY.finditer(u.clean.folded):
        found = u.within(*match.span())
        if found is not None:
            yield from _beside(u, *found, str(match.lastgroup))
    for match in _NUMBER.finditer(u.clean.folded):
        found = u.within(*match.span())
        if found is not None and u.word(found[0] - 1) not in _COUNTED:
            yield from _beside(u, *found, "ID", strict=True)


def _beside(u: Utterance, first: int, last: int, kind: str, *, strict: bool = False) -> Iterator[Span]:
    value = _after(u, last + 1, kind, strict=strict) or _before(u, first, kind)
    if value:
        yield Span(*u.span(*value), kind, "keyword")


def _after(u: Utterance, index: int, kind: str, *, strict: bool) -> tuple[int, int] | None:
    """The value that follows a keyword: at once, after filler words, or near it when it is plainly a code."""
    direct = True
    for i in range(index, min(index + NEAR, len(u.words))):
        if not u.glued(i) or u.codes[i - 1] in _AFTER_GLUED:
            value = _value(u, i, kind, direct=direct, strict=strict)
            if value:
                return value
        if u.words[i] in (";", "?", "!"):
            return None
        direct = direct and u.words[i] in _FILLERS
    return None


def _value(u: Utterance, index: int, kind: str, *, direct: bool, strict: bool) -> tuple[int, int] | None:
    start = index
    if u.codes[index] == kinds("word") and direct and kind in _WITH_LETTER:
        if len(u.words[index]) > 3 or u.words[index] in _FILLERS or u.word(index) in lexicon("stopwords"):
            return None
        index += 1 + (u.word(index + 1) == "-")
    match = _VALUE.match(u.codes, index)
    if not match:
        return None
    last = _trimmed(u, index, match.end() - 1)
    run = measure(u, index, last)
    letters = sum(u.codes[i] in _ANY_LETTER for i in range(index, last + 1))
    if _is_value(u, run, letters, kind, direct=direct, strict=strict):
        return start, last
    return None


def _trimmed(u: Utterance, first: int, last: int) -> int:
    """Leave out an article or pronoun that only looks like the last letter of a code, and trailing marks."""
    while last > first and (
        u.codes[last] in _ENDS
        or (u.words[last] in ("a", "i") and u.codes[last - 1] not in _LETTER_BEFORE and not u.glued(last))
        or (u.codes[last] == kinds("letter") and not u.glued(last) and begins_word(u, last))
    ):
        last -= 1
    return last


def _is_value(u: Utterance, run: Run, letters: int, kind: str, *, direct: bool, strict: bool) -> bool:
    if _measured(u, run):
        return False
    digits = run.digits
    if strict:
        return (
            digits >= 3
            and digits + letters >= 4
            and direct
            and not run.cardinal | bool(_TWO_TEENS.fullmatch(run.codes))
        )
    if kind == "ZIP":
        return digits + letters >= 5
    if kind in ("PHONE", "FAX"):
        return digits >= (2 if direct else 7)
    if direct:
        least = 2 if kind in ("ID", "SSN", "ACCOUNT") else 3
        return (digits >= least or (digits and digits + letters >= 3) or letters >= LEAST_LETTERS) and not (
            (run.codes in (kinds("letter"), 2 * kinds("letter"))) or (digits < 3 and run.cardinal)
        )
    return (digits >= 4 and not (run.cardinal and run.codes != _FIGURES)) or (
        digits >= 2 and letters >= 1 and digits + letters >= 5
    )


def _measured(u: Utterance, run: Run) -> bool:
    """A quantity, a time, a date or a year, not a code."""
    before, after = u.word(run.first - 1), u.word(run.last + 1)
    if (
        after in lexicon("units")
        or before in ("$", "€", "£")
        or before in lexicon("months")
        or after in lexicon("months")
    ):
        return run.digits < 7
    year = run.digits == 4 and bool(_YEAR.fullmatch(run.codes))
    return year and before in ("in", "since", "by", "until", "of", "before", "after", "from", "through", "till")


def _before(u: Utterance, key: int, kind: str) -> tuple[int, int] | None:
    """The value that stands before its keyword: "… is my pin"."""
    i = key - 1
    while i >= 0 and u.words[i] in _BEFORE_KEYWORD:
        i -= 1
    if i < 1 or u.words[i] not in _IS or u.codes[i - 1] not in _BEFORE_IS:
        return None
    last = first = i - 1
    while first > 0 and u.codes[first - 1] in _BEFORE_VALUE:
        first -= 1
    while first < last and u.words[first] in ("a", "i", "-", "/", ".", "dot", "dash"):
        first += 1
    run = measure(u, first, last)
    letters = sum(u.codes[j] in _ANY_LETTER for j in range(first, last + 1))
    fits = run.digits >= 3 and run.digits + letters >= 4 and not _measured(u, run)
    return (first, last) if fits and not (run.cardinal and run.codes != _FIGURES and kind != "ID") else None
