"""Runs of digits, written or spoken, that no keyword announces: phone, card and social security numbers and codes.

A run is an identifier when it is long and is not a quantity: "six one seven five five five oh one two three" is,
"two hundred thousand" and "1,250,000 dollars" are not.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from proxid.classify.identifiers.spans import Span
from proxid.classify.identifiers.utterance import Utterance
from proxid.classify.lexicon import lexicon

_RUN = re.compile(r"g?r?[dtyhnm](?:(?:[kpv]|r{1,2}k?|(?<=o)|)[dtyhnmo])*")
_CARDINAL = re.compile(r"(?:(?:yk?d|[dtyn])h+)*(?:yk?d|[dtyn])?")
_CALCULATION = frozenset(
    "root squared cubed divided multiplied multiply divide minus subtract factorial prime binary hexadecimal "
    "decimal rounded % square sum product convert percent".split()
)
_MATH = frozenset("plus minus times divided multiplied over x * + = ^ % squared cubed percent root to".split())
_PHONES = frozenset("call dial ring phone telephone cell mobile text reach sms whatsapp number landline".split())
_SOCIAL = frozenset("social ssn security s".split())
"""Nine digits are a social security number, unless a phone is spoken of: few people say "double" in the former."""
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
        if code == "m":
            repeat = {"double": 1, "triple": 2}.get(u.words[i], 3)
            continue
        size = _size(u, i, code)
        if code in "do" or (code == "n" and size == 1):
            streak += 1 + repeat
        elif code in "tyhn":
            streak = 0
        singles = max(singles, streak)
        digits += size + repeat if size else 0
        repeat = 0 if size else repeat
    return Run(first, last, u.codes[first : last + 1], digits, singles)


def _size(u: Utterance, index: int, code: str) -> int:
    """How many digits one token adds: "forty five" is two, "eight hundred" three."""
    if code == "n":
        return len(u.words[index])
    if code == "d":
        return 0 if index and u.codes[index - 1] == "y" else 1
    return {"o": 1, "t": 2, "y": 2, "h": 2}.get(code, 0)


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
    while i > 0 and u.codes[i - 1] in "lobxdtyhn":
        i -= 1
    while i < first and u.words[i] in ("a", "i") and u.codes[i + 1] not in "lo":
        i += 1
    letters = sum(u.codes[j] in "lox" for j in range(i, first))
    return i if letters >= 2 or (letters and u.glued(first)) else first


def _letters_after(u: Utterance, last: int) -> int:
    """Letters glued to a run, or spelled right after it, belong to the same code."""
    i = last
    while i + 1 < len(u.words) and (
        u.codes[i + 1] == "x" or (u.codes[i + 1] in "lo" and u.words[i + 1] not in ("a", "i"))
    ):
        i += 1
    return i


def _kind(u: Utterance, run: Run) -> str | None:
    if run.singles >= 5 and run.digits < LONG:
        return "ZIP" if run.digits == 5 else "NUMBER"
    if "n" in run.codes and _quantity(u, run):
        return None
    if run.digits >= LONG and not (run.cardinal and run.codes != "n"):
        return _by_length(u, run)
    if run.codes == "n" and run.digits >= 6 and not u.words[run.first].endswith("000"):
        return "NUMBER"
    return None


def _quantity(u: Utterance, run: Run) -> bool:
    """1,250,000 or 3.14159, or a number with a unit or an operator beside it."""
    if re.fullmatch(r"n(?:vn)+(?:pn)?|npn", run.codes) and all(u.glued(i) for i in range(run.first + 1, run.last + 1)):
        return run.codes[1] == "p" or all(len(u.words[i]) == 3 for i in range(run.first + 2, run.last + 1, 2))
    if run.codes not in ("n", "nn") or run.digits > 12:
        return False
    if run.codes == "n" and not _CALCULATION.isdisjoint(u.words):
        return True
    before, after = u.word(run.first - 1), u.word(run.last + 1)
    return before in _MATH or before in ("$", "£", "€") or after in _MATH or after in lexicon("units")


def _by_length(u: Utterance, run: Run) -> str:
    if run.codes[0] == "g" or run.digits in (7, 10, 11):
        return "PHONE"
    groups = [len(u.words[i]) for i in range(run.first, run.last + 1) if u.codes[i] == "n"]
    if run.digits == 9 and (groups in ([3, 2, 4], [9]) or not groups):
        called = groups != [3, 2, 4] and not _PHONES.isdisjoint(u.words) and _SOCIAL.isdisjoint(u.words)
        return "PHONE" if called or ("m" in run.codes and _SOCIAL.isdisjoint(u.words)) else "SSN"
    return "ACCOUNT" if 13 <= run.digits <= 19 else "PHONE" if run.digits == 12 else "NUMBER"
