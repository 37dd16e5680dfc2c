"""Runs of digits, written or spoken, that no keyword announces: phone, card and social security numbers and codes.

A run is an identifier when it is long and is not a quantity: "six one seven five five five oh one two three" is,
"two hundred thousand" and "1,250,000 dollars" are not.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from proxid.classify.identifiers.kinds import kinds, sequence
from proxid.classify.identifiers.numbers import DIGITS, REPEATS, TEENS
from proxid.classify.identifiers.searches import rule
from proxid.classify.identifiers.spans import Span
from proxid.classify.identifiers.tables import words
from proxid.classify.identifiers.utterance import Utterance
from proxid.classify.lexicon import lexicon

_RUN = sequence(
    "<plus>? <bracket>? <number> (?: (?: <dash dot comma> | <bracket>{1,2} <dash>? | (?<= <letter-o>) | ) <number letter-o> )*"
)
_CARDINAL = sequence(
    "(?: (?: <tens> <dash>? <digit> | <digit teen tens figures> ) <scale>+ )* (?: <tens> <dash>? <digit> | <digit teen tens figures> )?"
)
_GROUPED = sequence("<figures> (?: <comma> <figures> )+ (?: <dot> <figures> )? | <figures> <dot> <figures>")
_NUMBER, _SINGLE, _FIGURES = kinds("number"), kinds("digit letter-o"), kinds("figures")
_BEFORE_CODE, _LETTERS, _LONE = (
    kinds("any-letter digit teen tens scale figures"),
    kinds("letters"),
    kinds("letter letter-o"),
)
_SIZES = {kinds("letter-o"): 1, kinds("teen"): 2, kinds("tens"): 2, kinds("scale"): 2}
_CALCULATION, _BESIDE = words("digit_runs", "calculation"), words("digit_runs", "beside")
_PHONES, _SOCIAL = words("digit_runs", "phones"), words("digit_runs", "social")
_CONSTANTS = [digits[n:] for digits in words("digit_runs", "constants") for n in (0, 1)]
_COUNTED, _LETTERED = [*words("digit_runs", "counted")], words("digit_runs", "lettered")
_COUNTING = re.compile(r"\bcount(?:s|ed|ing)?\b")
_PART = re.compile(r"[a-z]+|\d+")
LONG = 7
"""A run of that many digits identifies someone: the shortest phone number."""


@dataclass(frozen=True, slots=True)
class Run:
    """Tokens `first`..`last` say `digits` digits; `singles` is the longest stretch said digit by digit."""

    first: int
    last: int
    codes: str
    digits: int
    singles: int

    @property
    def cardinal(self) -> bool:
        """Whether the run is one well-formed number such as "two hundred thousand forty five"."""
        return _CARDINAL.fullmatch(self.codes) is not None


def runs(u: Utterance) -> Iterator[Run]:
    """Maximal runs of digits, left to right."""
    for match in _RUN.finditer(u.codes):
        yield measure(u, match.start(), match.end() - 1)


def measure(u: Utterance, first: int, last: int) -> Run:
    """Count the digits said by tokens `first`..`last`."""
    digits = singles = streak = repeat = 0
    for i in range(first, last + 1):
        code = u.codes[i]
        if u.words[i] in REPEATS:
            repeat = REPEATS[u.words[i]] - 1
            continue
        size = _size(u, i, code)
        if code in _SINGLE or (code == _FIGURES and size == 1):
            streak += 1 + repeat
        elif code in _NUMBER:
            streak = 0
        singles = max(singles, streak)
        digits += size + repeat if size else 0
        repeat = 0 if size else repeat
    return Run(first, last, u.codes[first : last + 1], digits, singles)


def _size(u: Utterance, index: int, code: str) -> int:
    """How many digits one token adds: "forty five" is two, "eight hundred" three."""
    if code == _FIGURES:
        return len(u.words[index])
    if code == kinds("digit"):
        return 0 if index and u.codes[index - 1] == kinds("tens") else 1
    return _SIZES.get(code, 0)


@rule(kinds="number")
def long_runs(u: Utterance) -> Iterator[Span]:
    """Runs that are identifiers by their length alone, or by the way they are said."""
    for run in runs(u):
        kind = _kind(u, run)
        first = _letters_before(u, run.first) if run.digits >= 4 and run.singles + len(run.codes) > 4 else run.first
        if kind or first < run.first:
            yield Span(*u.span(first, _letters_after(u, run.last)), kind or "ID", "digits")


def _letters_before(u: Utterance, first: int) -> int:
    """First token of a spelled code that ends in a run of digits: at least two letters, or one glued to it."""
    i = first
    while i > 0 and u.codes[i - 1] in _BEFORE_CODE:
        i -= 1
    while i < first and u.words[i] in ("a", "i") and u.codes[i + 1] not in _LONE:
        i += 1
    letters = sum(u.codes[j] in _LETTERS for j in range(i, first))
    return i if letters >= 2 or (letters and u.glued(first)) else first


def _letters_after(u: Utterance, last: int) -> int:
    """Letters glued to a run, or spelled right after it, belong to the same code."""
    i = last
    while i + 1 < len(u.words) and (
        u.codes[i + 1] == kinds("glued")
        or (u.codes[i + 1] in _LONE and u.words[i + 1] not in ("a", "i") and not begins_word(u, i + 1))
    ):
        i += 1
    return i


def begins_word(u: Utterance, index: int) -> bool:
    """Whether a letter is the first part of a word: "e-mail", "x ray"."""
    return u.word(index + 1 + (u.word(index + 1) == "-")) in _LETTERED


def everybodys(said: str, text: str) -> bool:
    """Whether digits are those of pi and the like, or of counting in a text that speaks of it."""
    known = _CONSTANTS + _COUNTED if _COUNTING.search(text) else _CONSTANTS
    digits = "".join(str(DIGITS.get(part, TEENS.get(part, part))) for part in _PART.findall(said))
    return any(constant.startswith(digits) for constant in known)


def _kind(u: Utterance, run: Run) -> str | None:
    if run.digits >= 5 and everybodys(" ".join(u.words[run.first : run.last + 1]), u.clean.folded):
        return None
    if run.singles >= 5 and run.digits < LONG:
        return "ZIP" if run.digits == 5 else "NUMBER"
    if _FIGURES in run.codes and _quantity(u, run):
        return None
    if run.digits >= LONG and not (run.cardinal and run.codes != _FIGURES):
        return _by_length(u, run)
    if run.codes == _FIGURES and run.digits >= 6 and not u.words[run.first].endswith("000"):
        return "NUMBER"
    return None


def _quantity(u: Utterance, run: Run) -> bool:
    """1,250,000 or 3.14159, or a number with a unit or an operator beside it."""
    if _GROUPED.fullmatch(run.codes) and all(u.glued(i) for i in range(run.first + 1, run.last + 1)):
        return run.codes[1] == kinds("dot") or all(len(u.words[i]) == 3 for i in range(run.first + 2, run.last + 1, 2))
    if run.codes not in (_FIGURES, 2 * _FIGURES) or run.digits > 12:
        return False
    if run.codes == _FIGURES and not _CALCULATION.isdisjoint(u.words):
        return True
    before, after = u.word(run.first - 1), u.word(run.last + 1)
    return before in _BESIDE or before in ("$", "£", "€") or after in _BESIDE or after in lexicon("units")


def _by_length(u: Utterance, run: Run) -> str:
    if run.codes[0] == kinds("plus") or run.digits in (7, 10, 11):
        return "PHONE"
    groups = [len(u.words[i]) for i in range(run.first, run.last + 1) if u.codes[i] == _FIGURES]
    if run.digits == 9 and (groups in ([3, 2, 4], [9]) or not groups):
        called = groups != [3, 2, 4] and not _PHONES.isdisjoint(u.words) and _SOCIAL.isdisjoint(u.words)
        return "PHONE" if called or (kinds("repeat") in run.codes and _SOCIAL.isdisjoint(u.words)) else "SSN"
    return "ACCOUNT" if 13 <= run.digits <= 19 else "PHONE" if run.digits == 12 else "NUMBER"
