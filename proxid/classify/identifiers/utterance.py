"""An utterance as the identifier rules see it: tokens, and one letter a token that says what kind it is.

Rules about spoken numbers, addresses and the like are patterns over these letters, so that each is one pass over a
short string, whatever the words are:

    d digit word   t ten..nineteen   y twenty..ninety   h hundred, thousand, …   n digits   m double, triple
    l letter       o the letter o    b spelling word (alpha, bravo)    x letters glued to digits (b4x)
    q "as in boy" after a letter     p dot    a at    u underscore    k dash    s slash    c colon    g plus
    r bracket, #   v comma           z other mark                      w word
"""

from proxid.classify.text import Clean, Token, tokenise, words_of

DIGITS = {
    "zero": 0, "oh": 0, "nought": 0, "naught": 0, "one": 1, "two": 2, "three": 3, "four": 4,
    "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "niner": 9,
}  # fmt: skip
TEENS = {
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19,
}  # fmt: skip
TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fourty": 40, "fifty": 50, "sixty": 60, "seventy": 70,
    "eighty": 80, "ninety": 90,
}  # fmt: skip
SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
SPELLING = frozenset(
    ["alpha", "alfa", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliet", "juliett",
     "kilo", "lima", "mike", "november", "oscar", "papa", "quebec", "romeo", "sierra", "tango", "uniform", "victor",
     "whiskey", "xray", "yankee", "zulu"]
)  # fmt: skip
_MARKS = {
    ".": "p", "dot": "p", "period": "p", "@": "a", "at": "a", "_": "u", "underscore": "u", "-": "k", "dash": "k",
    "hyphen": "k", "/": "s", "slash": "s", ":": "c", "colon": "c", "+": "g", "plus": "g", "(": "r", ")": "r",
    "[": "r", "]": "r", "#": "r", ",": "v",
}  # fmt: skip
_WORDS = (
    dict.fromkeys(DIGITS, "d") | dict.fromkeys(TEENS, "t") | dict.fromkeys(TENS, "y") | dict.fromkeys(SCALES, "h")
    | {"double": "m", "triple": "m", "quadruple": "m"} | dict.fromkeys("abcdefghijklmnpqrstuvwxyz", "l")
    | dict.fromkeys(SPELLING, "b") | {"o": "o"} | _MARKS
)  # fmt: skip
_SUFFIXES = frozenset(
    ["st", "nd", "rd", "th", "am", "pm", "a", "p", "k", "m", "g", "d", "s", "gb", "mb", "tb", "kb", "km", "cm", "mm",
     "kg", "lb", "lbs", "mph", "hz", "ghz", "mhz", "ft", "in", "px", "x", "c", "f", "oz", "ml", "l", "min", "hr"]
)  # fmt: skip
NUMBER_CODES = frozenset("dtyhnmx")
MAX_GLUED = 12
"""Longest word that still counts as part of a code when digits are glued to it."""


class Utterance:
    """A cleaned text, its tokens, their words and their letters (module docstring)."""

    __slots__ = ("_tokens", "clean", "codes", "words")

    def __init__(self, text: Clean) -> None:
        self.clean = text
        self.words = words_of(text.folded)
        self._tokens: list[Token] | None = None
        codes = [_WORDS.get(word) or _code(word) for word in self.words]
        if "n" in codes:
            _glue(self.tokens, codes)
        if "as in " in text.folded or " for " in text.folded:
            _spelled(self.words, codes)
        self.codes = "".join(codes)

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

    def word(self, index: int) -> str:
        """The word at `index`, empty outside."""
        return self.words[index] if 0 <= index < len(self.words) else ""


def _code(word: str) -> str:
    first = word[0]
    return "n" if first.isdigit() else "w" if first.isalpha() or first == "'" else "z"


def _glue(tokens: list[Token], codes: list[str]) -> None:
    """Mark letters glued to digits as parts of a code, unless they are an ordinal's or a unit's ending."""
    for i in range(1, len(tokens)):
        if tokens[i].start != tokens[i - 1].end:
            continue
        before, here = codes[i - 1], codes[i]
        last = i + 1 == len(tokens) or tokens[i + 1].start != tokens[i].end
        if here in "wlob" and before in "nx" and not (last and tokens[i].text in _SUFFIXES):
            codes[i] = "x" if len(tokens[i].text) <= MAX_GLUED else here
        elif here == "n" and before in "wlob" and len(tokens[i - 1].text) <= MAX_GLUED:
            codes[i - 1] = "x"


def _spelled(words: list[str], codes: list[str]) -> None:
    """Mark "as in boy" and "for boy" after a single letter, where the word begins with that letter."""
    for i in range(len(words) - 2):
        if codes[i] not in "lo":
            continue
        skip = 2 if words[i + 1] == "as" and words[i + 2] == "in" else 1 if words[i + 1] == "for" else 0
        if skip and i + 1 + skip < len(words) and words[i + 1 + skip][0] == words[i]:
            codes[i + 1 : i + 2 + skip] = "q" * (skip + 1)
