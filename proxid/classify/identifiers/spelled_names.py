"""Names that are told letter by letter: "s m i t h", "S-M-I-T-H", "b as in boy", "double l", "sierra mike india"."""

from collections.abc import Iterator

from proxid.classify.identifiers.kinds import kinds, sequence
from proxid.classify.identifiers.searches import rule
from proxid.classify.identifiers.spans import Span
from proxid.classify.identifiers.tables import words
from proxid.classify.identifiers.utterance import SPELLING, Utterance

_UNIT = "(?: <repeat>? <letter letter-o> | <spelling> | <as-in>+ )"
_SPELLED = sequence(f"{_UNIT} (?: <dot>? <dash comma>? {_UNIT} ){{2,}}")
_LETTER, _LONE, _SPELLABLE = (
    kinds("letter letter-o spelling"),
    kinds("letter letter-o"),
    kinds("letter letter-o repeat as-in dash"),
)
_BEFORE, _BEFORE_LONG = words("names", "before_spelled"), words("names", "before_long_spelled")
_ABBREVIATED = words("names", "abbreviated")
_NAME_WORDS, _KNOWN = words("names", "name_words"), words("names", "letters")
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
NEAR = 5
"""Tokens before the letters in which a word says that they are a name."""
LONG = 5
"""Letters that are a name whatever stands before them: few abbreviations have as many."""


@rule(kinds="letter letter-o spelling as-in repeat")
def spelled(u: Utterance) -> Iterator[Span]:
    """Letters and words of the spelling alphabet, three at least, that are no abbreviation and no alphabet."""
    for match in _SPELLED.finditer(u.codes):
        first, last = _trimmed(u, match.start(), match.end() - 1)
        letters = "".join(u.words[i][0] for i in range(first, last + 1) if u.codes[i] in _LETTER)
        if len(letters) >= (2 if kinds("as-in") in match[0] else 3) and _name(u, first, last, letters):
            yield Span(*u.span(first, last), "NAME", "spelled")


def _trimmed(u: Utterance, first: int, last: int) -> tuple[int, int]:
    """Without an article or "i" before a word of the spelling alphabet, or at the end: "is it a golf hotel", "mike and i"."""
    while (
        first < last
        and u.words[first] in ("a", "i")
        and (u.codes[first + 1] not in _SPELLABLE or _dotted(u, first + 1, last))
    ):
        first += 1
    while last > first and u.words[last] == "i" and u.codes[last - 1] not in _LONE:
        last -= 1
    return first, last


def _radio(u: Utterance, first: int, last: int) -> bool:
    return sum(u.words[i] in SPELLING for i in range(first, last + 1)) > 2


def _dotted(u: Utterance, index: int, last: int) -> bool:
    """Whether letters are written with dots: then what has none before them is an article ("a u. s. d.")."""
    return index < last and u.codes[index + 1] == kinds("dot")


def _name(u: Utterance, first: int, last: int, letters: str) -> bool:
    codes = u.codes[first : last + 1]
    if letters in _ALPHABET or len(set(letters)) == 1 or letters in _KNOWN:
        return False
    if kinds("as-in") in codes or kinds("repeat") in codes or _radio(u, first, last):
        return True
    if not _ABBREVIATED.isdisjoint(u.bag):
        return False
    before = frozenset(u.words[max(first - NEAR, 0) : first])
    near = not _BEFORE.isdisjoint(before) or not _NAME_WORDS.isdisjoint(u.bag)
    return near or len(letters) >= LONG or (len(letters) > 3 and not _BEFORE_LONG.isdisjoint(before))
