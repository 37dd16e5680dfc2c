"""An utterance as the identifier rules see it: tokens, and one letter a token that says what kind it is (kinds.py).

Spoken and written text share the rules: "five", "5" and "double five" differ in kind, not in the rule that hears them.
"""

from bisect import bisect_left

from proxid.classify.identifiers.hesitations import hesitant, hesitations, without
from proxid.classify.identifiers.kinds import kinds
from proxid.classify.identifiers.misheard import misheard
from proxid.classify.identifiers.numbers import DIGITS, REPEATS, SCALES, TEENS, TENS
from proxid.classify.identifiers.tables import table, words
from proxid.classify.text import Clean, Token, tokenise, words_of

SPELLING, _SUFFIXES = words("marks", "words.spelling"), words("marks", "words.suffixes")
_KINDS = {
    word: kinds(kind)
    for kind, found in {
        "digit": DIGITS, "teen": TEENS, "tens": TENS, "scale": SCALES, "repeat": REPEATS,
        "letter": "abcdefghijklmnpqrstuvwxyz", "letter-o": "o", "spelling": SPELLING,
    }.items()
    for word in found
} | {mark: kinds(kind) for mark, kind in table("marks")["marks"].items()}  # fmt: skip
_PARTS, _BEFORE_PARTS, _FIGURES = kinds("word letter letter-o spelling"), kinds("figures glued"), kinds("figures")
_LETTERS, _GLUED, _AS_IN = kinds("letter letter-o"), kinds("glued"), kinds("as-in")
_WORD, _MARK = kinds("word"), kinds("mark")
_SPELLED_BY = frozenset(tuple(phrase.split("_")) for phrase in words("marks", "words.spelled_by"))
_SPELLED_FIRST, _ARTICLES = frozenset(phrase[0] for phrase in _SPELLED_BY), frozenset({"a", "i"})
_LETTER, _ONE_LETTER, _LONE = kinds("letter"), frozenset(kinds("letter")), frozenset(kinds("letter letter-o"))
ENOUGH = 3
"""Single letters from which an utterance's `kinds` have them: nearly all have an "a" or "i" that is none."""
MAX_GLUED = 12
"""Longest word that still counts as part of a code when digits are glued to it."""


class Utterance:
    """A cleaned text without hesitation, its tokens, their words and their kinds (module docstring).

    `clean` is what is heard, and what the places of tokens and spans count in; `bag` and `kinds` say which words and kinds
    of tokens there are (single letters from ENOUGH on).
    """

    __slots__ = ("_tokens", "bag", "clean", "codes", "kinds", "words")

    def __init__(self, text: Clean) -> None:
        self._tokens: list[Token] | None = None
        self.words, codes = _read(text)
        self.bag = frozenset(self.words)
        self.kinds = frozenset(codes)
        # What is left may hesitate anew: "one let um me see two".
        while hesitant(self.bag, self.kinds, self.words) and (gone := hesitations(self.words, codes)):
            text = without(text, gone)
            self.words, codes = _read(text)
            self.bag, self.kinds = frozenset(self.words), frozenset(codes)
        self.clean = text
        if misheard(self.words, self.bag, codes):
            self.kinds = frozenset(codes)
        if _FIGURES in self.kinds:
            _glue(self.tokens, codes)
            self.kinds = frozenset(codes)
        if not _SPELLED_FIRST.isdisjoint(self.bag) and not _LONE.isdisjoint(self.kinds):
            _spelled(self.words, codes)
            self.kinds = frozenset(codes)
        self.codes = "".join(codes)
        if self.codes.count(_LETTER) < ENOUGH:
            self.kinds -= _ONE_LETTER

    @classmethod
    def of(cls, text: Clean) -> "Utterance":
        """Tokenise and code a cleaned text."""
        return cls(text)

    @property
    def tokens(self) -> list[Token]:
        """The words with their places, made when first asked for: most requests identify nobody."""
        if self._tokens is None:
            self._tokens = tokenise(self.clean.folded)
        return self._tokens

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Characters from token `first` up to and including token `last`."""
        return self.tokens[first].start, self.tokens[last].end

    def glued(self, index: int) -> bool:
        """Whether token `index` follows the one before it without a space."""
        return 0 < index < len(self.tokens) and self.tokens[index - 1].end == self.tokens[index].start

    def at(self, start: int) -> int | None:
        """The token that begins at a character, None where none does."""
        i = bisect_left(self.tokens, start, key=_start)
        return i if i < len(self.tokens) and self.tokens[i].start == start else None

    def after(self, end: int) -> int:
        """The first token that begins at a character or later; the number of tokens where none does."""
        return bisect_left(self.tokens, end, key=_start)

    def within(self, start: int, end: int) -> tuple[int, int] | None:
        """First and last of the tokens that make up these characters, None where one is cut."""
        first, last = self.at(start), self.after(end) - 1
        return (first, last) if first is not None and self.tokens[last].end == end else None

    def word(self, index: int) -> str:
        """The word at `index`, empty outside."""
        return self.words[index] if 0 <= index < len(self.words) else ""


def _read(text: Clean) -> tuple[list[str], list[str]]:
    """Words and kinds of a text's tokens, each by itself."""
    found = words_of(text.folded)
    return found, [_KINDS.get(word) or (_WORD if word.isalpha() else _kind(word)) for word in found]


def _start(token: Token) -> int:
    return token.start


def _kind(word: str) -> str:
    first = word[0]
    return _FIGURES if first.isdigit() else _WORD if first.isalpha() or first == "'" else _MARK


def _glue(tokens: list[Token], codes: list[str]) -> None:
    """Mark letters glued to figures as parts of a code, unless they are an ordinal's or a unit's ending."""
    for i in range(1, len(tokens)):
        if tokens[i].start != tokens[i - 1].end:
            continue
        before, here = codes[i - 1], codes[i]
        last = i + 1 == len(tokens) or tokens[i + 1].start != tokens[i].end
        if here in _PARTS and before in _BEFORE_PARTS and not (last and tokens[i].text in _SUFFIXES):
            codes[i] = _GLUED if len(tokens[i].text) <= MAX_GLUED else here
        elif here == _FIGURES and before in _PARTS and len(tokens[i - 1].text) <= MAX_GLUED:
            codes[i - 1] = _GLUED


def _spelled(words: list[str], codes: list[str]) -> None:
    """Mark "as in boy" and "for boy" after a single letter, where the word begins with that letter."""
    for i in range(len(words) - 2):
        article = words[i] in _ARTICLES and words[i + 1] != "as" and not (i and codes[i - 1] == _AS_IN)
        if codes[i] not in _LETTERS or article:
            continue
        skip = next((n for n in (2, 1) if tuple(words[i + 1 : i + 1 + n]) in _SPELLED_BY), 0)
        if skip and i + 1 + skip < len(words) and words[i + 1 + skip][0] == words[i]:
            codes[i + 1 : i + 2 + skip] = _AS_IN * (skip + 1)
