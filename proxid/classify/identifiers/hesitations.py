"""Hesitation, taken out before any rule looks: "four one uh five", "five five let me see five", "s m um i t h".

A sound that means nothing goes wherever it stands. Phrases that mean something elsewhere ("no wait", "you know") go only
between digits or letters that are told one by one, so that all of them are heard as one number or name.
"""

from proxid.classify.identifiers.kinds import kinds
from proxid.classify.identifiers.tables import words
from proxid.classify.text import Clean, tokenise

_SOUNDS, _ABOUT = words("hesitations", "sounds"), words("hesitations", "spoken_about")
_PHRASES = frozenset(tuple(phrase.split("_")) for phrase in words("hesitations", "phrases"))
_EXCLAIMED = frozenset(tuple(phrase.split("_")) for phrase in words("hesitations", "exclaimed"))
_BETWEEN = words("hesitations", "between")
_FIRST = frozenset(phrase[0] for phrase in _PHRASES) | _BETWEEN
LONGEST = max(map(len, _PHRASES))
_TOLD = frozenset(kinds("number any-letter as-in spelling"))
_FIGURES = _TOLD - frozenset(kinds("letter"))
_LINKS = frozenset(kinds("dash dot comma"))
_ARTICLES = frozenset({"a", "i"})
LEAST = 4
"""Digits and letters that a chain has before a phrase within it is hesitation ("five, no wait, six" is a correction); of a
number in figures every second one."""


def hesitant(bag: frozenset[str], found: frozenset[str], words: list[str]) -> bool:
    """Whether an utterance has anything that may be hesitation, by its words and by the kinds of its tokens."""
    if not _SOUNDS.isdisjoint(bag):
        return True
    return not _FIRST.isdisjoint(bag) and not (
        _FIGURES.isdisjoint(found) and sum(len(word) == 1 for word in words) < LEAST
    )


def hesitations(found: list[str], codes: list[str]) -> set[int]:
    """Tokens that are hesitation, by their words and kinds; never all of them."""
    gone = {i for i, word in enumerate(found) if word in _SOUNDS and not (i and found[i - 1] in _ABOUT)}
    gone -= _exclaimed(found, codes)
    gone |= {
        i for i in range(1, len(found) - 1)
        if found[i] in _BETWEEN and _told(found, codes, i - 1) and _told(found, codes, i + 1)
    }  # fmt: skip
    i = 0
    while i < len(found):
        i = _chain(found, codes, i, gone)
    return gone if len(gone) < len(found) else set()


def _exclaimed(found: list[str], codes: list[str]) -> set[int]:
    """Tokens of "uh-huh", "uh oh" and the like, where no digits or letters are told beside them."""
    meant = set[int]()
    for i in range(len(found) - 1):
        last = i + 1 + (found[i + 1] == "-" and i + 2 < len(found))
        if (found[i], found[last]) in _EXCLAIMED and _TOLD.isdisjoint(
            [*codes[max(i - 1, 0) : i], *codes[last + 1 : last + 2]]
        ):
            meant |= {i, last}
    return meant


def _chain(found: list[str], codes: list[str], start: int, gone: set[int]) -> int:
    """Adds the phrases of the chain of digits and letters that begins at `start`; the first token after the chain."""
    told, pending, i = 0.0, set[int](), start
    inner = set[int]()
    while i < len(found):
        size = _phrase(found, i)
        if not size and _told(found, codes, i):
            told, i, inner = told + max(1.0, len(found[i]) / 2 * found[i].isdigit()), i + 1, inner | pending
            pending = set()
        elif i in gone or (codes[i] in _LINKS and told):
            i += 1
        elif size and told:
            pending |= set(range(i, i + size))
            i += size
        else:
            break
    if told >= LEAST:
        gone |= inner
    return max(i, start + 1)


def _told(found: list[str], codes: list[str], index: int) -> bool:
    """Whether a token is a digit or letter that is told; "a" or "i" among words is none."""
    beside = codes[max(index - 1, 0) : index] + codes[index + 1 : index + 2]
    return codes[index] in _TOLD and (found[index] not in _ARTICLES or not _TOLD.isdisjoint(beside))


def _phrase(found: list[str], index: int) -> int:
    """Words of the longest phrase that begins at a token, 0 for none."""
    if found[index] not in _FIRST:
        return 0
    return next((n for n in range(LONGEST, 0, -1) if tuple(found[index : index + n]) in _PHRASES), 0)


def without(text: Clean, gone: set[int]) -> Clean:
    """A text without some of its tokens, nor the comma and blanks that held them apart."""
    tokens, kept, end = tokenise(text.folded) if gone else [], [], 0
    for i, token in enumerate(tokens):
        if i in gone:
            kept.append((end, token.start))
            comma = i + 1 < len(tokens) and tokens[i + 1].text == ","
            end = tokens[i + comma].end
            end += text.folded[end : end + 1] == " "
    kept.append((end, len(text.folded)))
    parts = [slice(*part) for part in kept]
    shown, folded = ("".join(whole[part] for part in parts) for whole in (text.shown, text.folded))
    trimmed = len(shown) - len(shown.rstrip())
    return Clean(shown[: len(shown) - trimmed], folded[: len(folded) - trimmed], text.foreign)
