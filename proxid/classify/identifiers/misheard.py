"""Digits and letters that speech recognition wrote as other words: "five five won to three", "ess em eye tee aitch".

They count as what was said where enough of their neighbours are digits or letters that are told one by one.
"""

from collections.abc import Iterator

from proxid.classify.identifiers.kinds import kinds
from proxid.classify.identifiers.tables import words

_BETWEEN = words("misheard", "digits_between")
_DIGITS, _LETTERS = words("misheard", "digits") | _BETWEEN, words("misheard", "letters")
_MAYBE = _LETTERS | words("misheard", "words")
_DIGIT, _LETTER, _SPELLED = kinds("digit"), kinds("letter"), kinds("letter letter-o")
_SINGLE = kinds("digit letter-o")
LEAST = 5
"""Digits of a run, misheard ones among them, before a word in it is taken for one."""


def misheard(found: list[str], bag: frozenset[str], codes: list[str]) -> bool:
    """Give misheard digits and letters their kind; whether there were any."""
    changed = False
    if not _DIGITS.isdisjoint(bag) and sum(map(_SINGLE.__contains__, codes)) >= LEAST - 2:
        changed = _digits(found, codes)
    if not _LETTERS.isdisjoint(bag):
        changed |= _letters(found, codes)
    return changed


def _digits(found: list[str], codes: list[str]) -> bool:
    changed = False
    for begin, end in _stretches([code in _SINGLE or word in _DIGITS for word, code in zip(found, codes, strict=True)]):
        first, last = begin, end
        while last > first and found[last] in _BETWEEN:
            last -= 1
        for i in range(first, last):
            if found[i] in _BETWEEN and i - first < 2:
                first = i + 1
        wrong = [i for i in range(first, last + 1) if codes[i] not in _SINGLE]
        if wrong and last + 1 - first >= LEAST and len(wrong) * 2 < last + 1 - first:
            changed = True
            for i in wrong:
                codes[i] = _DIGIT
    return changed


def _letters(found: list[str], codes: list[str]) -> bool:
    changed = False
    for first, last in _stretches(
        [code in _SPELLED or word in _MAYBE for word, code in zip(found, codes, strict=True)]
    ):
        sure = sum(found[i] in _LETTERS for i in range(first, last + 1))
        if sure >= 2 and last - first >= 2:
            changed = True
            for i in range(first, last + 1):
                codes[i] = codes[i] if codes[i] in _SPELLED or found[i] == "double" else _LETTER
    return changed


def _stretches(member: list[bool]) -> Iterator[tuple[int, int]]:
    """First and last index of each run of members."""
    first = None
    for i, inside in enumerate([*member, False]):
        if inside and first is None:
            first = i
        elif not inside and first is not None:
            yield first, i - 1
            first = None
